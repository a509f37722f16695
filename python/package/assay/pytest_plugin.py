# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""pytest's fixture `assay_benchmark`: measures what `assay.bench` made, into a journal and, at the end, to the gate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ._errors import UserError
from ._texts import shown


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("assay")
    group.addoption("--assay-out", default="results", help="folder for the journals of assay_benchmark (results)")
    group.addoption("--assay-full", action="store_true", help="all points and long attempts, not --quick")
    group.addoption("--assay-baseline", help="rows that this session's must not be slower than: assay gate at the end")


def _is_worker(config: pytest.Config) -> bool:
    """Whether pytest-xdist started this process for a part of the tests: who started it decides."""
    return hasattr(config, "workerinput")


def pytest_configure(config: pytest.Config) -> None:
    """A baseline that is not there is told before minutes of measurements, not after them."""
    baseline = config.getoption("--assay-baseline")
    if baseline is None or _is_worker(config):
        return
    from .lab import check_baseline

    out = config.getoption("--assay-out")
    if Path(baseline).resolve() == Path(out).resolve():
        raise pytest.UsageError(f"--assay-baseline is where --assay-out writes: {baseline}")
    try:
        check_baseline(baseline)
    except UserError as error:
        raise pytest.UsageError(f"--assay-baseline: {error}") from None


class Measurer:
    """The fixture: called with a benchmark, returns its rows; fails the test where one is wrong or broke."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    def __call__(self, benchmark: Any, **options: Any) -> Any:
        """`options` are those of `Benchmark.run`."""
        from ._bench import Benchmark

        if not isinstance(benchmark, Benchmark):
            raise TypeError("assay_benchmark: what assay.bench made, not of type "
                            f"{type(benchmark).__name__}: {shown(benchmark)}")
        options.setdefault("quick", not self._config.getoption("--assay-full"))
        options.setdefault("out", self._config.getoption("--assay-out"))
        rows = benchmark.run(**options)
        told = zip(*(rows[column].to_list() for column in ("provider", "point", "status", "failure_message")), strict=True)
        # A disturbed attempt was made again; rounds that say the same are one line.
        bad = Counter(each for each in told if each[2] not in ("ok", "excluded"))
        if bad:
            pytest.fail("\n".join(
                f"{benchmark.name}: {provider}: {status}: {message} at {point}{f' ({count} times)' if count > 1 else ''}"
                for (provider, point, status, message), count in bad.items()), pytrace=False)
        return rows


@pytest.fixture
def assay_benchmark(request: pytest.FixtureRequest) -> Iterator[Measurer]:
    """Measures a benchmark of `assay.bench` in fresh processes: `rows = assay_benchmark(softmax, rounds=10)`."""
    request.config.stash[_USED] = True
    yield Measurer(request.config)


_USED = pytest.StashKey[bool]()
_MEASURED = "assay_measured"  # whether a worker used the fixture, told at its end
_GATE = pytest.StashKey[Any]()


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: Any) -> None:
    """A worker of pytest-xdist has ended. One that died may have measured something before."""
    if error is not None or getattr(node, "workeroutput", {}).get(_MEASURED, True):
        node.config.stash[_USED] = True


def pytest_sessionfinish(session: pytest.Session) -> None:
    baseline = session.config.getoption("--assay-baseline")
    is_used = session.config.stash.get(_USED, False)
    if _is_worker(session.config):
        session.config.workeroutput[_MEASURED] = is_used  # type: ignore[attr-defined]
        return
    if baseline is None or not is_used:
        return
    from .lab import gate

    try:
        decided = session.config.stash[_GATE] = gate(baseline, session.config.getoption("--assay-out"))
    except UserError as error:  # there are no rows, where no measurement came to its end
        session.config.stash[_GATE] = error
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
        return
    if decided.status in (1, 4):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    decided = config.stash.get(_GATE, None)
    if decided is None:
        return
    terminalreporter.section("assay gate")
    if isinstance(decided, UserError):
        terminalreporter.line(f"FAILED: {decided}")
        return
    verdict = {0: "passed", 1: "FAILED: slower", 3: "not known", 4: "FAILED: wrong"}[decided.status]
    terminalreporter.line(f"{verdict} (exit status {decided.status})")
