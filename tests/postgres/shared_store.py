# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""What a store that many share must bear, shown on a PostgreSQL of its own.

    shared_store.py ASSAY STORE_ROWS writers [WRITERS [ROWS]]   at once, each with rows of its own: none lost, none twice
    shared_store.py ASSAY STORE_ROWS kills [TIMES]              the server dies by SIGKILL during ingests and runs
    shared_store.py ASSAY STORE_ROWS silence [SECONDS]          a run does not wait for a server that says nothing
    shared_store.py ASSAY STORE_ROWS memory [ROWS]              of one journal, into both kinds of store
    shared_store.py ASSAY STORE_ROWS size [SERIES RUNS ROUNDS]  rows per second, `latest`, the page

Each ends with status 0 where all that it must show holds, and prints what it measured.
"""

import filecmp
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time

from postgres_server import Missing, Server

ASSAY, STORE_ROWS = sys.argv[1:3]
# What `latest` asks, as src/lab/store/postgres.cc has it.
LATEST = """SELECT run_id, attempt_id, line FROM attempt WHERE true AND id IN (SELECT attempt.id FROM series
 CROSS JOIN LATERAL (SELECT coalesce(
  (SELECT run_id FROM attempt WHERE attempt.series = series.id
   AND status NOT IN ('excluded', 'interrupted') ORDER BY run_id DESC LIMIT 1),
  (SELECT run_id FROM attempt WHERE attempt.series = series.id
   ORDER BY run_id DESC LIMIT 1)) AS run_id) AS newest
 JOIN attempt ON attempt.series = series.id AND attempt.run_id = newest.run_id) ORDER BY run_id, sequence"""


def assay(*words, check=True, **options):
    result = subprocess.run([ASSAY, *words], capture_output=True, text=True, **options)
    if check and result.returncode != 0:
        raise SystemExit(f"assay {' '.join(words)}: status {result.returncode}: {result.stderr}")
    return result


def make_rows(folder, runs, series, rounds, first=0):
    subprocess.run([STORE_ROWS, folder, *map(str, (runs, series, rounds, first))], check=True)


def same_folders(a, b):
    names = sorted(os.listdir(a))
    if names != sorted(os.listdir(b)):
        return False
    _, differ, errors = filecmp.cmpfiles(a, b, names, shallow=False)
    return not differ and not errors


def expect(holds, what):
    print(("holds: " if holds else "FAILS: ") + what, flush=True)
    if not holds:
        raise SystemExit(1)


def compare_with_sqlite(url, folder):
    """The store is sound, and its export is byte for byte SQLite's of the same journals."""
    expect("fine" in assay("store", "verify", url).stdout, "store verify is clean")
    assay("store", "ingest", f"sqlite:{folder}/own.db", f"{folder}/journals")
    assay("store", "export", f"sqlite:{folder}/own.db", "--out", f"{folder}/own")
    assay("store", "export", url, "--out", f"{folder}/shared")
    expect(same_folders(f"{folder}/own", f"{folder}/shared"), "the export is byte-identical to SQLite's")


