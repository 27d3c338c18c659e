#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The time of a step in an engine's own process over that of an engine inside, as medians of pairs in one run.

    tests/bench/compare_session.py BUILD [--example plain-language] [--pairs 15] [--steps 100]

Processor time is that of a run of three times the steps less that of a run of the steps, so that the start does not
count. On a machine that others use too it says more than the clock. The client's share is the part of it that the
process beside the engine's own takes.
"""
import argparse
import pathlib
import resource
import statistics
import subprocess


def processor_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)  # of ended children and theirs
    return usage.ru_utime + usage.ru_stime


def measured(program, example, steps):
    """Milliseconds of a step by the clock, and the processor seconds of all processes and of the first alone."""
    before = processor_seconds()
    line = subprocess.run([program, example, str(steps)], check=True, capture_output=True, text=True).stdout.split()
    return float(line[0]), processor_seconds() - before, float(line[1])


def step_of(program, arguments):
    """Milliseconds of a step by the clock, its processor milliseconds, and the share of the first process."""
    _, *short = measured(program, arguments.example, arguments.steps)
    clock, *long = measured(program, arguments.example, 3 * arguments.steps)
    both, first = (after - before for after, before in zip(long, short))
    return clock, 1000 * both / (2 * arguments.steps), first / both


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("build", type=pathlib.Path)
parser.add_argument("--example", default="plain-language")
parser.add_argument("--pairs", type=int, default=15)
parser.add_argument("--steps", type=int, default=100)
arguments = parser.parse_args()
pairs = []
shares = []
for number in range(arguments.pairs):
    names = ["bench_session", "bench_session_inside"]
    figures = {name: step_of(arguments.build / "bin" / name, arguments)
               for name in (names if number % 2 == 0 else reversed(names))}
    pairs.append([own / inside for own, inside in zip(figures["bench_session"], figures["bench_session_inside"])])
    print(*(f"{name} {clock:.2f} ms, {processor:.2f} processor ms" for name, (clock, processor, _) in figures.items()),
          sep="; ", flush=True)
    shares.append(100 * figures["bench_session"][2])
for kind, ratios in zip(("clock", "processor"), zip(*pairs)):
    quartiles = statistics.quantiles(ratios, n=4)
    print(f"{kind}: own process over inside {statistics.median(ratios):.4f} "
          f"(quartiles {quartiles[0]:.4f} to {quartiles[2]:.4f}, {len(ratios)} pairs)")
print(f"the client's share of the processor time: {statistics.median(shares):.2f} %")
