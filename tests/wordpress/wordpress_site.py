"""A real WordPress on loopback: MariaDB on a private socket, PHP's own web server, and an administrator."""

import contextlib
import getpass
import json
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import httpx

from ports import find_free_port
from runtime import PATIENCE_S, ROOT, until
from wordpress.programs import Programs

PLUGIN: Final = ROOT / "src/wordpress/sluice-preload.php"
PLUGIN_FILES: Final = (PLUGIN, PLUGIN.with_name("sluice-preload-address.php"))
PHP: Final = Path(__file__).parent / "php"
# Nothing needs to outlive the machine.
DATABASE_OPTIONS: Final = (
    *("--no-defaults", "--innodb-log-file-size=16M", "--innodb-buffer-pool-size=64M", "--innodb-doublewrite=0"),
    *("--innodb-flush-log-at-trx-commit=0", "--innodb-flush-method=nosync", "--skip-networking", "--skip-grant-tables"),
)
LOGGED: Final = re.compile(r"PHP (?:Notice|Warning|Deprecated|Fatal error|Parse error|Recoverable fatal error)")


class WordPress:
    """One site below a folder. `url` is the address of its visitors, `origin` where it listens."""

    def __init__(self, programs: Programs, folder: Path) -> None:
        self.programs = programs
        self._folder = folder
        self._processes: list[subprocess.Popen[bytes]] = []
        self.site = folder / "site"
        self.log = folder / "php.log"
        self.php_settings = folder / "php.ini"
        self.port = find_free_port()
        self.origin = self.url = f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        shutil.copytree(self.programs.core, self.site, ignore_dangling_symlinks=True)
        (self.site / "wp-config.php").unlink(missing_ok=True)
        self.programs.write_php_settings(self.php_settings, self.log)
        self._start_database()
        self.configure()
        self.install()
        self._start([*self._php_command, "-S", f"127.0.0.1:{self.port}", "-t", str(self.site), str(PHP / "router.php")])
        until(self._is_answering)

    def install(self) -> None:
        """Make the tables of the prefix that is configured, and an administrator."""
        self._run_php("", mode="install")

    def stop(self) -> None:
        """End the processes that this site started, by their ids; PHP's server leads a group with its workers."""
        for process in self._processes:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
            process.wait(PATIENCE_S)

    def configure(
        self,
        *,
        url: str = "",
        prefix: str = "wp_",
        constants: Mapping[str, str | int | None] | None = None,
        must_use: Iterable[Path] = (),
    ) -> None:
        """Write wp-config.php as a stock one has it, knowing nothing of a proxy, and the must-use plugins.

        A constant that is None is left out.
        """
        self.url = url or self.origin
        values: dict[str, str | int | None] = {
            "DB_NAME": "wordpress",
            "DB_USER": "root",
            "DB_PASSWORD": "",
            "DB_HOST": f"localhost:{self._socket}",
            "DB_CHARSET": "utf8mb4",
            "DB_COLLATE": "",
            "WP_HOME": self.url,
            "WP_SITEURL": self.url,
            "WP_DEBUG": True,
            "WP_DEBUG_DISPLAY": False,
            "WP_DEBUG_LOG": str(self.log),
            "AUTOMATIC_UPDATER_DISABLED": True,
            "WP_HTTP_BLOCK_EXTERNAL": True,
            "WP_ACCESSIBLE_HOSTS": "127.0.0.1,localhost,*.localhost",
            "AUTH_KEY": "a key of the tests",
            "NONCE_SALT": "a salt of the tests",
            **(constants or {}),
        }
        lines = [
            f"define( {json.dumps(name)}, {json.dumps(value)} );" for name, value in values.items() if value is not None
        ]
        lines += [f"$table_prefix = '{prefix}';", "defined( 'ABSPATH' ) || define( 'ABSPATH', __DIR__ . '/' );"]
        lines += ["require_once ABSPATH . 'wp-settings.php';"]
        part = self.site / "wp-config.php.part"
        part.write_text("<?php\n" + "\n".join(lines) + "\n")
        part.rename(self.site / "wp-config.php")
        folder = self.site / "wp-content/mu-plugins"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for file in must_use:
            shutil.copy(file, folder)

    def copy_plugin(self) -> None:
        folder = self.site / "wp-content/plugins/sluice-preload"
        folder.mkdir(exist_ok=True)
        for file in PLUGIN_FILES:
            shutil.copy(file, folder)

    def activate(self) -> None:
        """Install the plugin as a site owner would, and run its activation hook."""
        self.copy_plugin()
        self.run(
            "require_once ABSPATH . 'wp-admin/includes/plugin.php';"
            "$done = activate_plugin( 'sluice-preload/sluice-preload.php' );"
            "if ( is_wp_error( $done ) ) { echo $done->get_error_message(); exit( 1 ); }"
        )

    def deactivate(self) -> None:
        self.run(
            "require_once ABSPATH . 'wp-admin/includes/plugin.php';"
            "deactivate_plugins( 'sluice-preload/sluice-preload.php' );"
        )

    def run(self, code: str, path: str = "/") -> str:
        """Run PHP inside WordPress as the administrator, in the web server, and return what it prints."""
        return self._ask_server("run", code, path)

    def run_on_command_line(self, code: str) -> str:
        return self._run_php(code, mode="run")

    def ask(self, code: str) -> Any:
        """Return the value of a PHP expression."""
        return json.loads(self.run(f"echo wp_json_encode( {code} );"))

    def query(self, sql: str) -> list[dict[str, Any]]:
        """Return rows of the database, read past WordPress: loading it may start its cron."""
        rows: list[dict[str, Any]] = json.loads(self._ask_server("query", sql))
        return rows

    def forget_posts(self) -> None:
        """Leave the posts of a new site, so that a module's posts stand on its first page."""
        self.run(
            "foreach ( get_posts( array( 'numberposts' => -1, 'post_status' => 'any', 'exclude' => array( 1 ), 'fields' => 'ids' ) ) as $id )"
            "{ wp_delete_post( $id, true ); }"
        )

    def find_complaints(self) -> list[str]:
        """Return what PHP complained about in the plugin so far; an old WordPress on a new PHP has complaints of its own."""
        lines = self.log.read_text(errors="replace").splitlines() if self.log.exists() else []
        return [line for line in lines if LOGGED.search(line) and PLUGIN.stem in line]

    def _ask_server(self, mode: str, text: str, path: str = "/") -> str:
        headers = {"Host": self.url.partition("://")[2]}
        query = {"socket": str(self._socket), "path": path}
        url = f"{self.origin}/tests-{mode}"
        reply = httpx.post(url, content=text, params=query, headers=headers, timeout=PATIENCE_S)
        if reply.status_code != httpx.codes.OK:
            raise RuntimeError(f"PHP failed with {reply.status_code}: {reply.text}\n{self._read_log()}")
        return reply.text

    def _read_log(self) -> str:
        return self.log.read_text(errors="replace")[-1000:] if self.log.exists() else ""

    def _run_php(self, code: str, *, mode: str) -> str:
        host = self.url.partition("://")[2]
        command = [*self._php_command, str(PHP / "run.php"), str(self.site), host, mode]
        done = subprocess.run(
            command, input=code, env=self.programs.environment, capture_output=True, text=True, check=False,
            timeout=PATIENCE_S,
        )  # fmt: skip
        if done.returncode:
            raise RuntimeError(f"PHP failed with {done.returncode}: {done.stdout}\n{done.stderr}\n{self._read_log()}")
        return done.stdout

    @property
    def _php_command(self) -> list[str]:
        return [str(self.programs.php), "-n", "-c", str(self.php_settings)]

    @property
    def _socket(self) -> Path:
        return self._folder / "db.sock"

    def _start_database(self) -> None:
        data = self._folder / "db"
        data.mkdir()
        command = [str(self.programs.mariadb), *DATABASE_OPTIONS]
        command += [f"--basedir={self.programs.shared.parents[1]}", f"--datadir={data}", f"--user={getpass.getuser()}"]
        names = ("mysql_system_tables.sql", "mysql_system_tables_data.sql")
        tables = "\n".join((self.programs.shared / name).read_text() for name in names)
        script = f"CREATE DATABASE mysql;\nUSE mysql;\n{tables}\nCREATE DATABASE wordpress CHARACTER SET utf8mb4;\n"
        made = subprocess.run(
            [*command, "--bootstrap"], input=script, env=self.programs.environment, capture_output=True, text=True,
            check=False, timeout=PATIENCE_S,
        )  # fmt: skip
        if made.returncode:
            raise RuntimeError(f"the database could not be made: {made.stderr[-1000:]}")
        self._start([*command, f"--socket={self._socket}"])
        until(self._socket.exists)

    def _start(self, command: list[str]) -> None:
        # WordPress asks itself: one worker alone would wait for itself.
        environment = self.programs.environment | {"PHP_CLI_SERVER_WORKERS": "6"}
        with (self._folder / "processes.log").open("ab") as log:
            process = subprocess.Popen(
                command, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
            )
        self._processes.append(process)

    def _is_answering(self) -> bool:
        with contextlib.suppress(httpx.TransportError):
            return httpx.get(f"{self.origin}/", timeout=PATIENCE_S).status_code == 200
        return False
