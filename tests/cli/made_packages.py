"""Small packages for projects that ./scripts/setup sets up in tests, without a registry."""

import hashlib
import zipfile
from pathlib import Path


def write_wheel(folder: Path, name: str, files: dict[str, str]) -> Path:
    """Write a wheel of version 1.0 with these files."""
    wheel = folder / f"{name}-1.0-py3-none-any.whl"
    info = f"{name}-1.0.dist-info"
    facts = {
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/RECORD": "",
    }
    with zipfile.ZipFile(wheel, "w") as archive:
        for file, text in (files | facts).items():
            archive.writestr(file, text)
    return wheel


def make_project(clone: Path, files: dict[str, str]) -> str:
    """Make the folder a project with the command `sluice`; returns the line that locks the package which builds it.

    That package is `made==1.0`, beside the folder, and has these other files.
    """
    command = {"sluice-1.0.dist-info/entry_points.txt": "[console_scripts]\nsluice = made:run\n"}
    built = write_wheel(clone.parent, "sluice", command | {"sluice.pth": str(clone / "src")})
    backend = f"""import shutil
def build_editable(folder, config_settings=None, metadata_directory=None):
    return shutil.copy({str(built)!r}, folder).rpartition("/")[2]
def run():
    print("runs")
"""
    wheel = write_wheel(clone.parent, "made", {"made.py": backend} | files)
    (clone / "src/sluice").mkdir(parents=True, exist_ok=True)
    (clone / "scripts/build").mkdir(parents=True, exist_ok=True)
    write_phrases = "import pathlib\npathlib.Path('src/sluice/core/news/vocabulary').mkdir(parents=True)\n"
    (clone / "scripts/build/phrases.py").write_text(write_phrases)
    (clone / "pyproject.toml").write_text('[build-system]\nrequires = ["made"]\nbuild-backend = "made"\n')
    return f"made==1.0 \\\n    --hash=sha256:{hashlib.sha256(wheel.read_bytes()).hexdigest()}\n"
