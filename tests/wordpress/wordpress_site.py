"""A real WordPress on loopback: MariaDB on a private socket, PHP's own web server, and an administrator."""

import contextlib
import getpass
import json
import os
import re
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import httpx

from runtime import PATIENCE_S, ROOT, until

PLUGIN: Final = ROOT / "src/wordpress/sluice-preload.php"
PHP: Final = Path(__file__).parent / "php"
EXTENSIONS: Final = (
    *("mysqlnd", "mysqli", "curl", "mbstring", "xml", "dom", "simplexml", "xmlreader", "xmlwriter", "ctype"),
    *("tokenizer", "iconv", "exif", "fileinfo", "posix", "opcache"),
)
SETTINGS: Final = (
    "opcache.revalidate_freq=0",
    "memory_limit=256M",
    "date.timezone=UTC",
    "display_errors=0",
    "log_errors=1",
    "sendmail_path=true",
)
DATABASE_OPTIONS: Final = (
    *("--no-defaults", "--innodb-log-file-size=16M", "--innodb-buffer-pool-size=64M"),
    *("--innodb-flush-log-at-trx-commit=0", "--skip-networking", "--skip-grant-tables"),
)
LOGGED: Final = re.compile(r"PHP (?:Notice|Warning|Deprecated|Fatal error|Parse error|Recoverable fatal error)")


class Programs:
    """PHP and MariaDB: from the packages, else this machine's own."""

    def __init__(self, root: Path) -> None:
        self.core = root / "usr/share/wordpress"
        libraries = [*(root / "usr/lib").glob("*-linux-gnu*"), *(root / "lib").glob("*-linux-gnu*")]
        self.environment = os.environ | {"LD_LIBRARY_PATH": ":".join(map(str, libraries))}
        self.php = self._find(root, "php[0-9]*", "php")
        self.mariadb = self._find(root, "mariadbd", "mariadbd")
        self.shared = (root / "usr" if self.mariadb.is_relative_to(root) else Path("/usr")) / "share/mysql"
        self._root = root

    def _find(self, root: Path, pattern: str, name: str) -> Path:
        found = [*(root / "usr/bin").glob(pattern), *(root / "usr/sbin").glob(pattern)]
        own = shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin")
        if not found and own is None:
            raise FileNotFoundError(f"neither the packages nor this machine has {name}")
        return min(found) if found else Path(str(own))

    def write_php_settings(self, file: Path, log: Path) -> None:
        """Names each extension by its full path: some come from the packages, some may be this machine's own."""
        ask = [str(self.php), "-n", "-r", "echo ini_get('extension_dir'), ' ', implode(',', get_loaded_extensions());"]
        folder, built_in = subprocess.check_output(ask, env=self.environment, text=True).split(" ", 1)
        lines = [*SETTINGS, f"error_log={log}"]
        for name in EXTENSIONS:
            files = [*(self._root / "usr/lib/php").rglob(f"{name}.so"), Path(folder) / f"{name}.so"]
            found = next((each for each in files if each.exists()), None)
            if found and name not in built_in.lower().split(","):
                lines.append(f"{'zend_extension' if name == 'opcache' else 'extension'}={found}")
        file.write_text("\n".join(lines) + "\n")


