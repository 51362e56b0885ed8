"""The API's documentation, as somebody reads and tries it."""

import json
from typing import Any

from playwright.sync_api import Locator, Page, Route, expect

from browser.conftest import OpenPage
from sluice.core.preload.request_signing import compute_signature

WORKER = "adblock-compiler"
TOKEN = "a-token-that-stays-here"
HOSTILE = "<img src=x onerror=alert(1)><script>alert(1)</script>"


def operation(page: Page, name: str) -> Locator:
    return page.locator(f"#{name}")


def opened(page: Page, name: str) -> Locator:
    found = operation(page, name)
    found.locator("> summary").click()
    return found


def reply(found: Locator) -> Locator:
    return found.get_by_label("Body of the reply")


def test_reading(visit: OpenPage):
    """Every operation is there with its parameters, body and replies, and can be linked to."""
    person = visit(WORKER, "/docs")
    page = person.page
    expect(operation(page, "compileList")).to_be_visible()
    told: dict[str, Any] = page.evaluate("fetch('/openapi.json').then((reply) => reply.json())")
    assert page.locator(".operation").count() == sum(len(methods) for methods in told["paths"].values())
    person.look("docs")
    found = opened(page, "compileList")
    expect(found.get_by_text("configuration", exact=True)).to_be_visible()
    found.get_by_text("200 The list.").click()
    expect(found.get_by_text("text/plain").first).to_be_visible()
    person.look("docs-operation")
    page.goto(f"{page.url.partition('#')[0]}#showJobResult")
    expect(operation(page, "showJobResult").get_by_label("id (required)")).to_be_visible()


def test_trying(visit: OpenPage):
    """The example is sent as it stands, and the reply is shown: JSON, the list itself, a stream, a problem."""
    person = visit(WORKER, "/docs", troubles=("404",))
    page = person.page
    found = opened(page, "compileList")
    found.get_by_role("button", name="Send").click()
    expect(reply(found)).to_contain_text('"||ads.example.org^"')
    found.get_by_label("Reply as").select_option("text/plain")
    found.get_by_role("button", name="Send").click()
    expect(reply(found)).not_to_contain_text('"')
    person.look("docs-tried")
    found.get_by_label("Body", exact=True).fill("{")
    found.get_by_role("button", name="Send").click()
    expect(found.get_by_role("alert")).to_contain_text("The body is not JSON")
    stream = opened(page, "streamCompilation")
    stream.get_by_role("button", name="Send").click()
    expect(reply(stream)).to_contain_text("event: done")
    job = opened(page, "showJobResult")
    job.get_by_role("button", name="Send").click()
    expect(reply(job)).to_contain_text("there is no job")
    expect(
        opened(page, "openCompileSocket").get_by_text("needs a WebSocket, which this form cannot open")
    ).to_be_visible()


def test_finding(visit: OpenPage):
    """Words narrow the list."""
    page = visit(WORKER, "/docs").page
    expect(operation(page, "compileList")).to_be_visible()
    page.get_by_label("Find").fill("counters prometheus")
    expect(page.locator(".operation:visible")).to_have_count(1)
    page.get_by_label("Find").fill("nothing has these words")
    expect(page.get_by_text("No operation contains these words.")).to_be_visible()
    page.get_by_label("Find").fill("")
    expect(operation(page, "compileList")).to_be_visible()


def test_keyboard(visit: OpenPage):
    """All of it works without a mouse, and what has the focus is seen to have it."""
    page = visit(WORKER, "/docs").page
    found = operation(page, "showHealth")
    expect(found).to_be_visible()
    page.get_by_label("Find").focus()
    for _ in range(200):
        page.keyboard.press("Tab")
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
        if page.evaluate("document.activeElement.parentElement.id") == "showHealth":
            break
    page.keyboard.press("Enter")
    send = found.get_by_role("button", name="Send")
    expect(send).to_be_visible()
    for _ in range(20):
        page.keyboard.press("Tab")
        if send.evaluate("(element) => element === document.activeElement"):
            break
    page.keyboard.press("Enter")
    expect(reply(found)).to_contain_text('"status": "ok"')


def made_up(**operations: Any) -> dict[str, Any]:
    """Return a document in which every text is hostile."""
    told = {
        "summary": HOSTILE,
        "description": HOSTILE,
        "tags": [HOSTILE],
        "responses": {"200": {"description": HOSTILE}},
    }
    paths = {f"/{name}": {"get": told | {"operationId": name} | more} for name, more in operations.items()}
    schemes = {"securitySchemes": {"admin": {"type": "http", "scheme": "bearer"}}}
    info = {"title": HOSTILE, "version": HOSTILE, "description": HOSTILE}
    return {"openapi": "3.1.0", "info": info, "tags": [], "paths": paths, "components": schemes}


def showing(page: Page, told: dict[str, Any]) -> None:
    def answer(route: Route) -> None:
        route.fulfill(status=200, content_type="application/json", body=json.dumps(told))

    page.route("**/openapi.json", answer)
    page.reload()


