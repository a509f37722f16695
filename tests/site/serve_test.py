# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""The server: what it answers, to whom, and that rows appear while a run is in progress."""

import contextlib
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

from browser import Browser

ASSAY, EXAMPLE_ROWS = sys.argv[1:3]
sys.argv[1:3] = []


class Served(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="assay-serve-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.results = self.folder + "/results"
        os.mkdir(self.results)
        self.environment = {**os.environ, "ASSAY_MACHINE_DIR": self.folder, "ASSAY_LOCK_DIR": self.folder, "ASSAY_PEERS": "/nonexistent"}

    def examples(self, rows=600):
        """Journals of example rows beside, not in, what is served: {name: lines}."""
        place = self.folder + "/examples"
        subprocess.run([EXAMPLE_ROWS, place, str(rows)], check=True, env=self.environment)
        journals = {}
        for name in sorted(os.listdir(place)):
            with open(os.path.join(place, name), "rb") as file:
                journals[name] = file.read().splitlines(keepends=True)
        return journals

    def serve(self, *arguments):
        self.server = subprocess.Popen([ASSAY, "serve", *arguments, "--port", "0"], cwd=self.folder, env=self.environment,
                                       stderr=subprocess.PIPE, text=True)  # fmt: skip
        self.addCleanup(self.server.stderr.close)
        self.addCleanup(self.server.wait)
        self.addCleanup(self.server.kill)
        self.address = self.server.stderr.readline().split()[0]
        self.port = int(re.search(r":(\d+)/$", self.address).group(1))

    def ask(self, method, path, headers=None, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, path, body=body, headers=headers or {})
            answer = connection.getresponse()
            return answer, answer.read()
        finally:
            connection.close()

    def data(self):
        answer, body = self.ask("GET", "/data.json")
        self.assertEqual(answer.status, 200)
        return json.loads(body)

    def test_answers_only_what_it_should(self):
        self.serve(self.results)
        answer, body = self.ask("GET", "/")
        self.assertEqual(answer.status, 200)
        self.assertIn(b"<!doctype html>", body[:100].lower())
        policy = answer.getheader("Content-Security-Policy")
        self.assertIn("default-src 'none'", policy)
        self.assertIn("connect-src 'self'", policy)
        script = re.search(r"script-src ([^;]*);", policy).group(1)
        self.assertRegex(script, r"^('sha256-[A-Za-z0-9+/=]{44}' ?){2}$")  # by hash, nothing else
        for name, value in (("X-Content-Type-Options", "nosniff"), ("X-Frame-Options", "DENY"),
                            ("Cross-Origin-Resource-Policy", "same-origin"), ("Cache-Control", "no-store")):
            self.assertEqual(answer.getheader(name), value)
        self.assertIsNone(answer.getheader("Access-Control-Allow-Origin"))
        for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS"):
            self.assertEqual(self.ask(method, "/data.json", body=b"")[0].status, 405, method)
        for path in ("/nothing", "/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/data.json/x", "/results"):
            self.assertEqual(self.ask("GET", path)[0].status, 404, path)
        self.assertEqual(self.ask("HEAD", "/")[0].status, 200)

    def test_answers_only_to_its_own_name(self):
        self.serve(self.results)
        for host in (f"evil.example:{self.port}", "evil.example", "127.0.0.1", "127.0.0.1:1", "", f"localhost.evil.example:{self.port}"):
            self.assertEqual(self.ask("GET", "/data.json", {"Host": host})[0].status, 403, host)
        for host in (f"127.0.0.1:{self.port}", f"localhost:{self.port}", f"[::1]:{self.port}"):
            self.assertEqual(self.ask("GET", "/data.json", {"Host": host})[0].status, 200, host)

    def raw(self, request):
        """What comes back for these bytes until the server closes, or has answered a head."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=60) as connection:
            connection.sendall(request)
            received = b""
            while b"\r\n\r\n" not in received:
                more = connection.recv(65536)
                if not more:
                    break
                received += more
            return received

    def test_requests_that_mean_two_things_are_refused(self):
        self.serve(self.results)
        host = f"Host: localhost:{self.port}\r\n"
        self.assertTrue(self.raw(f"GET / HTTP/1.1\r\n{host}\r\n".encode()).startswith(b"HTTP/1.1 200"))
        for request, status in (
            (f"GET / HTTP/1.1\r\n{host}Host: evil.example\r\n\r\n", 400),
            (f"GET / HTTP/1.1\r\nHost: evil.example\r\n{host}\r\n", 400),
            ("GET / HTTP/1.1\r\n\r\n", 400), (f"GET / HTTP/1.1\r\n{host}Content-Length: 3\r\n\r\nabc", 413),
            ("GET /" + "x" * 20_000, 414), ("GET / HTTP/1.1\r\nX: " + "x" * 20_000, 431), ("\x16\x03\x01 / \n", 400),
            (f"GET / HTTP/3.0\r\n{host}\r\n", 505),
        ):  # fmt: skip
            self.assertTrue(self.raw(request.encode()).startswith(f"HTTP/1.1 {status}".encode()), request[:80])
        # Two in one packet are two answers.
        with socket.create_connection(("127.0.0.1", self.port), timeout=60) as connection:
            connection.sendall(f"HEAD / HTTP/1.1\r\n{host}\r\nHEAD /x HTTP/1.1\r\n{host}Connection: close\r\n\r\n".encode())
            received = b"".join(iter(lambda: connection.recv(65536), b""))
        self.assertEqual(re.findall(rb"HTTP/1.1 (\d+)", received), [b"200", b"404"])

    def test_slow_and_silent_connections_block_nobody(self):
        self.serve(self.results)
        self.data()
        connect = lambda: socket.create_connection(("127.0.0.1", self.port), timeout=60)
        silent = [connect() for _ in range(100)]
        dripping = [connect() for _ in range(40)]
        reading = [connect() for _ in range(40)]  # that ask for the page and take nothing of it
        for one in reading:
            one.sendall(f"GET / HTTP/1.1\r\nHost: localhost:{self.port}\r\n\r\n".encode())
        ended = threading.Event()

        def drip():
            left = list(dripping)
            while not ended.wait(0.2):
                for one in list(left):
                    try:
                        one.sendall(b"G" if one is left[0] else b"X")
                    except OSError:
                        left.remove(one)

        thread = threading.Thread(target=drip)
        thread.start()
        try:
            for _ in range(5):
                self.assertEqual(self.ask("GET", "/data.json")[0].status, 200)
            # A head that is never finished is given up, however steadily it grows.
            dripping[-1].settimeout(60)
            with contextlib.suppress(ConnectionResetError):
                self.assertEqual(dripping[-1].recv(1), b"")
            self.assertEqual(self.ask("GET", "/")[0].status, 200)
            # More connections than there are places: the oldest of them go.
            silent += [connect() for _ in range(400)]
            self.assertEqual(self.ask("GET", "/data.json")[0].status, 200)
        finally:
            ended.set()
            thread.join()
            for one in silent + dripping + reading:
                one.close()

    def test_other_machines_only_when_told(self):
        for host in ("0.0.0.0", "::", "192.0.2.1"):
            refused = subprocess.run([ASSAY, "serve", self.results, "--host", host, "--port", "0"], capture_output=True, text=True, timeout=60)
            self.assertEqual(refused.returncode, 2)
            self.assertIn("--expose", refused.stderr)
            self.assertEqual(refused.stderr.count("\n"), 1)
        missing = subprocess.run([ASSAY, "serve", self.folder + "/none", "--port", "0"], capture_output=True, text=True, timeout=60)
        self.assertEqual(missing.returncode, 2)
        self.assertIn("none", missing.stderr)

    def test_unchanged_data_is_not_sent_again(self):
        self.serve(self.results)
        tag = self.ask("GET", "/data.json")[0].getheader("ETag")
        answer, body = self.ask("GET", "/data.json", {"If-None-Match": tag})
        self.assertEqual((answer.status, body), (304, b""))

    def test_survives_what_writers_leave(self):
        (name, lines), *_ = self.examples().items()
        path = os.path.join(self.results, name)
        self.serve(self.results)
        self.assertEqual(self.data()["rows"]["count"], 0)

        def write(content, mode="wb"):
            with open(path, mode) as file:
                file.write(content)

        write(b"".join(lines[:5]) + lines[5][:40])  # torn
        self.assertEqual(self.until(lambda d: d["rows"]["count"])["rows"]["count"], 5)
        write(lines[5][40:], "ab")
        self.until(lambda d: d["rows"]["count"] == 6)
        write(b"".join(lines[:3]) + b"{damaged}\n" + b"".join(lines[3:8]))
        document = self.until(lambda d: d["warnings"])
        self.assertEqual(document["rows"]["count"], 6)  # what was read before stays
        self.assertIn(name, " ".join(document["warnings"]))
        write(b"".join(lines))
        self.until(lambda d: d["rows"]["count"] == len(lines) and not d["warnings"])
        # The same rows in a store as well are there once; a row that the store gets is seen.
        store = "sqlite:" + self.folder + "/lab.db"
        subprocess.run([ASSAY, "store", "ingest", store, self.results], check=True, env=self.environment, capture_output=True)
        self.server.send_signal(signal.SIGINT)
        self.assertEqual(self.server.wait(30), 0)
        self.serve(self.results, store)
        self.assertEqual(self.data()["rows"]["count"], len(lines))
        second = sorted(os.listdir(self.folder + "/examples"))[1]
        subprocess.run([ASSAY, "store", "ingest", store, f"{self.folder}/examples/{second}"], check=True, env=self.environment, capture_output=True)
        self.until(lambda d: d["rows"]["count"] > len(lines))

    def until(self, reached):
        """The data, asked for until it is as wanted; the deadline only ends what would hang."""
        deadline = time.monotonic() + 60
        while True:
            document = self.data()
            if reached(document):
                return document
            self.assertLess(time.monotonic(), deadline, document["rows"]["count"])

    def test_rows_appear_during_a_run(self):
        self.serve(self.results)
        with Browser() as browser:
            browser.open(self.address + "#/rows")
            self.assertIn("No rows yet", browser.run("document.getElementById('content').textContent"))
            run = subprocess.Popen([ASSAY, "run", "semiring_matmul", "--points", '{"n":32,"algebra":"real"}', "--providers", "reference,naive",
                                    "--rounds", "8", "--steady", "1ms", "--settle", "0.4s", "--max-steal", "100%", "--max-foreign", "100%", "--out", self.results],
                                   cwd=self.folder, env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
            counts = []
            count = "document.querySelectorAll('[data-table=rows] tbody tr').length"
            try:
                while run.poll() is None:
                    now = browser.run(count)
                    if not counts or counts[-1] != now:
                        counts.append(now)
                    browser.wait("true", "")
            finally:
                run.kill()
                self.assertEqual(run.wait(), 0)
            # Some were seen while others were still to come, without a reload.
            self.assertGreaterEqual(len([c for c in counts if 0 < c < 15]), 2, counts)
            browser.wait("document.querySelector('.live').textContent.includes('16 rows')", "all 16 rows are there")
            self.assertEqual(browser.console, [])
            asked = {url.split("#")[0] for url in browser.requests if not url.startswith("data:")}
            self.assertEqual(asked, {self.address, self.address + "data.json"})


if __name__ == "__main__":
    unittest.main()