class WordPress:
    """One site below a folder. `url` is the address of its visitors, `origin` where it listens."""

    def __init__(self, programs: Programs, folder: Path) -> None:
        self._programs = programs
        self._folder = folder
        self._processes: list[subprocess.Popen[bytes]] = []
        self.site = folder / "site"
        self.log = folder / "php.log"
        self.port = find_free_port()
        self.origin = self.url = f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        shutil.copytree(self._programs.core, self.site, ignore_dangling_symlinks=True)
        (self.site / "wp-config.php").unlink(missing_ok=True)
        self._programs.write_php_settings(self._folder / "php.ini", self.log)
        self._start_database()
        self.configure()
        self._run_php("", mode="install")
        self._start([*self._php_command, "-S", f"127.0.0.1:{self.port}", "-t", str(self.site), str(PHP / "router.php")])
        until(self._is_answering)

    def stop(self) -> None:
        """Ends the processes that this site started, by their ids; PHP's server leads a group with its workers."""
        for process in self._processes:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
            process.wait(PATIENCE_S)

    def configure(
        self, *, url: str = "", constants: Mapping[str, str | bool] | None = None, must_use: Iterable[Path] = ()
    ) -> None:
        """Writes wp-config.php as a stock one has it, knowing nothing of a proxy, and the must-use plugins."""
        self.url = url or self.origin
        values: dict[str, str | bool] = {
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
        lines = [f"define( {json.dumps(name)}, {json.dumps(value)} );" for name, value in values.items()]
        lines += ["$table_prefix = 'wp_';", "defined( 'ABSPATH' ) || define( 'ABSPATH', __DIR__ . '/' );"]
        lines += ["require_once ABSPATH . 'wp-settings.php';"]
        part = self.site / "wp-config.php.part"
        part.write_text("<?php\n" + "\n".join(lines) + "\n")
        part.rename(self.site / "wp-config.php")
        folder = self.site / "wp-content/mu-plugins"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for file in must_use:
            shutil.copy(file, folder)

    def activate(self) -> None:
        """Installs the plugin as a site owner would, and runs its activation hook."""
        folder = self.site / "wp-content/plugins/sluice-preload"
        folder.mkdir(exist_ok=True)
        shutil.copy(PLUGIN, folder)
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

    def run(self, code: str) -> str:
        """Runs PHP inside WordPress as the administrator, and returns what it prints."""
        return self._run_php(code, mode="run")

    def ask(self, code: str) -> Any:
        """The value of a PHP expression."""
        return json.loads(self.run(f"echo wp_json_encode( {code} );"))

    def query(self, sql: str) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = self.ask(f"$GLOBALS['wpdb']->get_results( {json.dumps(sql)} )")
        return rows

    def find_complaints(self) -> list[str]:
        """What PHP complained about in the plugin so far; an old WordPress on a new PHP has complaints of its own."""
        lines = self.log.read_text(errors="replace").splitlines() if self.log.exists() else []
        return [line for line in lines if LOGGED.search(line) and PLUGIN.name in line]

    def _run_php(self, code: str, *, mode: str) -> str:
        host = self.url.partition("://")[2]
        command = [*self._php_command, str(PHP / "run.php"), str(self.site), host, mode]
        done = subprocess.run(
            command, input=code, env=self._programs.environment, capture_output=True, text=True, check=False,
            timeout=PATIENCE_S,
        )  # fmt: skip
        if done.returncode:
            log = self.log.read_text(errors="replace")[-1000:] if self.log.exists() else ""
            raise RuntimeError(f"PHP failed with {done.returncode}: {done.stdout}\n{done.stderr}\n{log}")
        return done.stdout

    @property
    def _php_command(self) -> list[str]:
        return [str(self._programs.php), "-n", "-c", str(self._folder / "php.ini")]

    @property
    def _socket(self) -> Path:
        return self._folder / "db.sock"

    def _start_database(self) -> None:
        data = self._folder / "db"
        data.mkdir()
        command = [str(self._programs.mariadb), *DATABASE_OPTIONS]
        command += [f"--basedir={self._programs.shared.parents[1]}", f"--datadir={data}", f"--user={getpass.getuser()}"]
        names = ("mysql_system_tables.sql", "mysql_system_tables_data.sql")
        tables = "\n".join((self._programs.shared / name).read_text() for name in names)
        script = f"CREATE DATABASE mysql;\nUSE mysql;\n{tables}\nCREATE DATABASE wordpress CHARACTER SET utf8mb4;\n"
        made = subprocess.run(
            [*command, "--bootstrap"], input=script, env=self._programs.environment, capture_output=True, text=True,
            check=False, timeout=PATIENCE_S,
        )  # fmt: skip
        if made.returncode:
            raise RuntimeError(f"the database could not be made: {made.stderr[-1000:]}")
        self._start([*command, f"--socket={self._socket}"])
        until(self._socket.exists)

    def _start(self, command: list[str]) -> None:
        # WordPress asks itself: one worker alone would wait for itself.
        environment = self._programs.environment | {"PHP_CLI_SERVER_WORKERS": "6"}
        with (self._folder / "processes.log").open("ab") as log:
            process = subprocess.Popen(
                command, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
            )
        self._processes.append(process)

    def _is_answering(self) -> bool:
        with contextlib.suppress(httpx.TransportError):
            return httpx.get(f"{self.origin}/", timeout=PATIENCE_S).status_code == 200
        return False


class Editor:
    """The administrator in a browser, at the site's visitors' address or straight at the origin."""

    def __init__(self, wordpress: WordPress, address: str = "") -> None:
        host = wordpress.url.partition("://")[2]
        # PHP's server closes every connection, so none is kept.
        limits = httpx.Limits(max_keepalive_connections=0)
        self.client = httpx.Client(
            base_url=address or wordpress.origin, headers={"Host": host}, timeout=PATIENCE_S, limits=limits
        )
        form = {"log": "admin", "pwd": "admin", "testcookie": "1"}
        reply = self.client.post(
            "/wp-login.php", data=form, headers={"Cookie": "wordpress_test_cookie=WP+Cookie+check"}
        )
        assert reply.status_code == 302, reply.text[:500]
        nonce = self.client.get("/wp-admin/admin-ajax.php?action=rest-nonce")
        assert nonce.status_code == 200, nonce.text[:500]
        self.client.headers["X-WP-Nonce"] = nonce.text

    def save(self, route: str, **fields: Any) -> dict[str, Any]:
        """Saves through REST, as the block editor does."""
        reply = self.client.post(f"/wp-json/wp/v2/{route}", json=fields)
        assert reply.status_code in {200, 201}, reply.text[:500]
        saved: dict[str, Any] = reply.json()
        return saved

    def delete(self, route: str) -> None:
        assert self.client.delete(f"/wp-json/wp/v2/{route}").status_code == 200

    def open(self, path: str) -> httpx.Response:
        return self.client.get(path)

    def submit(self, action: str, page: str = "/wp-admin/options-general.php?page=sluice-preload") -> httpx.Response:
        """Presses the button of an action on a page; returns the page that follows."""
        form = re.search(rf'value="{action}".*?name="_wpnonce" value="([^"]+)"', self.open(page).text, re.DOTALL)
        assert form, f"no button for {action}"
        reply = self.client.post("/wp-admin/admin-post.php", data={"action": action, "_wpnonce": form[1]})
        assert reply.status_code == 302, reply.text[:500]
        target = httpx.URL(reply.headers["Location"])
        return self.open(target.raw_path.decode())


def find_free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
