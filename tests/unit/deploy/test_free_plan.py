"""The free plan gets only what it can run, in a form that it takes."""

import tomllib
from pathlib import Path

import pytest

from deploy import main
from free_plan import VARIABLES, VERDICTS, judge, without_paid_settings
from worker_config import WorkerConfig, read_configs

ROOT = Path(__file__).parents[3]


@pytest.fixture(name="project")
def _project(tmp_path: Path) -> Path:
    for path in ROOT.glob("wrangler*.toml"):
        (tmp_path / path.name).write_text(path.read_text())
    for config in read_configs(ROOT):
        main = tmp_path / config.content["main"]
        main.parent.mkdir(parents=True)
        main.write_text("")
    return tmp_path


def test_every_worker_has_a_verdict():
    """Each Worker is judged, and the tail Worker cannot run."""
    assert VERDICTS.keys() == {config.name for config in read_configs(ROOT)}
    assert not VERDICTS["sluice-tail"].fits
    assert not judge(WorkerConfig(Path("w.toml"), {"name": "new"})).fits


@pytest.mark.parametrize("config", read_configs(ROOT), ids=lambda config: str(config.name))
def test_paid_settings_are_left_out(config: WorkerConfig, tmp_path: Path):
    """Limits and tail consumers are left out, purges take longer, all else stays, and the file is gone afterwards."""
    path = tmp_path / config.path.name
    path.write_text(config.path.read_text())
    with without_paid_settings(WorkerConfig.read(path)) as free:
        expected = {key: value for key, value in config.content.items() if key not in {"limits", "tail_consumers"}}
        if variables := VARIABLES.get(config.name):
            assert config.name == "edge-preload"
            assert variables == {"PURGE_DELAY_S": "30", "PRELOAD_SUBREQUESTS": "50"}
            expected["vars"] = config.content["vars"] | variables
        assert tomllib.loads(free.path.read_text()) == expected
        assert free.path.parent == path.parent
    assert list(tmp_path.iterdir()) == [path]


def test_others_are_skipped(project: Path, capsys: pytest.CaptureFixture[str]):
    """Without names, what fits is built and the others are skipped with their reason."""
    built: list[str] = []

    def build(*arguments: str) -> str:
        built.append(Path(arguments[-1]).name)
        return "Total Upload: 1.00 KiB / gzip: 1.00 KiB"

    assert main(["--plan", "free", "--dry-run"], project, build) == 0
    assert built == [".free-plan.wrangler.news-api.toml"]
    output = capsys.readouterr().out
    assert "sluice-tail              skipped: tail Workers need the paid plan" in output
    assert output.count("skipped: ") == 5


def test_what_cannot_run_is_refused(project: Path, capsys: pytest.CaptureFixture[str]):
    """A Worker that was asked for by name and cannot run is refused, and nothing is built."""

    def refuse(*arguments: str) -> str:
        raise AssertionError(arguments)

    assert main(["--plan", "free", "adblock-compiler"], project, refuse) == 1
    assert capsys.readouterr().err.startswith("the free plan cannot run adblock-compiler")
