#!/usr/bin/env python3
"""Runs Heed and its peers in alternating turns and writes the report: build/bench/report.md and report.json.

    bench/run.py [--rows PATTERN] [--turns 5] [--threads 1] [--isa avx512vnni|avxvnni|avx2|sse4] [--clock wall|cpu] [--list]

`make bench` builds what this needs first. Each file of bench/rows/ has a function `contests(options)` that gives its
rows (harness.py says what a contest is); README.md says how each is measured.
"""

import argparse
import dataclasses
import importlib.util
import json
import os
import platform
import re
import sys
import time
from importlib import metadata
from pathlib import Path

import harness

FOLDER = Path(__file__).resolve().parent
PEERS = ("torch", "transformers", "openvino", "nncf", "ctranslate2", "llama-cpp-python", "numpy")  # whose versions are told

# Environment variables that limit Heed and the libraries of the peers to older instruction sets.
OLDER_PROCESSORS = {
    "avx512vnni": {
        "HEED_ISA": "avx512vnni",
        "ATEN_CPU_CAPABILITY": "avx512",
        "ONEDNN_MAX_CPU_ISA": "AVX512_CORE_VNNI",
        "MKL_ENABLE_INSTRUCTIONS": "AVX512",
        "CT2_FORCE_CPU_ISA": "AVX512",
    },
    "avx2": {
        "HEED_ISA": "avx2",
        "ATEN_CPU_CAPABILITY": "avx2",
        "ONEDNN_MAX_CPU_ISA": "AVX2",
        "MKL_ENABLE_INSTRUCTIONS": "AVX2",
        "CT2_FORCE_CPU_ISA": "AVX2",
    },
    "avxvnni": {
        "HEED_ISA": "avxvnni",
        "ATEN_CPU_CAPABILITY": "avx2",
        "ONEDNN_MAX_CPU_ISA": "AVX2_VNNI",
        "MKL_ENABLE_INSTRUCTIONS": "AVX2_E1",
        "CT2_FORCE_CPU_ISA": "AVX2",
    },
    "sse4": {
        "HEED_ISA": "sse4",
        "ATEN_CPU_CAPABILITY": "default",
        "ONEDNN_MAX_CPU_ISA": "SSE41",
        "MKL_ENABLE_INSTRUCTIONS": "SSE4_2",
        "CT2_FORCE_CPU_ISA": "GENERIC",
    },
}


def hide_newer_instructions(isa):
    """Starts this script again, with CPUID answered as an older processor would: not every peer obeys a variable."""
    library = harness.ROOT / "build/lib/libheed_older_processor.so"
    if os.environ.get("HEED_BENCH_PROCESSOR") == isa or not library.exists():
        return
    preloaded = " ".join(filter(None, [str(library), os.environ.get("LD_PRELOAD")]))
    os.environ.update(LD_PRELOAD=preloaded, HEED_BENCH_PROCESSOR=isa)
    os.execv(sys.executable, [sys.executable, *sys.argv])


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", default="", help="only rows in whose name this regular expression is found")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--isa", choices=list(OLDER_PROCESSORS), help="keep both to the instructions of an older processor")
    parser.add_argument("--clock", choices=["wall", "cpu"], default="wall")
    parser.add_argument("--pairs", default="", help="sentence pairs to train on (source TAB target); made up where absent")
    parser.add_argument("--output", type=Path, default=harness.ROOT / "build/bench")
    parser.add_argument("--list", action="store_true", help="print the names of the rows")
    return parser.parse_args()


def all_contests(options):
    for path in sorted((FOLDER / "rows").glob("*.py")):
        specification = importlib.util.spec_from_file_location(f"rows_{path.stem}", path)
        module = importlib.util.module_from_spec(specification)
        specification.loader.exec_module(module)
        yield from module.contests(options)


def processor():
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor()


def version(package):
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "missing"


