# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""Medians of interleaved rounds: the backend beside its peers, one process, device events.

    bench.py LIBRARY [--peers] [--rounds N] [--only NAME]

Sizes up to 1024 are replayed from a CUDA graph of 20 calls, as are the peers'.
"""
import argparse
import ctypes
import statistics

import torch

ALGEBRAS = {"real": 0, "log": 1, "max_plus": 2, "min_plus": 3, "euclidean": 4}
ROUTES = {"auto": 0, "half": 1, "tf32": 2, "plain": 3}
P, L, I = ctypes.c_void_p, ctypes.c_long, ctypes.c_int


class Library:
    def __init__(self, path):
        self.c = ctypes.CDLL(path)
        self.c.assay_matmul_workspace.restype = L
        self.c.assay_matmul_workspace.argtypes = [I, I, I, L, L, L]
        self.c.assay_matmul.argtypes = [I, I, I, L, L, L, P, P, P, P, P, P]
        self.c.assay_edges_workspace.restype = L
        self.c.assay_edges_workspace.argtypes = [I, L, L, L, P, P]
        self.c.assay_edges.argtypes = [I, L, L, L, P, P, P, P, P, P, P]

    def matmul(self, algebra, a, b, route="auto"):
        m, k = a.shape
        n = b.shape[1]
        scalar = 0 if a.dtype == torch.float32 else 1
        size = self.c.assay_matmul_workspace(ALGEBRAS[algebra], scalar, ROUTES[route], m, k, n)
        work = torch.empty(size + 2048, dtype=torch.uint8, device="cuda")
        at = (work.data_ptr() + 1023) // 1024 * 1024
        c = torch.full((m, n), float("nan"), dtype=a.dtype, device="cuda")
        refused = torch.zeros(1, dtype=torch.int64, device="cuda")

        def call(keep=work, count=False):
            self.c.assay_matmul(ALGEBRAS[algebra], scalar, ROUTES[route], m, k, n, a.data_ptr(),
                                b.data_ptr(), c.data_ptr(), at,
                                torch.cuda.current_stream().cuda_stream,
                                refused.data_ptr() if count else None)
            return c

        call.refused = refused
        return call

    def edges(self, reduce, v, idx, x, w):
        rows, slots = v.shape
        d = x.shape[1]
        out = torch.full((rows, d), float("nan"), device="cuda")
        is_max = int(reduce == "max")
        size = self.c.assay_edges_workspace(is_max, rows, slots, d, x.data_ptr(), out.data_ptr())
        work = torch.empty(size + 2048, dtype=torch.uint8, device="cuda")
        at = (work.data_ptr() + 1023) // 1024 * 1024

        def call(keep=work):
            self.c.assay_edges(is_max, rows, slots, d, v.data_ptr(), idx.data_ptr(), x.data_ptr(),
                               w.data_ptr(), out.data_ptr(), at,
                               torch.cuda.current_stream().cuda_stream)
            return out

        return call


def exact(algebra, a, b):
    """f64, a block of rows at a time."""
    a, b = a.double(), b.double()
    if algebra == "real":
        return a @ b
    if algebra == "log":
        p, q = a.max(1, keepdim=True).values, b.max(0, keepdim=True).values
        return p + q + torch.log(torch.exp(a - p) @ torch.exp(b - q))
    if algebra == "euclidean":
        return torch.cdist(a, b.T.contiguous(), compute_mode="donot_use_mm_for_euclid_dist")
    pick = torch.amax if algebra == "max_plus" else torch.amin
    return torch.cat([pick(row[:, :, None] + b, 1) for row in a.split(1)])


def triton_max_plus():
    import triton
    import triton.language as tl

    @triton.jit
    def kernel(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
        i = tl.program_id(0) * BM + tl.arange(0, BM)
        j = tl.program_id(1) * BN + tl.arange(0, BN)
        best = tl.full((BM, BN), float("-inf"), tl.float32)
        for k in range(0, K, BK):
            for s in tl.static_range(BK):
                x = tl.load(a + i * K + k + s)
                y = tl.load(b + (k + s) * N + j)
                best = tl.maximum(best, x[:, None] + y[None, :])
        tl.store(c + i[:, None] * N + j[None, :], best)

    def make(x, y):
        c = torch.empty((x.shape[0], y.shape[1]), device="cuda")
        m, k = x.shape
        n = y.shape[1]

        def call():
            kernel[(m // 64, n // 128)](x, y, c, m, n, k, 64, 128, 8, num_warps=8)
            return c

        return call

    return make


def in_graph(call, calls=20):
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        call()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(calls):
            call()
    return graph.replay


def measure(title, providers, rounds, small):
    """Interleaved rounds; prints the median and the fastest, in ms."""
    ready = []
    for name, call in providers:
        try:
            call()
            torch.cuda.synchronize()
            ready.append((name, in_graph(call) if small else call))
        except Exception as e:  # a peer that fails says so
            print(f"{title:24s} {name:22s} failed: {str(e)[:90]}")
    times = {name: [] for name, _ in ready}
    for r in range(rounds + 3):
        for name, call in ready:
            a, b = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            repeat = 1 if small else 3
            a.record()
            for _ in range(repeat):
                call()
            b.record()
            b.synchronize()
            if r >= 3:
                times[name].append(a.elapsed_time(b) / (20 if small else repeat))
    for name, _ in ready:
        print(f"{title:24s} {name:22s} {statistics.median(times[name]):9.4f} ms  "
              f"(least {min(times[name]):.4f})", flush=True)


def error(algebra, got, want):
    d = (got.double() - want).abs()
    return d.max().item(), (d.max() / want.abs().max()).item()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("library")
    p.add_argument("--peers", action="store_true")
    p.add_argument("--rounds", type=int, default=15)
    p.add_argument("--only", default="")
    args = p.parse_args()
    lib = Library(args.library)
    torch.manual_seed(1)
    torch.backends.cuda.matmul.allow_tf32 = False
    width = 3 ** 0.5
    unit = lambda *shape: (torch.rand(*shape, device="cuda") * 2 - 1) * width

    def compiled(f):
        torch._dynamo.reset()
        return torch.compile(f, dynamic=False)

    def log_trick(a, b):
        x, y = a.amax(1, keepdim=True), b.amax(0, keepdim=True)
        return x + y + torch.log(torch.exp(a - x) @ torch.exp(b - y))

    for n in (4096, 512) if args.peers else (4096, 512, 1024, 2048):
        small = n <= 1024
        a, b = unit(n, n), unit(n, n)
        for algebra in ("real", "log", "euclidean", "max_plus", "min_plus"):
            title = f"{algebra} {n}^3"
            if args.only and args.only not in title:
                continue
            routes = ["auto"]
            if algebra in ("real", "log") and n >= 2048:
                routes += ["half", "tf32"]
            if n <= 1024:
                routes += ["half", "tf32"] if algebra not in ("max_plus", "min_plus") else []
            calls = {r: lib.matmul(algebra, a, b, r) for r in routes}
            if n <= 1024 or algebra in ("real", "log"):
                want = exact(algebra, a, b)
                for r in routes:
                    got = calls[r](count=True)
                    torch.cuda.synchronize()
                    print(f"{title:24s} assay {r:6s} largest error {error(algebra, got, want)[0]:.3e}, "
                          f"refused {calls[r].refused.item()}")
                if algebra == "real":
                    print(f"{title:24s} torch f32    largest error {error(algebra, a @ b, want)[0]:.3e}")
            providers = [(f"assay {r}", calls[r]) for r in routes]
            if algebra == "real":
                providers.append(("torch f32 (cuBLAS)", lambda a=a, b=b: a @ b))
                if n == 4096:
                    pa, pb = a.abs(), b.abs()
                    want = pa.double() @ pb.double()
                    for r in ("half", "tf32", "plain"):
                        got = lib.matmul(algebra, pa, pb, r)()
                        print(f"{title:24s} positive {r:6s} relative error {((got - want).abs() / want).max().item():.3e}")
                    print(f"{title:24s} positive torch  relative error {((pa @ pb - want).abs() / want).max().item():.3e}")
            if algebra == "euclidean":
                bt = b.T.contiguous()
                providers.append(("torch cdist", lambda a=a, bt=bt: torch.cdist(a, bt)))
            if args.peers:
                if algebra == "log":
                    f = compiled(log_trick)
                    providers.append(("torch.compile trick", lambda f=f, a=a, b=b: f(a, b)))
                if algebra == "max_plus":
                    f = compiled(lambda a, b: (a[:, :, None] + b[None]).amax(1))
                    providers.append(("torch.compile", lambda f=f, a=a, b=b: f(a, b)))
                    providers.append(("triton", triton_max_plus()(a, b)))
            measure(title, providers, args.rounds if n > 512 else 2 * args.rounds, small)

    n, slots, d = 1 << 20, 16, 64
    if args.only and "edges" not in args.only:
        return
    v = torch.rand(n, slots, device="cuda")
    idx = torch.randint(n, (n, slots), device="cuda", dtype=torch.int32)
    x, w = unit(n, d), unit(d, d)
    sample = torch.arange(0, n, 997, device="cuda")
    terms = v[sample, :, None].double() * (x[idx[sample].long()].double() @ w.double().T)
    for reduce in ("sum", "max"):
        call = lib.edges(reduce, v, idx, x, w)
        want = terms.sum(1) if reduce == "sum" else terms.amax(1)
        got = call()[sample]
        print(f"edges {reduce}: largest error {(got - want).abs().max().item():.3e}")
        providers = [("assay", call)]
        if args.peers:
            def peer(v, idx, x, w, reduce=reduce):
                if reduce == "sum":
                    return (v[:, :, None] * x[idx]).sum(1) @ w.T
                return (v[:, :, None] * (x @ w.T)[idx]).amax(1)
            f = compiled(peer)
            providers.append(("torch.compile", lambda f=f: f(v, idx, x, w)))
        measure(f"edges {reduce} 1M x16x64", providers, args.rounds, False)
    copy = torch.empty(1 << 28, device="cuda")
    measure("copy 1 GiB", [("torch", lambda: copy[: 1 << 27].copy_(copy[1 << 27:]))], 10, False)


main()
