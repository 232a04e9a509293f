"""The page in Chromium, and the program that serves it."""

import base64
import os
import pathlib
import re
import signal
import subprocess
import time

from selenium import webdriver
from selenium.common.exceptions import TimeoutException
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import Select, WebDriverWait

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ["LATRUNCULI"]
PICTURES = pathlib.Path(os.environ["PICTURES"]).resolve()

# Known to every script that a test runs in the page.
PRELUDE = """const $ = (selector) => document.querySelector(selector), $$ = (selector) => [...document.querySelectorAll(selector)];
const stored = () => JSON.parse(localStorage.getItem("latrunculi.game"));\n"""


def program(*arguments):
    """Runs the program; returns what it prints."""
    done = subprocess.run([PROGRAM, *map(str, arguments)], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


class Served:
    """The program, serving folders of its own."""

    def __init__(self, folder):
        own = folder / "own.toml"
        own.write_text('id = "own"\nbase = "bell-8x8"\n[end]\nquiet_limit = 9\n')
        command = [PROGRAM, "serve", "--port", "0", "--runs", folder / "runs", "--studies", folder / "studies", "--rulesets", own]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)
        self.url = re.search(r"http://\S+", self.process.stdout.readline()).group()

    def end(self):
        """Presses Ctrl-C; the program must end within two seconds."""
        begin = time.monotonic()
        self.process.send_signal(signal.SIGINT)
        assert self.process.wait(timeout=10) == 0
        self.process.stdout.close()
        assert time.monotonic() - begin < 2


class Page(webdriver.Chrome):
    """Chromium without a window."""

    url = None

    def __init__(self):
        options = webdriver.ChromeOptions()
        options.binary_location = os.environ["CHROMIUM"]
        for argument in ["headless", "no-sandbox", "disable-gpu", "disable-background-networking", "no-first-run", "disable-dev-shm-usage",
                         "hide-scrollbars"]:
            options.add_argument(f"--{argument}")
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        super().__init__(options, Service(os.environ["CHROMEDRIVER"]))
        self.set_script_timeout(120)

    def resize(self, width=1280, height=900, dark=False):
        """Gives the page this size, whatever the window's least width is, and the colours that it prefers."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": scheme})

    def open(self, part):
        """Opens a part of the page as for the first time."""
        # No page is open while its storage is cleared: it could store its game again.
        self.get("about:blank")
        self.execute_cdp_cmd("Storage.clearDataForOrigin", {"origin": self.url.rstrip("/"), "storageTypes": "local_storage"})
        self.reopen(part)

    def reopen(self, part=""):
        """Loads the page again; it still knows what it has stored."""
        self.get("about:blank")
        self.get(f"{self.url}#{part}")

    def show(self, part):
        """Goes to a part of the page that is open."""
        self.run("location.hash = arguments[0]", part)
        self.wait("return !$(`#${arguments[0]}`).hidden", re.split("[/?]", part)[0])

    def run(self, script, *arguments):
        """Runs the body of a function in the page; returns what it returns."""
        return self.execute_script(PRELUDE + script, *arguments)

    def run_async(self, script, *arguments):
        """Runs the body of a function that calls its last argument back; returns with what."""
        return self.execute_async_script(PRELUDE + script, *arguments)

    def request(self, path, body):
        """Asks the program as the page does."""
        return self.run("""const request = new XMLHttpRequest();
            request.open("POST", arguments[0], false);
            request.setRequestHeader("content-type", "application/json");
            request.send(JSON.stringify(arguments[1]));
            return JSON.parse(request.responseText);""", path, body)

    def wait(self, script, *arguments, seconds=60):
        """Waits until a script returns something true, and returns it."""
        try:
            return WebDriverWait(self, seconds, 0.05).until(lambda _: self.run(script, *arguments))
        except TimeoutException:
            said = self.run("return document.body.innerText")
            raise AssertionError(f"nothing after {seconds} s of: {script} {arguments}\nthe page says: {said}") from None

    def wait_for(self, selector, count=None):
        """Waits until there is something, or so many of it."""
        self.wait("const found = $$(arguments[0]).length; return arguments[1] === null ? found : found === arguments[1]", selector, count)

    def wait_text(self, selector, text, seconds=60):
        self.wait("return $(arguments[0])?.textContent.includes(arguments[1])", selector, text, seconds=seconds)

    def text(self, selector):
        return self.run("return $(arguments[0])?.textContent ?? null", selector)

    def count(self, selector):
        return len(self.find_elements(By.CSS_SELECTOR, selector))

    def click(self, selector):
        self.find_element(By.CSS_SELECTOR, selector).click()

    def click_button(self, text, within="body"):
        """Clicks the visible button with this text, as soon as there is one."""
        self.wait("return $$(`${arguments[1]} button`).find((one) => one.textContent === arguments[0] && one.offsetParent)", text, within).click()

    def field(self, label, kind="select"):
        """Returns the visible field with this label."""
        return self.wait("""return $$("label").find((one) => one.offsetParent && one.firstChild.textContent === arguments[0])?.querySelector(arguments[1])""",
                         label, kind)

    def choose(self, label, value):
        """Chooses an option of the field with this label, by its value."""
        Select(self.field(label)).select_by_value(value)

    def press(self, *keys):
        """Presses keys one after the other wherever the focus is."""
        for key in keys:
            self.switch_to.active_element.send_keys(key)

    def screenshot(self, name):
        """Keeps a picture of the whole page."""
        width, height = self.run("return [document.documentElement.clientWidth, Math.min(4000, document.documentElement.scrollHeight)]")
        clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
        taken = self.execute_cdp_cmd("Page.captureScreenshot", {"clip": clip, "captureBeyondViewport": True})
        (PICTURES / name).write_bytes(base64.b64decode(taken["data"]))

    def complaints(self):
        """Returns what the page has complained of since the last question."""
        return [entry["message"] for entry in self.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]

    # What a person does first in Play.

    def open_play(self):
        self.open("play")
        self.wait_for("#play [data-square]")

    def begin(self, ruleset, first, second):
        """Begins a game."""
        self.choose("Ruleset", ruleset)
        # Where nothing was played it takes effect at once.
        self.wait("return stored().ruleset === arguments[0] || $('#play .moves button')", ruleset)
        self.choose("Player 1", first)
        self.choose("Player 2", second)
        before = self.run("return stored().seed")
        self.click_button("New game", "#play")
        # Each game has a seed of its own.
        self.wait("return stored().seed !== arguments[2] && stored().ruleset === arguments[0] && stored().agents.join() === arguments[1]",
                  ruleset, f"{first},{second}", before)
