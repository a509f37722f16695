# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Drives a headless Chromium over its debugging pipe: JSON messages that end with a zero byte."""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time


class Browser:
    """One page. Keeps every console message, exception and request it sees."""

    def __init__(self, dark=False, width=1366, height=900, phone=False):
        self._profile = tempfile.mkdtemp(prefix="assay-browser-")
        ours_in, theirs_out = os.pipe()
        theirs_in, ours_out = os.pipe()

        def take_pipes():  # the browser reads 3 and writes 4
            read, write = os.dup(theirs_in), os.dup(theirs_out)
            os.dup2(read, 3)
            os.dup2(write, 4)

        self._process = subprocess.Popen(
            ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run",
             "--disable-dev-shm-usage", "--disable-extensions", "--disable-background-networking",
             "--disable-component-update", "--enable-unsafe-swiftshader", "--remote-debugging-pipe",
             f"--user-data-dir={self._profile}", "about:blank"],
            preexec_fn=take_pipes, pass_fds=(3, 4), stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, "HOME": self._profile},
        )  # fmt: skip
        os.close(theirs_in)
        os.close(theirs_out)
        self._in, self._out, self._buffer, self._next = ours_in, ours_out, b"", 0
        self.console, self.requests = [], []
        target = self._call("Target.createTarget", {"url": "about:blank"}, None)["targetId"]
        attached = self._call("Target.attachToTarget", {"targetId": target, "flatten": True}, None)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self._call(domain + ".enable")
        self._call("Emulation.setDeviceMetricsOverride",
                   {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": phone})  # fmt: skip
        self.set_dark(dark)

    def set_dark(self, dark):
        value = "dark" if dark else "light"
        self._call("Emulation.setEmulatedMedia",
                   {"features": [{"name": "prefers-color-scheme", "value": value}]})  # fmt: skip

    def close(self):
        try:
            self._call("Browser.close", {}, None)
        except (OSError, RuntimeError):
            pass
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._in)
        os.close(self._out)
        shutil.rmtree(self._profile, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def open(self, url):
        self._call("Page.navigate", {"url": url})
        self.wait("document.querySelector('#content[data-ready]') !== null", "the page is drawn")

    def go(self, fragment, ready=None):
        """Follows a link to another view of the same file."""
        view = fragment.lstrip("#/").split("/")[0].split("?")[0]
        self.run("document.getElementById('content').removeAttribute('data-ready')")
        self.run(f"""(hash => {{ if (location.hash === hash) dispatchEvent(new HashChangeEvent('hashchange'));
                     else location.hash = hash; }})({json.dumps(fragment)})""")
        self.wait(f"document.getElementById('content').dataset.ready === {json.dumps(ready or view)}",
                  f"the view {fragment[:80]}")  # fmt: skip

    def run(self, expression):
        """The value of a JavaScript expression."""
        result = self._call(
            "Runtime.evaluate",
            {"expression": expression, "returnByValue": True, "awaitPromise": True},
        )
        if "exceptionDetails" in result:
            raise RuntimeError(f"{expression[:200]}: {json.dumps(result['exceptionDetails'])[:800]}")
        return result["result"].get("value")

    def wait(self, expression, what, seconds=120):
        """Until an expression is true; the deadline only ends what would hang."""
        deadline = time.monotonic() + seconds
        while not self.run(f"Boolean({expression})"):
            if time.monotonic() > deadline:
                raise RuntimeError(f"waited in vain until {what}; console: {self.console[:3]}")
            self._drain(0.02)

    def key(self, name, text=None):
        codes = {"Tab": 9, "Enter": 13, " ": 32, "ArrowDown": 40}
        event = {"key": name, "code": "Space" if name == " " else name,
                 "windowsVirtualKeyCode": codes.get(name, 0)}  # fmt: skip
        if name == "Enter":
            text = "\r"
        self._call("Input.dispatchKeyEvent", {**event, "type": "keyDown", **({"text": text} if text else {})})
        self._call("Input.dispatchKeyEvent", {**event, "type": "keyUp"})

    def type(self, text):
        self._call("Input.insertText", {"text": text})

    def move_mouse(self, x, y):
        self._call("Input.dispatchMouseEvent", {"type": "mouseMoved", "x": x, "y": y})

    def drag_mouse(self, x0, y0, x1, y1):
        common = {"button": "left", "buttons": 1, "clickCount": 1}
        self._call("Input.dispatchMouseEvent", {"type": "mousePressed", "x": x0, "y": y0, **common})
        for i in range(1, 6):
            self._call("Input.dispatchMouseEvent", {"type": "mouseMoved", "x": x0 + (x1 - x0) * i / 5,
                       "y": y0 + (y1 - y0) * i / 5, **common})  # fmt: skip
        self._call("Input.dispatchMouseEvent", {"type": "mouseReleased", "x": x1, "y": y1, **common})

    def draw_all(self):
        """Scrolls through the page so that every chart is drawn; on a busy machine it takes a while until one is seen."""
        self.run("""(async () => { for (const c of document.querySelectorAll('[data-chart]')) {
            c.scrollIntoView({block: 'center'});
            for (let i = 0; i < 500 && (i == 0 || !('drawn' in c.dataset)); ++i) await new Promise(r => setTimeout(r, 30));
            } window.scrollTo(0, 0); })()""")
        self.wait("[...document.querySelectorAll('[data-chart]')].every(c => 'drawn' in c.dataset)",
                  "all charts are drawn")  # fmt: skip

    def screenshot(self, path, whole=True):
        parameters = {"format": "png"}
        if whole:
            size = self._call("Page.getLayoutMetrics")["cssContentSize"]
            parameters.update(captureBeyondViewport=True, clip={"x": 0, "y": 0, "scale": 1,
                              "width": size["width"], "height": min(size["height"], 6000)})  # fmt: skip
        data = self._call("Page.captureScreenshot", parameters)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def _call(self, method, parameters=None, session=""):
        self._next += 1
        message = {"id": self._next, "method": method, "params": parameters or {}}
        if session is not None:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        wanted = self._next
        while True:
            for answer in self._read(60):
                if answer.get("id") == wanted:
                    if "error" in answer:
                        raise RuntimeError(f"{method}: {answer['error']}")
                    return answer["result"]
                self._note(answer)

    def _drain(self, seconds):
        for message in self._read(seconds, must=False):
            self._note(message)

    def _read(self, seconds, must=True):
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._in], [], [], seconds)
            if not ready:
                if must:
                    raise RuntimeError("the browser does not answer")
                return
            chunk = os.read(self._in, 1 << 20)
            if not chunk:
                raise RuntimeError("the browser ended")
            self._buffer += chunk
        while b"\0" in self._buffer:
            line, self._buffer = self._buffer.split(b"\0", 1)
            yield json.loads(line)

    def _note(self, message):
        method, params = message.get("method"), message.get("params", {})
        if method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
            self.console.append(f"{params['type']}: {json.dumps(params['args'])[:600]}")
        elif method == "Runtime.exceptionThrown":
            self.console.append(json.dumps(params["exceptionDetails"])[:800])
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            # The renderer's advice on speed, given where it draws without a graphics processor.
            if params["entry"]["source"] != "rendering":
                self.console.append(json.dumps(params["entry"])[:800])
        elif method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
