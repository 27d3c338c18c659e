#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# From a clone to the workbench, in one command: sets up, builds, and opens PROJECT, or the start page.
# Without a display it trains PROJECT, or an example, here in the terminal, and leaves a report, a checkpoint and a sample.
#
#   packaging/run.sh [PROJECT] [--cuda | --cpu]
set -euo pipefail
# shellcheck source=packaging/common.sh
. "$(dirname "$0")/common.sh"

example=ancre-language
project=""
setup_options=()
for argument in "$@"; do
  case $argument in
    --cuda | --cpu) setup_options+=("$argument") ;;
    -h | --help)
      sed -n '3,6s/^# \{0,1\}//p' "$0"
      exit 0
      ;;
    -*) fail "unknown option $argument; there are --cuda, --cpu and --help" ;;
    *)
      [ -z "$project" ] || fail "one project at a time, and this is a second: $argument"
      [ -e "$argument/project.json" ] || fail "$argument is no project: it holds no project.json"
      project=$argument
      ;;
  esac
done

train_here() {
  local cli="$checkout/build/release/bin/residua-cli" output="$checkout/build/example" run=""
  if [ -z "$project" ]; then
    project="$output/$example"
    [ -e "$project/project.json" ] || "$cli" new --example "$example" "$project"
  else
    output="$(cd "$project" && pwd)"
  fi
  run="$output/runs/$(date +%Y%m%d-%H%M%S)"
  say "no display, so $project trains here; Ctrl-C stops it with a checkpoint"
  "$cli" train "$project" --run "$run" || fail "training $project failed (above); its run is $run"
  "$cli" report "$run" -o "$run/report.html" || fail "writing the report of $run failed (above)"
  if "$cli" sample "$run" --tokens 200 >"$run/sample.txt" 2>"$run/sample.log"; then
    cat "$run/sample.txt"
  else
    say "no sample: $(tail -n 1 "$run/sample.log")"
    rm "$run/sample.txt"
  fi
  say "report      $run/report.html"
  say "checkpoints $run/checkpoints"
  if [ -e "$run/sample.txt" ]; then say "sample      $run/sample.txt"; fi
}

"$checkout/packaging/setup.sh" ${setup_options[@]+"${setup_options[@]}"}
configure_and_build release residua residua-cli
if [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ]; then
  exec "$checkout/build/release/bin/residua" ${project:+"$project"}
fi
train_here
