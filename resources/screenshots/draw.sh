#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Draws the README's pictures with the workbench itself, with a display or without: draw.sh [BIN]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
bin=${1:-$root/build/release/bin}
draw() {
  name=$1
  shift
  "$root/cmake/with_xvfb.sh" "$bin/residua" --screenshot "$here/$name.png" --size 1440x900 "$@"
}
draw depth-light --example ancre-language --steps 60 --theme light --view depth
draw matrix-dark --example ancre-language --steps 60 --theme dark --view matrix
draw block-light --example ancre-language --theme light --view block
draw schedule-dark --example staged-language --theme dark --view schedule
draw plots-light --example ancre-language --steps 60 --theme light --view train
