"""PHP and MariaDB: from the packages, else this machine's own."""

import subprocess
from pathlib import Path
from typing import Final

from debian_packages import Unpacked

EXTENSIONS: Final = (
    *("mysqlnd", "mysqli", "curl", "mbstring", "xml", "dom", "simplexml", "xmlreader", "xmlwriter", "ctype"),
    *("tokenizer", "iconv", "exif", "fileinfo", "posix", "opcache"),
)
SETTINGS: Final = (
    "opcache.revalidate_freq=0",
    "opcache.enable_cli=1",
    "memory_limit=256M",
    "date.timezone=UTC",
    "display_errors=0",
    "log_errors=1",
    "sendmail_path=true",
)


class Programs:
    """`environment` is what they run with: libraries of the packages are found by it."""

    def __init__(self, packages: Unpacked) -> None:
        root = packages.root
        self.root = root
        self.core = root / "usr/share/wordpress"
        self.code_sniffer = root / "usr/share/php/PHP/CodeSniffer"
        self.environment = packages.environment
        self.php = packages.find("php[0-9]*", "php")
        self.fpm = packages.find("php-fpm[0-9]*", "php-fpm")
        self.mariadb = packages.find("mariadbd")
        self.shared = (root / "usr" if self.mariadb.is_relative_to(root) else Path("/usr")) / "share/mysql"

    def write_php_settings(self, file: Path, log: Path) -> None:
        """Name each extension by its full path: some come from the packages, some may be this machine's own."""
        ask = [str(self.php), "-n", "-r", "echo ini_get('extension_dir'), ' ', implode(',', get_loaded_extensions());"]
        folder, built_in = subprocess.check_output(ask, env=self.environment, text=True).split(" ", 1)
        lines = [*SETTINGS, f"error_log={log}", f"opcache.file_cache={_make(file.parent / 'opcache')}"]
        for name in EXTENSIONS:
            files = [*(self.root / "usr/lib/php").rglob(f"{name}.so"), Path(folder) / f"{name}.so"]
            found = next((each for each in files if each.exists()), None)
            if found and name not in built_in.lower().split(","):
                lines.append(f"{'zend_extension' if name == 'opcache' else 'extension'}={found}")
        file.write_text("\n".join(lines) + "\n")


def _make(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder
