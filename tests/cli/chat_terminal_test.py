# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""`assay llm chat` as a person at a terminal has it: lines, Ctrl-C, and what a terminal does to long ones."""

import fcntl
import os
import pty
import select
import signal
import subprocess
import termios
import time

from assay_cli import ASSAY, CliTest, main


class ChatInATerminal(CliTest):
    def talk(self, *more):
        model = self.path("model")
        if not os.path.exists(model):
            self.run_ok("llm", "init", "--family", "qwen3", "--size", "tiny", "--seed", "3", "--out", model)
        self.ours, theirs = pty.openpty()
        self.process = subprocess.Popen([ASSAY, "llm", "chat", "--model", model, *more], stdin=theirs, stdout=theirs,
                                        stderr=theirs, start_new_session=True,
                                        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))  # fmt: skip
        os.close(theirs)
        self.said = ""
        self.wait_for("> ")

    def wait_for(self, text):
        """Until the program has said it, behind all that was waited for before; returns what came with it."""
        deadline = time.monotonic() + 300  # ends what would hang
        while text not in self.said:
            self.assertLess(time.monotonic(), deadline, self.said)
            if select.select([self.ours], [], [], 1)[0]:
                try:
                    self.said += os.read(self.ours, 65536).decode(errors="replace")
                except OSError:  # the other end is closed
                    self.fail(f"it ended before it said {text!r}: {self.said}")
        before, self.said = self.said.split(text, 1)
        return before

    def type(self, text):
        os.write(self.ours, text.encode())

    def end(self, status):
        try:
            while os.read(self.ours, 65536):
                pass
        except OSError:
            pass
        os.close(self.ours)
        self.assertEqual(self.process.wait(300), status)

    def test_ctrl_c_leaves_the_line_and_keeps_the_conversation(self):
        self.talk("--max-tokens", "3")
        self.type("Hello!\n")
        self.wait_for("stopped by")
        self.wait_for("> ")
        self.type("never mi\x03")
        self.wait_for("Ctrl-D or /exit ends.")
        self.wait_for("> ")
        self.type("And now?\n")
        self.wait_for(" read, ")
        self.assertGreater(int(self.wait_for(" kept").strip()), 5)
        self.wait_for("> ")
        self.type("/exit\n")
        self.end(0)

    def test_a_line_that_the_terminal_cut_is_left_out(self):
        self.talk("--max-tokens", "3")
        self.type("a" * 5000 + "\n")
        self.wait_for("a terminal cuts lines after 4095 bytes")
        self.wait_for("> ")
        self.type("b" * 3000 + "\\\n" + "b" * 500 + "\n")
        self.wait_for("the conversation has")  # and does not fit: it came as a whole
        self.wait_for("> ")
        self.type("/exit\n")
        self.end(0)

    def test_sigterm_ends_it_in_mid_answer(self):
        self.talk("--max-tokens", "400")
        self.type("Hello!\n")
        self.wait_for("Hello!")
        self.wait_for("\n")
        while not self.said.strip():
            self.said += os.read(self.ours, 65536).decode(errors="replace")
        self.process.send_signal(signal.SIGTERM)
        self.wait_for("interrupted")
        self.end(130)


main()
