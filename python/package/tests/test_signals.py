# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C during long calls, and threads that are inside of calls when the interpreter ends.

Each in a process of its own. What is interrupted would take a long while, most of it hours: a call that does not attend to
signals does not end in time."""

import subprocess
import sys

import pytest

WORK = {
    "a product": "assay.einsum('bij,bjk->ik', zeros(10**6, 300, 300), zeros(10**6, 300, 300))",
    "long rows": "assay.einsum('bij,bji->ij', zeros(10**9, 30, 30), zeros(10**9, 30, 30))",
    "a dot product": "assay.einsum('bij,bji->', zeros(10**9, 30, 30), zeros(10**9, 30, 30))",
    "reference": "assay.einsum('ij,jk->ik', numpy.ones((3000, 3000)), numpy.ones((3000, 3000)), backend='reference')",
    "cp": "assay.cp(numpy.random.rand(40, 40, 40), 5, sweeps=10**9, change=-1.0)",
    "mp2_energy": "assay.mp2_energy(numpy.random.rand(300, 220, 220), [-1.0] * 300, [1.0] * 220)",
    "matmul": "assay.semiring.matmul(numpy.zeros((20000, 3000)), numpy.zeros((3000, 20000)), 'log')",
    "transport.scan": "transport.scan(transport.prepare('example', (13, 17, 24)), numpy.logspace(-3, 1, 10**5))",
    "transport.solve": "transport.solve(transport.prepare('example', (45, 45, 400)), 1e-4, 1e-3)",
    "transport.derivatives": "transport.derivatives(transport.prepare('example', (45, 45, 400)), 1e-4, 1e-3)",
    "chip.simulate": "assay.chip.simulate(4096, 4096, 4096, variant='ref_ref')",
}
INTERRUPTED = """
import os, signal, threading
import assay, numpy
from assay import transport

def zeros(*shape):
    return numpy.broadcast_to(0.0, shape)

threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    {work}
except KeyboardInterrupt:
    print("interrupted")
print(assay.einsum("i->", numpy.ones(3)))
"""


def ran(script):
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=300, check=False)


@pytest.mark.parametrize("work", WORK)
def test_ctrl_c_is_noticed_during(work):
    done = ran(INTERRUPTED.format(work=WORK[work]))
    assert (done.returncode, done.stdout) == (0, "interrupted\n3.0\n"), done.stderr


HANDLED = """
import signal
import assay, numpy

class Enough(Exception):
    pass

def enough(number, frame):
    assay.einsum("ij,jk->ik", numpy.ones((90, 90)), numpy.ones((90, 90)))  # inside of a call
    raise Enough

def resident_bytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096

signal.signal(signal.SIGALRM, enough)
x = numpy.random.rand(60, 60, 60)
sizes = []
for _ in range(20):
    signal.setitimer(signal.ITIMER_REAL, 0.1)
    try:
        assay.cp(x, 20, sweeps=10**9, change=-1.0)
    except Enough:
        sizes.append(resident_bytes())
assert len(sizes) == 20
assert sizes[-1] - sizes[4] < 20_000_000, sizes
"""


def test_what_a_handler_raises_ends_the_call_and_nothing_is_lost():
    done = ran(HANDLED)
    assert done.returncode == 0, done.stderr


DAEMONS = """
import threading, time
import assay, numpy
from assay import transport

a = numpy.random.rand(300, 300)
prepared = transport.prepare("example", (9, 9, 8))
inside = threading.Barrier(5)

def calls(call):
    inside.wait()
    while True:
        call()

for call in (lambda: assay.einsum("ij,jk->ik", a, a), lambda: assay.semiring.matmul(a, a), lambda: assay.cp(a, 3),
             lambda: transport.solve(prepared, 0.1)):
    threading.Thread(target=calls, args=(call,), daemon=True).start()
inside.wait()
time.sleep({pause})
"""


def test_the_interpreter_ends_while_threads_are_inside_of_calls():
    for pause in range(20):
        done = ran(DAEMONS.format(pause=0.005 * pause))
        assert (done.returncode, done.stderr) == (0, "")


FORKED = """
import os, threading, time
import assay, numpy

assay.set_threads(8)
a = numpy.random.rand(60, 60, 60)
for _ in range(3):
    threading.Thread(target=assay.cp, args=(a, 20), kwargs={"sweeps": 10**9, "change": -1.0}, daemon=True).start()
time.sleep(0.2)
if os.fork() == 0:
    print("8 threads" in assay.plan("ij,jk->ik", (2000, 2000), (2000, 2000)).explain())
else:
    os.wait()
"""


def test_a_fork_has_all_threads_for_itself():
    done = ran(FORKED)
    assert (done.returncode, done.stdout) == (0, "True\n"), done


FOR_HOURS = """
import os, threading, time
import assay, numpy

x = numpy.random.rand(60, 60, 60)
threading.Thread(target=assay.cp, args=(x, 20), kwargs={"sweeps": 10**9, "change": -1.0}, daemon=True).start()
time.sleep(0.2)
child = os.fork()
if child != 0:
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
"""


def test_the_interpreter_and_its_forks_wait_for_no_daemon():
    done = ran(FOR_HOURS)
    assert (done.returncode, done.stderr) == (0, "")
