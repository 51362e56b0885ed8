"""What the soak holds against the services: each check finds what it is for, and nothing in a run without defects."""

from collections.abc import Callable

import pytest

from soak_checks import (
    INVARIANTS,
    KEPT_ENDED,
    SENTENCES,
    STAYING_ARTICLES,
    Accepted,
    Articles,
    Findings,
    ListAddress,
    PageFloors,
    Windows,
    Work,
    read_editions,
    read_outcome,
    write_edition,
)


@pytest.fixture(name="findings")
def _findings() -> Findings:
    return Findings()


def make_work(work_id: str) -> Work:
    return Work("job", work_id, f"/queue/results/{work_id}", accepted_at=0.0)


def broken(findings: Findings, invariant: str) -> int:
    return findings.broken[INVARIANTS[invariant]]


def test_sentences_are_bounded(findings: Findings):
    """Every break counts, and the first ones are told."""
    for at in range(SENTENCES + 5):
        findings.report("ends", f"Number {at}.")
    assert broken(findings, "ends") == SENTENCES + 5
    assert findings.list_sentences() == [f"Number {at}." for at in range(SENTENCES)]


def test_windows():
    """A span excuses what overlaps it, also while it is open; it ends where it was closed."""
    windows = Windows()
    assert not windows.overlaps(0, 100)
    windows.open(10)
    assert windows.is_open
    assert windows.overlaps(12, 13)
    assert not windows.overlaps(8, 9)
    windows.close(20)
    assert not windows.is_open
    assert [windows.overlaps(*span) for span in ((5, 10), (15, 16), (20, 30), (21, 30))] == [True, True, True, False]
    windows.open(40)
    assert windows.list_spans(50) == [(10, 20), (40, 50)]


def test_accepted_ends_once(findings: Findings):
    """Work goes on, ends, and stays as it ended."""
    accepted = Accepted(findings, most=2)
    first, second = make_work("a"), make_work("b")
    accepted.add(first)
    accepted.add(second)
    assert not accepted.has_room
    assert accepted.list_waiting(1) == [first]
    assert accepted.list_waiting(1) == [second]  # each has its turn
    assert not accepted.see(first, None)
    assert accepted.see(first, "completed")
    assert not accepted.see(first, "completed")
    assert (accepted.list_waiting(5), accepted.list_ended(5)) == ([second], [first])
    assert accepted.see(second, "failed")
    accepted.report_unended()
    assert accepted.is_empty
    assert not findings.broken
    assert findings.counts == {"job: accepted": 2, "job: completed": 1, "job: failed": 1}


@pytest.mark.parametrize(
    "act",
    [
        lambda accepted, work: accepted.see(work, "failed"),
        lambda accepted, work: accepted.see(work, None),
        lambda accepted, _: accepted.add(make_work("a")),
        lambda accepted, _: [accepted.add(make_work("b")), accepted.report_unended()],
    ],
    ids=["ended otherwise", "goes on again", "accepted with the same id", "never ended"],
)
def test_accepted_does_not_end_once(findings: Findings, act: Callable[[Accepted, Work], object]):
    """A second end, a return, an id given twice and what never ends are each told once."""
    accepted, work = Accepted(findings), make_work("a")
    accepted.add(work)
    accepted.see(work, "completed")
    act(accepted, work)
    assert broken(findings, "ends") == 1
    assert findings.broken.total() == 1


def test_ended_work_is_forgotten(findings: Findings):
    """However long it runs, only the latest are kept."""
    accepted = Accepted(findings)
    for at in range(KEPT_ENDED + 10):
        work = make_work(str(at))
        accepted.add(work)
        accepted.see(work, "completed")
    assert not accepted.knows("0")
    assert len(accepted.list_ended(10_000)) == KEPT_ENDED


