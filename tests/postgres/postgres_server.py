# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""A PostgreSQL server for a test, in a folder of its own (the script `server`)."""

import os
import random
import subprocess
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))


class Missing(Exception):
    """Names the package that is not installed."""


class Server:
    """Stopped when this process ends, whatever ends it: the script reads from a pipe of ours."""

    def __init__(self, conf="fsync = on"):
        self.folder = tempfile.mkdtemp(prefix="assay-postgres-")
        self.script = subprocess.Popen(
            [os.path.join(HERE, "server"), self.folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env={**os.environ, "ASSAY_TEST_POSTGRES_CONF": conf}, start_new_session=True)  # fmt: skip
        answer = self.script.stdout.readline().strip()
        if answer != "ready":
            raise Missing(answer or "missing: a server that starts")

    def order(self, what):
        self.script.stdin.write(what + "\n")
        self.script.stdin.flush()
        return self.script.stdout.readline().strip()

    def restart(self):
        self.order("kill")
        time.sleep(random.uniform(0, 0.3))
        if self.order("start") != "ready":
            raise RuntimeError("the server did not come back")

    def url(self, database="postgres", user="keeper", password=""):
        secret = ":" + password if password else ""
        return f"postgresql://{user}{secret}@/{database}?host={self.folder}"

    def sql(self, text, database="postgres"):
        return subprocess.run(["psql", "-qAtX", self.url(database), "-c", text], check=True, capture_output=True, text=True).stdout

    def end(self):
        self.script.stdin.close()
        self.script.wait()
