#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Runs a command on a virtual screen of its own. The X server picks a free number itself, so many can run at once.
set -eu
report=$(mktemp)
Xvfb -displayfd 3 -screen 0 1600x900x24 -nolisten tcp 3>"$report" 2>/dev/null &
server=$!
trap 'kill "$server" 2>/dev/null || true; rm -f "$report"' EXIT INT TERM
tries=0
while [ ! -s "$report" ]; do
  tries=$((tries + 1))
  if [ "$tries" -gt 300 ] || ! kill -0 "$server" 2>/dev/null; then
    echo "with_xvfb: the virtual screen did not start (is Xvfb installed?)" >&2
    exit 1
  fi
  sleep 0.1
done
status=0
DISPLAY=":$(cat "$report")" "$@" || status=$?
exit "$status"