def test_nothing_becomes_markup(visit: OpenPage):
    """What a document says is text, whatever it says."""
    page = visit(WORKER, "/docs").page
    parameter = {
        "name": HOSTILE,
        "in": "query",
        "description": HOSTILE,
        "schema": {"type": "string", "enum": [HOSTILE]},
    }
    schema = {"type": "object", "properties": {HOSTILE: {"type": "string", "description": HOSTILE}}}
    body = {"content": {"application/json": {"schema": schema, "example": HOSTILE}}}
    showing(page, made_up(hostile={"parameters": [parameter], "requestBody": body}))
    opened(page, "hostile")
    expect(operation(page, "hostile").get_by_role("button", name="Send")).to_be_visible()
    assert page.locator("main img, main script").count() == 0
    assert page.get_by_text(HOSTILE).count() > 3


def test_token_stays_here(visit: OpenPage):
    """The token goes with the requests that need it, and nowhere else; what is signed cannot be tried."""
    page = visit(WORKER, "/docs", troubles=("404", "401")).page
    signed: dict[str, Any] = {"security": [{"signature": [], "timestamp": [], "nonce": []}]}
    showing(page, made_up(operators={"security": [{"admin": []}]}, everyones={}, sites=signed))
    seen: dict[str, str | None] = {}

    def note(route: Route) -> None:
        seen[route.request.url.rpartition("/")[2]] = route.request.headers.get("authorization")
        route.fulfill(status=200, content_type="text/plain", body="done")

    page.route("**/operators", note)
    page.route("**/everyones", note)
    page.get_by_label("Operator token").fill(TOKEN)
    for name in ("operators", "everyones"):
        found = opened(page, name)
        found.get_by_role("button", name="Send").click()
        expect(reply(found)).to_have_text("done")
    assert seen == {"operators": f"Bearer {TOKEN}", "everyones": None}
    assert TOKEN not in page.url
    assert TOKEN not in page.evaluate("JSON.stringify([{ ...localStorage }, document.cookie])")
    assert opened(page, "sites").get_by_role("button", name="Send").count() == 0
    assert TOKEN not in operation(page, "operators").get_by_role("region", name="Request as code").inner_text()


def test_dead_service(visit: OpenPage):
    """A service that does not answer is said not to, and asked again when told to."""
    page = visit(WORKER, "/docs", troubles=("Failed to load resource",)).page
    page.route("**/openapi.json", lambda route: route.abort())
    page.reload()
    expect(page.get_by_role("alert")).to_contain_text("The service cannot be reached")
    page.unroute("**/openapi.json")
    page.get_by_role("button", name="Try again").click()
    expect(operation(page, "compileList")).to_be_visible()


def test_code(visit: OpenPage):
    """Each request stands there as curl, Python and JavaScript, as the form would send it."""
    page = visit(WORKER, "/docs").page
    found = opened(page, "compileList")
    code = found.get_by_role("region", name="Request as code")
    expect(code).to_contain_text("curl --compressed -X POST")
    found.get_by_role("tab", name="Python").click()
    expect(code).to_contain_text("httpx.request(")
    found.get_by_role("tab", name="JavaScript").click()
    expect(code).to_contain_text("await fetch(")


def test_repeating(visit: OpenPage):
    """A key of one's own travels as a header: the second request gets the reply of the first. Nobody is given one."""
    page = visit(WORKER, "/docs").page
    found = opened(page, "enqueueList")
    key = found.get_by_label("Idempotency-Key")
    expect(key).to_have_value("")
    key.fill("a-key-of-my-own")
    expect(found.get_by_role("region", name="Request as code")).to_contain_text("Idempotency-Key: a-key-of-my-own")
    found.get_by_role("button", name="Send").click()
    expect(reply(found)).to_contain_text("The job is queued")
    first = reply(found).inner_text()
    with page.expect_response("**/compile/async") as again:
        found.get_by_role("button", name="Send").click()
    assert again.value.headers["x-idempotent-replayed"] == "true"
    expect(reply(found)).to_have_text(first, use_inner_text=True)


def test_signing(visit: OpenPage):
    """A request is signed in the page as the service wants it; the key goes into no request."""
    person = visit("edge-preload", "/docs")
    page = person.page
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url + (request.post_data or "") + str(request.headers)))
    page.get_by_text("Sign a request").click()
    page.get_by_label("Signing key").fill(TOKEN)
    page.get_by_role("button", name="Sign", exact=True).click()
    text = page.get_by_role("region", name="Signed text").inner_text()
    expected = compute_signature(TOKEN, text)
    expect(page.get_by_role("region", name="Signature", exact=True)).to_have_text(expected)
    expect(page.get_by_role("region", name="Signed command")).to_contain_text(f"X-Signature: {expected}")
    person.look("docs-signing")
    assert not any(TOKEN in each for each in sent)
