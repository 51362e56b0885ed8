"""A browser, the real runtime with every Worker that has a page, and sources of its own for all of them."""

import json
import secrets
import shutil
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright

from browser.news_source import store_news
from browser.person import WAIT_MS, Person
from runtime import Runtime
from workerd.origin import Origin, local_origin
from workerd.preload_site import TOKEN, Service, Site, site

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
WORKERS = "adblock-compiler,edge-preload,worker-api"
SITE_HOST = "shop.test"

OpenPage = Callable[..., Person]


@pytest.fixture(name="origin", scope="session")
def _origin() -> Iterator[Origin]:
    with local_origin() as origin:
        yield origin


@pytest.fixture(name="runtime", scope="session")
def _runtime(tmp_path_factory: pytest.TempPathFactory, origin: Origin) -> Iterator[Runtime]:
    checked = [
        {"name": "Well", "url": origin.serve("/well.txt", "||a.example^\n||b.example^\n"), "expectedMinRules": 1},
        {"name": "Gone", "url": origin.url("/gone.txt"), "expectedMinRules": 1},
    ]
    variables = {
        "HEALTH_SOURCES": json.dumps(checked),
        "ADMIN_TOKEN": TOKEN,
        "ALLOW_PRIVATE_HOSTS": "127.0.0.1",
        "RATE_LIMIT_MAX_REQUESTS": "1000",
    }
    given = [part for name, value in variables.items() for part in ("--var", f"{name}={value}")]
    state = tmp_path_factory.mktemp("state")
    store_news(state)
    runtime = Runtime(state, "--only", WORKERS, "--route", f"{SITE_HOST}=edge-preload", *given).start()
    yield runtime
    runtime.kill()


@pytest.fixture(name="browser", scope="module")
def _browser() -> Iterator[Browser]:
    # Not for the whole session: while it lives, its event loop runs, and asynchronous tests could not have theirs.
    if CHROMIUM is None:
        pytest.skip("no Chromium is installed: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET, timeout=WAIT_MS)
        yield browser
        browser.close()


@pytest.fixture(name="visit")
def _visit(browser: Browser, runtime: Runtime) -> Iterator[OpenPage]:
    """Opens the page of a Worker; afterwards, nothing may have gone wrong that the test did not name."""
    people: list[Person] = []

    def visit(worker: str, path: str = "/", *, troubles: tuple[str, ...] = ()) -> Person:
        port = runtime.url.rpartition(":")[2]
        person = Person.opening(browser, f"http://{worker}.localhost:{port}{path}", troubles)
        people.append(person)
        return person

    yield visit
    complaints = [complaint for person in people for complaint in person.complaints]
    for person in people:
        person.page.context.close()
    assert complaints == []


@pytest.fixture(name="zone")
def _zone(runtime: Runtime) -> Iterator[tuple[Service, Site]]:
    """A registered zone of its own, and its site."""
    with site() as (control, address):
        service = Service(runtime, address, f"zone-{secrets.token_hex(4)}")
        assert service.register().status_code == 200
        yield service, control
        service.register(preload_enabled=False)
