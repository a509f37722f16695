# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""A shared store over TLS, with a certificate that its server signed itself."""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest

from postgres_server import Missing, Server

ASSAY = sys.argv[1]
sys.argv[1:2] = []


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Tls(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not shutil.which("openssl"):
            raise unittest.SkipTest("missing: openssl")
        cls.folder = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        os.chmod(cls.folder, 0o755)
        cls.certificate, key = f"{cls.folder}/server.crt", f"{cls.folder}/server.key"
        subprocess.run(["openssl", "req", "-new", "-x509", "-days", "2", "-nodes", "-subj", "/CN=localhost", "-out", cls.certificate, "-keyout", key],
                       check=True, capture_output=True)  # fmt: skip
        os.chmod(key, 0o600)
        if os.getuid() == 0:
            shutil.chown(key, "nobody")  # whom the server runs as
        cls.port = free_port()
        try:
            cls.server = Server(f"fsync = off\nlisten_addresses = '127.0.0.1'\nport = {cls.port}\n"
                                f"ssl = on\nssl_cert_file = '{cls.certificate}'\nssl_key_file = '{key}'")  # fmt: skip
        except Missing as missing:
            raise unittest.SkipTest(str(missing))
        cls.addClassCleanup(cls.server.end)
        keeper = f"postgresql://keeper@/postgres?host={cls.server.folder}&port={cls.port}"
        for sql in ("CREATE ROLE lab LOGIN PASSWORD 'pa55'", "CREATE DATABASE lab OWNER lab"):
            subprocess.run(["psql", "-qX", keeper, "-c", sql], check=True)

    def verify(self, host, parameters, status=0):
        url = f"postgresql://lab:pa55@{host}:{self.port}/lab?{parameters}"
        subprocess.run([ASSAY, "store", "ingest", url, "/dev/null"], capture_output=True)
        said = subprocess.run([ASSAY, "store", "verify", url], capture_output=True, text=True)
        self.assertEqual(said.returncode, status, said.stderr)
        self.assertNotIn("pa55", said.stderr)
        return said.stdout + said.stderr

    def test_what_the_url_asks_for_is_done_or_why_not_is_told(self):
        self.assertIn("fine", self.verify("localhost", "sslmode=require"))
        own = f"sslmode=verify-full&sslrootcert={self.certificate}"
        self.assertIn("fine", self.verify("localhost", own))
        self.assertIn('"localhost" does not match host name "127.0.0.1"', self.verify("127.0.0.1", own, status=2))
        self.assertIn("root certificate file", self.verify("localhost", "sslmode=verify-ca&sslrootcert=/nonexistent", status=2))
        self.assertIn("no encryption", self.verify("localhost", "sslmode=disable", status=2))


if __name__ == "__main__":
    unittest.main()