def writers(count=8, rows=10_000):
    server = Server()
    with tempfile.TemporaryDirectory() as folder:
        journals = f"{folder}/journals"
        make_rows(journals, count * 4, 50, rows // 200)
        names = sorted(os.listdir(journals))
        # Beside its own four runs each writer brings half of its neighbour's.
        shares = [[f"{journals}/{names[(4 * i + j) % len(names)]}" for j in range(6)] for i in range(count)]
        start = time.monotonic()
        children = [subprocess.Popen([ASSAY, "store", "ingest", server.url(), *share], stdout=subprocess.PIPE, text=True) for share in shares]
        added = sum(int(child.communicate()[0].split()[0]) for child in children)
        seconds = time.monotonic() - start
        expect(all(child.returncode == 0 for child in children), f"{count} writers at once end well")
        expect(added == count * rows, f"{added} rows were added by one writer each, in {seconds:.1f} s")
        stored = int(server.sql("SELECT count(*) FROM assay.attempt"))
        different = int(server.sql("SELECT count(DISTINCT (run_id, attempt_id)) FROM assay.attempt"))
        expect(stored == different == count * rows, f"{stored} rows are there, {different} different")
        compare_with_sqlite(server.url(), folder)
    server.end()


def kills(times=20):
    server = Server()
    random.seed(1)
    lost = 0
    with tempfile.TemporaryDirectory() as folder:
        journals = f"{folder}/journals"
        os.mkdir(journals)
        for i in range(times):
            if i % 2 == 0:  # during an ingest
                make_rows(f"{folder}/more", 1, 50, 40, first=i)
                path = f"{folder}/more/" + os.listdir(f"{folder}/more")[0]
                os.rename(path, journals + "/" + os.path.basename(path))
                words = ["store", "ingest", server.url(), journals]
                limit = 1.2
            else:  # during a run that stores its rows as they are made
                words = ["run", "semiring_matmul", "--points", '{"n":16,"algebra":"real"}', "--providers", "reference,naive", "--rounds", "12",
                         "--steady", "1ms", "--max-steal", "100%", "--max-foreign", "100%", "--store", server.url(),
                         "--out", f"{journals}/run{i}.jsonl"]  # fmt: skip
                limit = 2.5
            child = subprocess.Popen([ASSAY, *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                     env={**os.environ, "ASSAY_PEERS": "/nonexistent"})  # fmt: skip
            said = []
            reader = threading.Thread(target=lambda: said.append(child.stderr.read()))
            reader.start()
            while i % 2 and child.poll() is None and not os.path.exists(f"{journals}/run{i}.jsonl"):
                time.sleep(0.02)
            time.sleep(random.uniform(0.05, limit))
            was_running = child.poll() is None
            server.restart()
            child.wait(300)
            reader.join()
            lost += "lost" in said[0] or "reached" in said[0]
            if child.returncode and i % 2:
                print(said[0].strip().splitlines()[-1])
            print(f"{i + 1}: {words[0]} {'was running' if was_running else 'had ended'}, status {child.returncode}", flush=True)
            for name in os.listdir(journals):  # what a run leaves beside its journal
                if not name.endswith(".jsonl"):
                    os.rename(f"{journals}/{name}", f"{folder}/{name}")
        assay("store", "ingest", server.url(), journals)
        print(f"the server was killed {times} times; {lost} commands said that they lost it")
        # Names of exports are run_ids: those of runs are known by the store alone.
        compare_with_sqlite(server.url(), folder)
        rows = sum(sum(1 for _ in open(f"{journals}/{name}")) for name in os.listdir(journals))
        stored = int(server.sql("SELECT count(*) FROM assay.attempt"))
        expect(stored == rows, f"{stored} of {rows} rows are there")
    server.end()


TABLE = "LOCK TABLE assay.attempt IN SHARE MODE"
WRITERS = "SELECT pg_advisory_xact_lock(1095979865) IS NULL"  # what writers hand on


def hold(server, seconds, lock=TABLE):
    """Who has a lock for so long: nobody else writes to the table."""
    locked = "BEGIN; %s; SELECT 'locked'; SELECT pg_sleep(%d)" % (lock, seconds)
    holder = subprocess.Popen(["psql", "-qAtX", server.url()], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    holder.stdin.write(locked + ";\n")
    holder.stdin.close()
    while (said := holder.stdout.readline().strip()) in ("t", "f"):
        pass
    expect(said == "locked", "nobody else writes to the table")
    return holder


def silence(seconds=20):
    server = Server()
    assay("store", "ingest", server.url(), "/dev/null")
    with tempfile.TemporaryDirectory() as folder:

        def run_beside(holder, journal):
            run = subprocess.Popen(
                [ASSAY, "run", "semiring_matmul", "--points", '{"n":16,"algebra":"real"}', "--providers", "reference,naive", "--rounds", "4",
                 "--steady", "1ms", "--max-steal", "100%", "--max-foreign", "100%", "--store", server.url(), "--out", journal],
                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env={**os.environ, "ASSAY_PEERS": "/nonexistent"})  # fmt: skip
            rows = 0
            while holder.poll() is None and rows < 8:
                time.sleep(0.1)
                rows = open(journal).read().count("\n") if os.path.exists(journal) else 0
            expect(holder.poll() is None, f"{rows} rows are in the journal while the server is silent")
            return run

        run = run_beside(hold(server, seconds), f"{folder}/a.jsonl")
        said = run.communicate()[1]
        expect("said nothing for" in said, "the run says so")
        stored = int(server.sql("SELECT count(*) FROM assay.attempt"))
        expect(run.returncode == 0 and stored == 8, f"{stored} rows are in the store in the end")

        holder = hold(server, 10 * seconds)
        run = run_beside(holder, f"{folder}/b.jsonl")
        while run.poll() is None and holder.poll() is None:  # the first may come before it waits for the store
            time.sleep(6)
            run.send_signal(signal.SIGINT)
        said = run.communicate()[1]
        expect(holder.poll() is None, "Ctrl-C ends the wait for a server that is silent at the end")
        expect("later: assay store ingest" in said, "the run says what brings its rows there")
        holder.kill()

        holder = hold(server, 10 * seconds, WRITERS)
        begin = time.monotonic()
        run = subprocess.Popen([ASSAY, "run", "--resume", f"{folder}/b.jsonl", "--store", server.url()], stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, text=True)  # fmt: skip
        time.sleep(3)
        run.send_signal(signal.SIGINT)
        said = run.communicate()[1]
        expect(run.returncode in (5, 130) and time.monotonic() - begin < 30, f"Ctrl-C ends what waits for another writer: {said}")
        holder.kill()
    server.end()


def memory(rows=60_000):
    server = Server()
    with tempfile.TemporaryDirectory() as folder:
        make_rows(f"{folder}/plain", 1, 60, rows // 60)
        plain = f"{folder}/plain/" + os.listdir(f"{folder}/plain")[0]
        subprocess.run(f"gzip -1 <'{plain}' >'{folder}/packed.jsonl.gz'", shell=True, check=True)
        for url, journal in ((server.url(), plain), (f"sqlite:{folder}/a.db", plain), (f"sqlite:{folder}/b.db", f"{folder}/packed.jsonl.gz")):
            child = subprocess.Popen([ASSAY, "store", "ingest", url, journal], stdout=subprocess.DEVNULL)
            _, status, used = os.wait4(child.pid, 0)
            megabytes = used.ru_maxrss // 1024
            expect(status == 0 and megabytes < 200, f"{megabytes} MB for {rows} rows ({os.path.getsize(plain) >> 20} MB) of one journal")
        assay("store", "export", server.url(), "--out", f"{folder}/back")
        expect(same_folders(f"{folder}/plain", f"{folder}/back"), "they come back byte for byte")
    server.end()


def size(series=1000, runs=100, rounds=10):
    server = Server()
    with tempfile.TemporaryDirectory() as folder:
        journals = f"{folder}/journals"
        rows, seconds, part = series * runs * rounds, 0.0, 10
        for first in range(0, runs, part):
            make_rows(journals, part, series, rounds, first)
            start = time.monotonic()
            assay("store", "ingest", server.url(), journals)
            seconds += time.monotonic() - start
            for name in os.listdir(journals):
                os.remove(f"{journals}/{name}")
        print(f"{rows} rows ingested in {seconds:.1f} s: {rows / seconds:.0f} rows/s", flush=True)
        server.sql("VACUUM ANALYZE")
        for again in range(3):
            start = time.monotonic()
            lines = assay("store", "latest", server.url(), "--json").stdout.count("\n")
            print(f"latest: {lines} rows in {time.monotonic() - start:.2f} s", flush=True)
        expect(lines == series * rounds, "latest is the newest run of each series")
        print(server.sql("SET search_path = assay; EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) " + LATEST))
        start = time.monotonic()
        assay("site", server.url(), "--out", f"{folder}/page.html")
        print(f"page: {os.path.getsize(f'{folder}/page.html')} bytes in {time.monotonic() - start:.2f} s", flush=True)
    server.end()


if __name__ == "__main__":
    try:
        {"writers": writers, "kills": kills, "silence": silence, "memory": memory, "size": size}[sys.argv[3]](*map(int, sys.argv[4:]))
    except Missing as missing:
        print(f"skipped: {missing}")
        sys.exit(77)
