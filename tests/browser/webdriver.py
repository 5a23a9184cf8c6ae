"""A browser that tests drive: the WebDriver protocol (https://www.w3.org/TR/webdriver2/) with the standard library."""

import base64
import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

PATIENCE = 120  # seconds; a machine at a load of ten meets it, and who waits goes on as soon as the condition holds
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
KEYS = {"Tab": "\ue004", "Enter": "\ue007", "Escape": "\ue00c", "End": "\ue010", "Home": "\ue011", "ArrowLeft": "\ue012",
        "ArrowUp": "\ue013", "ArrowRight": "\ue014", "ArrowDown": "\ue015", "Shift": "\ue008", "Control": "\ue009"}


def find_browser():
    """The paths of browser and driver, or None where one is missing."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    return (browser, driver) if browser and driver else None


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def wait_until(holds, what):
    """Polls until `holds()` is true, and returns that value; after PATIENCE the test fails."""
    deadline = time.monotonic() + PATIENCE
    while not (value := holds()):
        if time.monotonic() > deadline:
            raise AssertionError(f"did not happen within {PATIENCE} s: {what}")
        time.sleep(0.03)
    return value


class Browser:
    """Headless Chromium. `dark`: prefers dark colours; `downloads`: where files are saved."""

    def __init__(self, width=1280, height=900, dark=False, downloads=None):
        browser, driver = find_browser()
        port = free_port()
        self.profile = tempfile.mkdtemp(prefix="heed-browser-")
        self.driver = subprocess.Popen([driver, f"--port={port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.root = f"http://127.0.0.1:{port}"
        arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
                     "--force-color-profile=srgb", "--disable-background-networking", "--disable-component-update",
                     "--no-first-run", f"--window-size={width},{height}", f"--user-data-dir={self.profile}"]
        options = {"binary": browser, "args": arguments}
        if downloads:
            options["prefs"] = {"download.default_directory": downloads}
        wanted = {"browserName": "chrome", "goog:chromeOptions": options,
                  "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"}}
        self.session = None
        try:
            self._wait_for_driver()
            answer = self._call("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
            self.session = answer["sessionId"]
            self.resize(width, height, dark)
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        if self.session:
            try:
                self._call("DELETE", f"/session/{self.session}")
            except (OSError, RuntimeError):
                pass
        self.driver.terminate()
        self.driver.wait()
        shutil.rmtree(self.profile, ignore_errors=True)

    def _wait_for_driver(self):
        def answers():
            try:
                return self._call("GET", "/status")
            except OSError:
                return None
        wait_until(answers, "chromedriver answers")

    def _call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.root + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            value = json.load(error)["value"]
            raise RuntimeError(f"{value['error']}: {value['message']}") from None

    def call(self, method, path, body=None):
        return self._call(method, f"/session/{self.session}{path}", body)

    def cdp(self, command, **parameters):
        """A command of Chromium's own protocol."""
        return self.call("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def resize(self, width, height, dark=False, ratio=1):
        self.cdp("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=ratio, mobile=False)
        self.cdp("Emulation.setEmulatedMedia",
                 features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def open(self, url):
        self.call("POST", "/url", {"url": url})

    def enter_frame(self, number):
        """Everything that follows is about this frame of the page; None: the page again."""
        self.call("POST", "/frame", {"id": number})

    def run(self, script, *arguments):
        """The value of a function body in the page."""
        return self.call("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def wait(self, script, what):
        """Until the expression is true."""
        wait_until(lambda: self.run(f"return !!({script})"), what)

    def press(self, *keys):
        """Presses keys one after the other; those joined by + together."""
        actions = []
        for combination in keys:
            names = [KEYS.get(key, key) for key in combination.split("+")]
            actions += [{"type": "keyDown", "value": name} for name in names]
            actions += [{"type": "keyUp", "value": name} for name in reversed(names)]
        self.call("POST", "/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})

    def move(self, x, y):
        """Moves the pointer in the window."""
        self.call("POST", "/actions", {"actions": [{"type": "pointer", "id": "mouse", "actions": [
            {"type": "pointerMove", "x": int(x), "y": int(y), "duration": 0}]}]})

    def click(self, selector):
        found = self.call("POST", "/element", {"using": "css selector", "value": selector})
        self.call("POST", f"/element/{found[ELEMENT]}/click", {})

    def screenshot(self, path, whole=False):
        """The window, or the whole page."""
        options = {"format": "webp", "quality": 92} if str(path).endswith(".webp") else {"format": "png"}
        if whole:
            size = self.cdp("Page.getLayoutMetrics")["cssContentSize"]
            options |= {"captureBeyondViewport": True,
                        "clip": {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}}
        image = base64.b64decode(self.cdp("Page.captureScreenshot", **options)["data"])
        with open(path, "wb") as file:
            file.write(image)

    def console(self):
        """Messages of the console that are warnings or errors, since the last call."""
        return [entry["message"] for entry in self.call("POST", "/se/log", {"type": "browser"})
                if entry["level"] in ("WARNING", "SEVERE")]

    def requests(self):
        """The addresses that pages asked for, since the last call."""
        events = [json.loads(entry["message"])["message"]
                  for entry in self.call("POST", "/se/log", {"type": "performance"})]
        return [event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"]
