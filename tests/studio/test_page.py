"""The page, in a real browser: what people do with it works, and what goes wrong is said."""

from __future__ import annotations

import json
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote

import pytest

from neuralns.problem.bundled import bundled
from neuralns.problem.formats.detect import write_instance

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
if CHROMIUM is None:
    pytest.skip("there is no Chromium on this machine.", allow_module_level=True)
pytest.importorskip("fastapi", reason="the server needs fastapi: pip install 'neuralns[studio]'.")
pytest.importorskip("playwright", reason="browsers are driven by playwright: pip install playwright.")
from playwright import sync_api as playwright  # noqa: E402
from playwright.sync_api import expect  # noqa: E402

from servers import Served  # noqa: E402

expect.set_options(timeout=30_000)

PATIENCE = 90_000
"""Milliseconds to wait for anything; the first search may have to compile."""


class Lost:
    """A server in a process of its own, on a port of its own, which can be lost and found again."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.address = f"http://127.0.0.1:{self.port}"
        self._log = folder / "server.log"
        self.start()

    def start(self) -> None:
        program = "from neuralns.cli import main; main()"
        options = ["studio", "--no-browser", "--port", str(self.port)]
        with self._log.open("ab") as log:
            self._process = subprocess.Popen([sys.executable, "-c", program, *options], stdout=log, stderr=log)
        for _ in range(600):
            try:
                urllib.request.urlopen(f"{self.address}/health", timeout=5).close()
                return
            except OSError:
                assert self._process.poll() is None, self._log.read_text()
                time.sleep(0.1)
        raise AssertionError("the server did not start.")

    def stop(self) -> None:
        self._process.kill()
        self._process.wait()


@pytest.fixture(scope="module")
def browser() -> Iterator[playwright.Browser]:
    with playwright.sync_playwright() as driver:
        found = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield found
        found.close()


@contextmanager
def opened(browser: playwright.Browser, address: str) -> Iterator[playwright.Page]:
    """A page in which no script fails and nothing is loaded from elsewhere."""
    context = browser.new_context(viewport={"width": 1360, "height": 850}, accept_downloads=True)
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    faults: list[str] = []
    asked: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(address)
    page.wait_for_selector("html[data-ready=yes]")
    yield page
    context.close()
    assert not faults
    assert all(each.startswith((address, "data:", "blob:")) for each in asked)


@pytest.fixture
def page(browser: playwright.Browser, server: Served) -> Iterator[playwright.Page]:
    with opened(browser, server.address) as page:
        yield page


def start(page: playwright.Page, seconds: float, instance: str = "E-n51-k5") -> None:
    page.select_option("#instance", instance)
    page.fill("#time", str(seconds))
    page.click("#start")


def wait_for(page: playwright.Page, state: str, count: int = 1) -> None:
    expect(page.locator(f".pane .badge[data-state={state}]")).to_have_count(count, timeout=PATIENCE)


def figure(page: playwright.Page, name: str) -> str:
    return str(page.locator(".figures div", has_text=re.compile(f"^{name}")).first.locator("dd").inner_text())


def number(text: str) -> float:
    return float(text.replace(",", ""))


def test_watches_a_run_to_its_end(page: playwright.Page) -> None:
    start(page, 1.5)
    wait_for(page, "running")
    expect(page.locator(".pane h2")).to_have_text("E-n51-k5")
    wait_for(page, "done")
    assert number(figure(page, "best")) <= 560
    assert figure(page, "routes") == "5"
    assert number(figure(page, "iterations")) > 0
    page.get_by_role("tab", name="Operators").click()
    expect(page.locator(".operators tbody tr").first).to_contain_text("string")
    shares = page.locator(".operators tbody td:nth-child(2)").all_inner_texts()
    assert sum(float(text.rstrip(" %")) for text in shares) == pytest.approx(100, abs=3)
    page.get_by_role("tab", name="Unserved").click()
    expect(page.get_by_text("Every customer is on a route.")).to_be_visible()
    # The map is not empty: the canvas holds more than its background.
    colours = page.evaluate(
        """() => { const canvas = document.querySelector(".map .layer");
        const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
        return new Set(new Uint32Array(data.buffer)).size; }"""
    )
    assert colours > 20


def test_opens_a_file_that_is_dropped_and_shows_names_as_text(page: playwright.Page, tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    write_instance(bundled("P-n16-k8"), path)
    content = json.loads(path.read_text())
    markup = "<img src=x onerror=\"document.title='broken'\">"
    content["name"] = markup
    content["names"] = [f"{markup}{node}" for node in range(16)]
    page.evaluate(
        """([name, text]) => { const data = new DataTransfer(); data.items.add(new File([text], name));
        for (const kind of ["dragenter", "dragover", "drop"])
          document.body.dispatchEvent(
            new DragEvent(kind, { dataTransfer: data, bubbles: true, cancelable: true })); }""",
        [f"{markup}.json", json.dumps(content)],
    )
    expect(page.locator("#drop-title")).to_have_text(f"{markup}.json")
    page.fill("#time", "0.5")
    page.click("#start")
    wait_for(page, "done")
    expect(page.locator(".pane h2")).to_contain_text("<img src=x")
    page.get_by_role("tab", name="Routes").click()
    page.locator(".route summary").first.click()
    expect(page.locator(".stops td").filter(has_text="<img").first).to_be_visible()
    assert page.locator(".pane img, .choices img, #toast img").count() == 0
    assert page.title() == "neuralns studio"


def test_says_what_is_wrong_with_a_file(page: playwright.Page) -> None:
    page.set_input_files("#file", {"name": "odd.vrp", "mimeType": "text/plain", "buffer": b"nothing of use"})
    page.click("#start")
    expect(page.locator("#form-problem")).to_contain_text("odd.vrp")
    expect(page.locator(".pane")).to_have_count(0)


def test_pauses_goes_on_and_stops(page: playwright.Page) -> None:
    start(page, 60)
    wait_for(page, "running")
    page.get_by_role("button", name="Pause").click()
    wait_for(page, "paused")
    before = figure(page, "iterations")
    page.wait_for_timeout(600)
    assert figure(page, "iterations") == before
    page.locator(".front").focus()
    page.keyboard.press("Space")
    wait_for(page, "running")
    with page.expect_download() as saved:
        page.get_by_text("Take the best so far").click()
        page.locator("[data-format=sol]").click()
    assert "Route #1" in Path(saved.value.path()).read_text()
    wait_for(page, "running")
    page.keyboard.press("x")
    wait_for(page, "stopped")
    page.get_by_label("Seconds to go on for").fill("0.5")
    page.get_by_role("button", name="Go on for").click()
    wait_for(page, "done")
    expect(page.locator("#runs li")).to_have_count(2)


def test_shows_who_is_removed_in_slow_motion(page: playwright.Page) -> None:
    page.check("#slow")
    start(page, 60)
    expect(page.locator(".slow")).to_contain_text("removed")
    expect(page.locator(".mark.removed")).to_contain_text("just removed")
    page.get_by_role("button", name="Fast").click()
    expect(page.locator(".slow")).to_be_hidden()
    page.get_by_role("button", name="Stop").click()
    wait_for(page, "stopped")


def test_compares_two_selectors_by_one_click(page: playwright.Page) -> None:
    page.select_option("#instance", "E-n51-k5")
    page.fill("#time", "1")
    page.select_option("#selector", "random")
    page.select_option("#rival", "roulette")
    page.click("#compare")
    wait_for(page, "done", 2)
    chips = page.locator(".chip").all_inner_texts()
    assert {"selector random", "selector roulette"} <= set(chips)
    rows = page.locator(".comparison tbody tr")
    expect(rows).to_have_count(2)
    told = rows.all_inner_texts()
    assert any("lead" in text or "level" in text for text in told), told
    expect(page.locator(".comparison canvas")).to_be_visible()


def test_scrubs_through_the_improvements(page: playwright.Page) -> None:
    start(page, 1, "X-n110-k13")
    wait_for(page, "done")
    last = number(figure(page, "best"))
    slider = page.get_by_label("Improvement", exact=True)
    expect(page.locator(".scrubber output")).to_contain_text("improvements")
    slider.fill("0")
    expect(page.locator(".scrubber output")).to_contain_text("1 of")
    assert number(figure(page, "best")) > last
    for _ in range(int(str(slider.get_attribute("max")))):
        page.locator(".front").focus()
        page.keyboard.press("]")
    expect(page.locator(".figures dd").first).to_have_text(f"{last:,.0f}")


def test_downloads_every_format_and_tells_the_timetable(page: playwright.Page) -> None:
    start(page, 0.5)
    wait_for(page, "done")
    signs = {"sol": b"Route #1", "json": b"{", "csv": b",", "png": b"\x89PNG", "svg": b"<svg", "trace": b","}
    for form, sign in signs.items():
        with page.expect_download() as saved:
            page.locator(".menu summary").click()
            page.locator(f"[data-format={form}]").click()
        assert sign in Path(saved.value.path()).read_bytes(), form
    page.keyboard.press("t")
    expect(page.locator(".gantt")).to_be_visible()
    page.keyboard.press("r")
    expect(page.locator(".route")).to_have_count(5)
    page.locator(".route summary").first.click()
    expect(page.locator(".stops tbody tr").first).to_contain_text("depot")


def test_a_link_fills_in_the_same_run(page: playwright.Page) -> None:
    page.fill("#seed", "7")
    start(page, 0.5)
    wait_for(page, "done")
    page.get_by_role("button", name="Link").click()
    page.wait_for_url("**#run=*")
    told = json.loads(unquote(page.url.partition("#run=")[2]))
    assert told["instance"] == {"name": "E-n51-k5"}
    assert (told["options"]["seed"], told["options"]["time"]) == (7, 0.5)
    other = page.context.new_page()
    other.goto(page.url)
    other.wait_for_selector("html[data-ready=yes]")
    assert other.input_value("#seed") == "7"
    assert other.input_value("#instance") == "E-n51-k5"


def test_picks_up_again_when_the_network_is_back(page: playwright.Page) -> None:
    start(page, 4)
    wait_for(page, "running")
    page.context.set_offline(True)
    expect(page.locator("#banner")).to_be_visible()
    expect(page.locator("#banner-text")).to_contain_text("connection to the server is lost")
    page.context.set_offline(False)
    expect(page.locator("#banner")).to_be_hidden()
    wait_for(page, "done")


def test_finds_the_server_again_after_it_was_lost(browser: playwright.Browser, tmp_path: Path) -> None:
    server = Lost(tmp_path)
    try:
        with opened(browser, server.address) as page:
            start(page, 60)
            wait_for(page, "running")
            server.stop()
            expect(page.locator("#banner")).to_be_visible()
            server.start()
            expect(page.locator("#banner")).to_be_hidden()
            wait_for(page, "gone")
            expect(page.locator(".pane .problem")).to_contain_text("no longer knows this run")
            start(page, 0.5)
            wait_for(page, "done")
    finally:
        server.stop()


def test_fits_a_phone(page: playwright.Page) -> None:
    page.set_viewport_size({"width": 375, "height": 760})
    start(page, 0.5)
    wait_for(page, "done")
    assert page.evaluate("document.documentElement.scrollWidth") <= 375
    box = page.locator(".map").bounding_box()
    assert box is not None
    assert 300 < box["width"] <= 375
    assert box["height"] > 300
    page.get_by_role("tab", name="Timetable").click()
    expect(page.locator(".gantt")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 375


def test_lists_its_keys_and_follows_them(page: playwright.Page) -> None:
    page.keyboard.press("?")
    expect(page.locator("#keys")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#keys")).to_be_hidden()
    page.keyboard.press("e")
    expect(page.locator("#episode")).to_be_visible()
    expect(page.locator("#solve")).to_be_hidden()


def test_plays_an_episode_with_the_values_of_all_operators(page: playwright.Page) -> None:
    page.get_by_role("button", name="Episode", exact=True).click()
    page.select_option("#policy", "C101-20-paper")
    page.select_option("#episode-instance", "C101")
    page.get_by_role("button", name="Play the episode").click()
    expect(page.locator(".episode-body")).to_be_visible(timeout=2 * PATIENCE)
    destroys = page.locator(".q-values").first
    assert destroys.locator("tr").count() >= 2
    expect(destroys.locator("tr.chosen")).to_have_count(1)
    page.get_by_label("Next state").click()
    expect(page.locator(".episode-body .mark.removed")).to_contain_text("just removed")
    page.get_by_label("State of the episode").fill("20")
    expect(page.locator(".episode-body h3")).to_contain_text("the end")