@pytest.mark.parametrize(
    ("kind", "place", "told", "outcome"),
    [
        ("job", "/queue/results/a", {"status": "queued"}, None),
        ("job", "/queue/results/a", {"status": "running"}, None),
        ("job", "/queue/results/a", {"status": "completed"}, "completed"),
        ("workflow batch", "/workflow/status/b/a", {"status": "running", "output": None}, None),
        ("workflow batch", "/workflow/status/b/a", {"status": "errored", "output": None}, "errored"),
        ("workflow batch", "/workflow/status/b/a", {"status": "complete", "output": {"success": True}}, "complete"),
        (
            "workflow batch",
            "/workflow/status/b/a",
            {"status": "complete", "output": {"success": False}},
            "complete, with a failure",
        ),
        ("build", "/workflow/status/p/a", {"status": "complete", "output": {"outcome": "unchanged"}}, "unchanged"),
    ],
)
def test_outcomes(kind: str, place: str, told: dict[str, object], outcome: str | None):
    """What the services say of a job, a workflow and a build is read as going on, or as one end."""
    assert read_outcome(Work(kind, "a", place, 0.0), told) == outcome


def test_editions_of_a_list():
    """A list of whole editions says which; one rule too few, or of another edition, is found."""
    alpha, beta = write_edition("alpha", 3), write_edition("beta", 8)
    assert read_editions(alpha + beta) == {"alpha": 3, "beta": 8}
    hosts = "".join(f"0.0.0.0 {line[2:-1]}\n" for line in alpha.splitlines()[1:])
    assert read_editions(hosts) == {"alpha": 3}
    assert read_editions("") == {}
    with pytest.raises(ValueError, match="rules of alpha are of the editions"):
        read_editions(alpha + write_edition("alpha", 4))
    with pytest.raises(ValueError, match="beta has "):
        read_editions(alpha + beta.rsplit("\n", 2)[0])


def test_an_address(findings: Findings):
    """An address may stay or go forward, for each source alone; back, incomplete and missing are told."""
    address = ListAddress("/lists/a.txt", ["alpha", "beta"], findings)
    for alpha, beta in ((1, 1), (1, 1), (2, 1), (2, 4)):
        address.check(write_edition("alpha", alpha) + write_edition("beta", beta))
    assert not findings.broken
    address.check(write_edition("alpha", 1) + write_edition("beta", 4))
    assert "had the edition 2 of alpha, and then 1" in findings.list_sentences()[0]
    address.check(write_edition("alpha", 2))
    address.check(write_edition("alpha", 2)[:-30] + write_edition("beta", 4))
    assert broken(findings, "lists") == findings.broken.total() == 3


def test_floors_of_pages():
    """A purge counts for who comes when it holds or later; a later one counts more, whatever the order of their answers."""
    floors = PageFloors()
    floors.hold(1, 5, at=10.0)
    floors.hold(1, 4, at=11.0)
    floors.hold(2, 9, at=0.0)
    assert [floors.find(1, at) for at in (9.9, 10.0, 12.0)] == [0, 5, 5]
    assert floors.find(3, 100.0) == 0
    for edition in range(6, 100):
        floors.hold(1, edition, at=float(edition))
    assert floors.find(1, 98.5) == 98


def test_articles(findings: Findings):
    """Articles come once and stay; twice, gone and never served are told, and older ones may leave."""
    articles = Articles(findings)
    for link in ("a", "b", "c"):
        articles.write(link)
    articles.check([])
    articles.check(["b", "a"])
    assert articles.list_missing() == ["c"]
    articles.check(["c", "b", "a"])
    articles.report_missing()
    assert not findings.broken
    assert findings.counts["articles: served"] == 3
    articles.check(["c", "b", "a", "a"])
    articles.check(["c", "b"])
    assert findings.list_sentences() == ["a is served 2 times.", "a was served, and is not any more."]
    for at in range(STAYING_ARTICLES - 1):
        articles.write(str(at))
    articles.check(["c"])  # only the newest so many must stay
    assert broken(findings, "articles") == 2
    articles.report_missing()
    assert broken(findings, "articles") == 2 + STAYING_ARTICLES - 1
