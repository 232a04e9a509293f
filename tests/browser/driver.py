"""A browser that a test drives: the WebDriver protocol, spoken with chromedriver, with nothing but Python itself."""

import base64
import json
import subprocess
import time
import urllib.error
import urllib.request

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
KEYS = {"left": "\ue012", "up": "\ue013", "right": "\ue014", "down": "\ue015", "enter": "\ue007", "tab": "\ue004"}


class Browser:
    """Chromium without a window. It ends with the `with` block."""

    def __init__(self, chromium, chromedriver, dark=False, size=(1280, 900)):
        self.process = subprocess.Popen([chromedriver, "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.base = None
        for line in self.process.stdout:
            if "started successfully on port" in line:
                self.base = "http://127.0.0.1:" + line.rsplit(" ", 1)[1].strip().rstrip(".")
                break
        if self.base is None:
            raise RuntimeError("chromedriver does not start")
        arguments = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run",
                     "--disable-dev-shm-usage", "--hide-scrollbars", f"--window-size={size[0]},{size[1]}"]
        if dark:
            arguments.append("--blink-settings=preferredColorScheme=0")
        options = {"binary": chromium, "args": arguments}
        wanted = {"browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
        answer = self.call("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        self.base += "/session/" + answer["sessionId"]
        self.resize(*size, dark=dark)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.call("DELETE", "")
        finally:
            self.process.terminate()
            self.process.wait()
            self.process.stdout.close()

    def call(self, method, path, body=None):
        data = None if method != "POST" else json.dumps(body or {}).encode()
        request = urllib.request.Request(self.base + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(json.load(error)["value"]["message"]) from None

    def resize(self, width, height, dark=False):
        """Gives the page this size, whatever the window's least width is, and the colours that it prefers."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.devtools("Emulation.setDeviceMetricsOverride", metrics)
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.devtools("Emulation.setEmulatedMedia", {"features": scheme})

    def devtools(self, command, parameters):
        return self.call("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def open(self, url):
        self.call("POST", "/url", {"url": url})

    def run(self, script, *arguments):
        """Runs the body of a function in the page; returns what it returns."""
        return self.call("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def run_async(self, script, *arguments):
        """Runs the body of a function that calls its last argument back; returns with what."""
        return self.call("POST", "/execute/async", {"script": script, "args": list(arguments)})

    def find(self, selector):
        found = self.call("POST", "/element", {"using": "css selector", "value": selector})
        return found[ELEMENT]

    def click(self, selector):
        self.call("POST", f"/element/{self.find(selector)}/click")

    def click_button(self, text, within="body"):
        """Clicks the visible button with this text."""
        script = """return [...document.querySelectorAll(arguments[1] + " button")]
            .find((one) => one.textContent === arguments[0] && one.offsetParent)"""
        found = self.run(script, text, within)
        assert found, f"there is no button {text!r}"
        self.call("POST", f"/element/{found[ELEMENT]}/click")

    def within(self, selector):
        """Turns to the document of a frame; with None, back to the page itself."""
        self.call("POST", "/frame", {"id": selector and {ELEMENT: self.find(selector)}})

    def type(self, selector, text):
        self.call("POST", f"/element/{self.find(selector)}/value", {"text": text})

    def press(self, *keys):
        """Presses keys one after the other wherever the focus is."""
        actions = [{"type": kind, "value": KEYS.get(key, key)} for key in keys for kind in ("keyDown", "keyUp")]
        self.call("POST", "/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})

    def choose(self, label, value):
        """Chooses an option of the field with this label, by its value."""
        script = """const [label, value] = arguments;
            const field = [...document.querySelectorAll("label")].find(
                (one) => one.offsetParent && one.firstChild.textContent === label).querySelector("select");
            if (![...field.options].some((option) => option.value === value)) return [...field.options].map((one) => one.value);
            field.value = value;
            field.dispatchEvent(new Event("change"));"""
        offered = self.run(script, label, value)
        assert offered is None, f"{label} offers no {value!r} but {offered}"

    def wait(self, script, *arguments, seconds=60):
        """Waits until a script returns something true, and returns it."""
        end = time.monotonic() + seconds
        while True:
            found = self.run(script, *arguments)
            if found:
                return found
            if time.monotonic() > end:
                raise AssertionError(f"nothing after {seconds} s of: {script}\nthe page says: {self.run('return document.body.innerText')}")
            time.sleep(0.05)

    def wait_text(self, selector, text, seconds=60):
        script = "return document.querySelector(arguments[0])?.textContent.includes(arguments[1])"
        self.wait(script, selector, text, seconds=seconds)

    def screenshot(self, path):
        """Keeps a picture of the whole page."""
        height = self.run("return Math.min(4000, document.documentElement.scrollHeight)")
        width = self.run("return document.documentElement.clientWidth")
        clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
        taken = self.devtools("Page.captureScreenshot", {"clip": clip, "captureBeyondViewport": True})
        path.write_bytes(base64.b64decode(taken["data"]))

    def complaints(self):
        """Returns what the page has complained of since the last question."""
        entries = self.call("POST", "/se/log", {"type": "browser"})
        return [entry["message"] for entry in entries if entry["level"] in ("SEVERE", "WARNING")]
