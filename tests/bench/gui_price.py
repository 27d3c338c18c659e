#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The price of the open window on training: the same project trained headless and in the window, turn about.

gui_price.py --bin DIR [--example NAME | --project DIR] [--steps N] [--rounds N] [--device KEY]

DIR holds residua and residua-cli. Every run's own clock (the series "seconds" of its store) is read between the middle
and the end, so neither start-up nor the first steps count. Rounds alternate in order, so that a machine that warms up
or is shared favours neither; what is printed is the median of each kind and the ratio, with the target: the
window costs 1 % at most where a second core is free. The window draws on a virtual screen (Xvfb) where there is no
display. Processor pinning is the caller's: `taskset -c 0,1 gui_price.py ...` gives the two one core each.
"""
import argparse
import json
import os
import pathlib
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile

TARGET = 1.01


def seconds_per_step(run, steps):
    """Mean over the second half, from the run's store."""
    store = sqlite3.connect(f"file:{run / 'store.sqlite'}?mode=ro", uri=True)
    rows = store.execute(
        "SELECT step, value FROM metrics JOIN names ON names.id = metrics.name WHERE names.name = 'seconds' ORDER BY step"
    ).fetchall()
    middle = min(rows, key=lambda row: abs(row[0] - steps // 2))
    if rows[-1][0] <= middle[0]:
        sys.exit(f"gui_price: {run} holds {len(rows)} points, expected {steps} steps")
    return (rows[-1][1] - middle[1]) / (rows[-1][0] - middle[0])


def newest_run(project):
    return max((project / "runs").iterdir(), key=lambda path: path.stat().st_mtime)


def prepare(arguments, folder):
    project = folder / "project"
    if arguments.project:
        shutil.copytree(arguments.project, project, ignore=shutil.ignore_patterns("runs"))
    else:
        subprocess.run([arguments.bin / "residua-cli", "new", "--example", arguments.example, project], check=True,
                       stdout=subprocess.DEVNULL)
    document = json.loads((project / "project.json").read_text())
    document["training"]["steps"] = arguments.steps
    document["training"]["checkpoint_every"] = 0  # both write one at the end, outside the clock
    (project / "project.json").write_text(json.dumps(document))
    return project


def train_headless(arguments, project):
    subprocess.run([arguments.bin / "residua-cli", "train", project, "--device", arguments.device], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return seconds_per_step(newest_run(project), arguments.steps)


def train_in_window(arguments, project, folder):
    command = [arguments.bin / "residua", project, "--steps", str(arguments.steps), "--view", "train", "--size",
               "1440x900", "--screenshot", folder / "window.png"]
    environment = dict(os.environ)
    if not environment.get("DISPLAY"):
        command.insert(0, pathlib.Path(__file__).resolve().parents[2] / "cmake" / "with_xvfb.sh")
        environment["LIBGL_ALWAYS_SOFTWARE"] = "1"
    subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return seconds_per_step(newest_run(project), arguments.steps)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--example", default="ancre-language")
    parser.add_argument("--project", type=pathlib.Path)
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--device", default="cpu")
    arguments = parser.parse_args()
    arguments.bin = arguments.bin.resolve()
    headless, window = [], []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        project = prepare(arguments, folder)
        for number in range(arguments.rounds):
            turns = [lambda: headless.append(train_headless(arguments, project)),
                     lambda: window.append(train_in_window(arguments, project, folder))]
            for turn in turns if number % 2 == 0 else reversed(turns):
                turn()
            print(f"round {number + 1}: headless {1000 * headless[-1]:.3f} ms a step, "
                  f"window {1000 * window[-1]:.3f} ms a step, ratio {window[-1] / headless[-1]:.4f}", flush=True)
    ratio = statistics.median(window) / statistics.median(headless)
    print(f"medians: headless {1000 * statistics.median(headless):.3f} ms, "
          f"window {1000 * statistics.median(window):.3f} ms; "
          f"ratio {ratio:.4f}, target {TARGET}: {'met' if ratio <= TARGET else 'MISSED'}")


if __name__ == "__main__":
    main()
