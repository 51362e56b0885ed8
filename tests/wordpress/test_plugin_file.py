"""The plugin's file and its readme, read without running them."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from wordpress.wordpress_site import PHP, PLUGIN, PLUGIN_FILES, WordPress

README = PLUGIN.parent / "readme.txt"
# The doc comment of a function or hook of WordPress, and its name.
FUNCTION = re.compile(r"/\*\*((?:(?!\*/).)*?)\*/\s*\n\t?function &?(\w+)\(", re.DOTALL)
HOOK = re.compile(
    r"/\*\*((?:(?!\*/).)*?)\*/\s*[^;\n]*?(?:do_action|apply_filters)(?:_ref_array)?\(\s*'(\w+)'", re.DOTALL
)
SINCE = re.compile(r"@since (?:MU \()?(\d+)\.(\d+)")
OLDEST = (5, 9)


def test_the_readme_agrees_with_the_plugin():
    """Versions, requirements and the length of the short description are what WordPress.org expects."""
    plugin, readme = PLUGIN.read_text(), README.read_text()
    for name, header in (("Stable tag", "Version"), ("Requires at least", "Requires at least"), ("Requires PHP",) * 2):
        in_readme, in_plugin = (
            re.search(rf"^{name}: (.+)$", readme, re.MULTILINE),
            re.search(rf"{header}: +(.+)$", plugin, re.MULTILINE),
        )
        assert in_readme
        assert in_plugin
        assert in_readme[1] == in_plugin[1]
    tags = re.search(r"^Tags: (.+)$", readme, re.MULTILINE)
    assert tags
    assert len(tags[1].split(",")) <= 5
    assert len(readme.split("\n\n")[1]) <= 150
    for section in ("Description", "Installation", "Frequently Asked Questions", "Changelog"):
        assert f"== {section} ==" in readme


def test_no_syntax_of_a_newer_php(wordpress: WordPress):
    """PHP parses the file; PHP 7.4 does, too, where php-wasm is installed."""
    programs = wordpress.programs
    for file in PLUGIN_FILES:
        subprocess.run([str(programs.php), "-n", "-l", str(file)], env=programs.environment, check=True)
        if tool := shutil.which("cli", path="node_modules/@php-wasm/cli/bin"):
            subprocess.run([tool, "-l", str(file)], env=os.environ | {"PHP": "7.4"}, check=True)


def test_code_sniffer_finds_nothing(wordpress: WordPress):
    """The rules of WordPress' standards that CodeSniffer has by itself hold."""
    programs = wordpress.programs
    command = [str(programs.php), "-n", "-c", str(wordpress.php_settings)]
    command += ["-d", f"include_path={programs.root}/usr/share/php", str(programs.root / "usr/bin/phpcs")]
    done = subprocess.run(
        [*command, "-q", "-s", f"--standard={PHP / 'rules.xml'}", *map(str, PLUGIN_FILES)],
        env=programs.environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout.strip()) == (0, "")


def test_nothing_that_the_oldest_wordpress_lacks(wordpress: WordPress):
    """Each function and hook of WordPress that the plugin uses was there in the version that it requires."""
    functions, hooks = _read_versions(wordpress.programs.core)
    code = re.sub(r"/\*.*?\*/|//[^\n]*", "", "\n".join(file.read_text() for file in PLUGIN_FILES), flags=re.DOTALL)
    called = {name: functions[name] for name in re.findall(r"(?<![>:\w$])(\w+)\(", code) if name in functions}
    named = {name: hooks[name] for name in re.findall(r"'(\w+)'", code) if name in hooks}
    assert len(called) > 100
    assert len(named) > 40
    assert {name: version for name, version in (called | named).items() if version > OLDEST} == {}


def _read_versions(core: Path) -> tuple[dict[str, tuple[int, int]], dict[str, tuple[int, int]]]:
    """Return since when there is each function and each hook, by their doc comments."""
    functions: dict[str, tuple[int, int]] = {}
    hooks: dict[str, tuple[int, int]] = {}
    for file in [*core.glob("*.php"), *core.glob("wp-admin/**/*.php"), *core.glob("wp-includes/**/*.php")]:
        text = file.read_text(errors="replace")
        for pattern, found in ((FUNCTION, functions), (HOOK, hooks)):
            for comment, name in pattern.findall(text):
                if since := SINCE.search(comment):
                    found.setdefault(name, (int(since[1]), int(since[2])))
    return functions, hooks


@pytest.mark.parametrize("text", ["wp_remote_get(", "eval(", "extract(", "var_dump(", "error_log(", "base64_"])
def test_nothing_that_plugin_reviewers_refuse(text: str):
    """No function that WordPress.org's reviewers ask about."""
    assert text not in PLUGIN.read_text()