def surroundings(options):
    library = harness.load_library()
    return {
        "date": time.strftime("%Y-%m-%d"),
        "processor": processor(),
        "processors": os.cpu_count(),
        "load_average_before": os.getloadavg()[0],
        "threads": options.threads,
        "turns": options.turns,
        "clock": options.clock,
        "instruction_set": library.heed_bench_isa().decode(),
        "versions": {
            "heed's matrix products": library.heed_bench_gemm_library().decode(),
            **{package: version(package) for package in PEERS},
        },
    }


def figure(value, digits=3):
    if value is None:
        return ""
    return f"{value:.0f}" if abs(value) >= 10**digits else f"{value:.{digits}g}"


def percent(value):
    return "" if value is None else f"{value:.0%}"


def markdown(around, limits, results):
    versions = ", ".join(f"{name} {number}" for name, number in around["versions"].items())
    lines = [
        "# Heed and its peers",
        "",
        f"{around['date']}, {around['processor']}, {around['processors']} processors, "
        f"load {around['load_average_before']:.1f} before the run. "
        f"{around['threads']} thread(s), {around['turns']} turns, {around['clock']} clock. "
        f"Heed's kernels: {around['instruction_set']}. {versions}.",
        "",
        *[f"Limit: {limit / 1e9:.0f} {harness.Machine.LIMITS[kind]}." for kind, limit in limits.items()],
        "",
        "Ratios above 1 say how many times faster Heed is. Spread: the lowest and highest ratio of the turns.",
        "",
        "| row | Heed | peer | unit | ratio | spread | goal | Heed's share of the limit | the peer's | memory MB, Heed / peer "
        "| outputs |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for r in results:
        spread = "" if r.ratio is None else f"{r.ratio_lowest:.2f} to {r.ratio_highest:.2f}"
        memory = "" if r.memory_mb is None else f"{r.memory_mb:.0f} / {r.peer_memory_mb:.0f}"
        ratio = "" if r.ratio is None else f"{r.ratio:.2f}"
        lines.append(
            f"| {r.name} | {figure(r.heed)} | {figure(r.peer)} | {r.unit} | {ratio} | {spread} | {r.goal or ''} "
            f"| {percent(r.share_of_limit)} | {percent(r.peer_share_of_limit)} | {memory} | {r.note} |"
        )
    return "\n".join(lines) + "\n"


def main():
    options = parse_arguments()
    if options.isa and not options.list:
        hide_newer_instructions(options.isa)
    harness.choose_clock(options.clock)
    os.environ["OMP_NUM_THREADS"] = str(options.threads)  # before any peer is loaded
    os.environ.update(OLDER_PROCESSORS.get(options.isa, {}))
    contests = [contest for contest in all_contests(options) if re.search(options.rows, contest.name)]
    if options.isa:
        for contest in contests:
            contest.goal = 1.0  # the others are for the newest
    if options.list:
        print("\n".join(contest.name for contest in contests))
        return 0
    if not contests:
        print("bench: no row has such a name; --list prints all", file=sys.stderr)
        return 2
    try:
        machine = harness.Machine(options.threads)
    except harness.CannotRun as reason:
        print(f"bench: {reason}", file=sys.stderr)
        return 1
    around = surroundings(options)
    limits = {kind: machine.limit(kind) for kind in sorted({c.limit for c in contests if c.limit})}
    options.output.mkdir(parents=True, exist_ok=True)
    results = []
    for contest in contests:
        results.append(harness.run(contest, machine, options.turns))
        last = results[-1]
        found = last.note if last.ratio is None else f"{last.ratio:.2f} ({last.ratio_lowest:.2f} to {last.ratio_highest:.2f})"
        print(f"{last.name}: {found}", flush=True)
        report = {**around, "limits": limits, "rows": [dataclasses.asdict(result) for result in results]}
        (options.output / "report.json").write_text(json.dumps(report, indent=2) + "\n")
        (options.output / "report.md").write_text(markdown(around, limits, results))
    print(f"bench: {options.output / 'report.md'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
