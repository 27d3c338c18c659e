#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What the Debian package installs beside the programs: residua-setup where it fails, residua-launch, and the types of
# files, against stand-ins. deb_in_fresh_root.sh is the whole of it.
set -euo pipefail
# shellcheck source=tests/packaging/check.sh
# shellcheck disable=SC2016
. "$(dirname "$0")/check.sh"

begin() {
  case_name=$1
  dir="$scratch/$1" bin="$scratch/$1/bin" own="$scratch/$1/own"
  mkdir -p "$bin" "$own/setup" "$dir/cache"
  cp "$checkout"/packaging/{common.sh,libtorch.sh,wheels.txt} "$own/setup/"
  for script in residua-setup residua-launch; do
    sed "s|^own=/usr/lib/residua|own=$own|" "$checkout/packaging/debian/$script" >"$dir/$script"
  done
  export XDG_CACHE_HOME="$dir/cache"
  unset RESIDUA_TORCH LD_LIBRARY_PATH
  stub uname <<<'echo Linux x86_64'
  stub nvidia-smi <<<'exit 1'
  stub id <<<'echo 1000'
}

# setup LINES OPTIONS...: residua-setup where somebody types so many lines; left has those that it did not read.
setup() {
  local lines=$1
  shift
  status=0
  left=$(for ((i = 0; i < lines; ++i)); do echo typed; done | {
    PATH="$bin:$PATH" bash "$dir/residua-setup" "$@" >"$dir/out" 2>"$dir/err" || echo "$?" >"$dir/status"
    grep -c typed || true
  })
  if [ -e "$dir/status" ]; then status=$(cat "$dir/status"); fi
}
left_is() { [ "$left" = "$1" ] || wrong "expected $1 lines that nobody read, got $left"; }

begin a_terminal_from_a_menu_waits_before_it_closes
stub uname <<<'echo Plan9 x86_64' # before anything is there
setup 2 --then-start
left_is 1
fails_with "unsupported platform"

begin it_waits_where_the_disk_is_full_too
stub df <<<'printf "Filesystem 1024-blocks Used Available\nx 1 1 1000\n"' # after prepare_cache
setup 2 --then-start
left_is 1
fails_with "no disk space"
[ -z "$(find "$dir/cache" -name 'part.*')" ] || wrong "its folder is left"

begin without_a_menu_nothing_waits
stub df <<<'printf "Filesystem 1024-blocks Used Available\nx 1 1 1000\n"'
setup 2
left_is 2
fails_with "no disk space"
[ -z "$(find "$dir/cache" -name 'part.*')" ] || wrong "its folder is left"

begin what_is_there_is_started
version=$(awk '$1 == "torch" { print $3 }' "$own/setup/wheels.txt")
target="$dir/cache/residua/torch-$version"
key=$(awk '$1 == "base" { print $2, $3, $4, $5 }' "$own/setup/wheels.txt" | sha256sum | cut -c1-8)
mkdir -p "$target/torch" "$target/nvidia-base-$key"
mkfifo "$dir/started"
stub setsid <<<'echo "$@" >"'"$dir"'/started"'
setup 2 --then-start
passes
left_is 2
[ "$(timeout 60 cat "$dir/started")" = residua ] || wrong "nothing is started"

begin the_launcher_tells_what_libraries_others_had
version=$(awk '$1 == "torch" { print $3 }' "$own/setup/wheels.txt")
torch="$dir/cache/residua/torch-$version"
mkdir -p "$torch/torch/lib" "$torch/nvidia/cu13/lib"
touch "$torch/torch/lib/libtorch_cpu.so" "$torch/nvidia/cu13/lib/libcudart.so.13"
printf '#!/bin/sh\necho "ours=$LD_LIBRARY_PATH theirs=$RESIDUA_FOREIGN_LIBRARY_PATH."\n' >"$own/residua-launch"
chmod +x "$own/residua-launch"
run sh "$dir/residua-launch"
passes
says "ours=$torch/torch/lib theirs=."
LD_LIBRARY_PATH=/their/own run sh "$dir/residua-launch"
says "ours=$torch/torch/lib:/their/own theirs=/their/own."
mkdir -p "$dir/arrow/pyarrow"
RESIDUA_ARROW="$dir/arrow" LD_LIBRARY_PATH=/their/own run sh "$dir/residua-launch"
says "ours=$torch/torch/lib:$dir/arrow/pyarrow:/their/own theirs=/their/own."

begin without_libtorch_the_program_starts_and_from_a_menu_what_fetches_it
printf '#!/bin/sh\necho "started $* with ours=${LD_LIBRARY_PATH-none} theirs=${RESIDUA_FOREIGN_LIBRARY_PATH-none}."\n' >"$own/residua"
chmod +x "$own/residua"
cp "$own/residua" "$own/residua-cli"
stub x-terminal-emulator <<<'echo "terminal $*"'
for program in residua residua-cli; do cp "$dir/residua-launch" "$dir/$program"; done
DISPLAY="" WAYLAND_DISPLAY="" run sh "$dir/residua" project
passes
says "started project with ours=none theirs=none."
DISPLAY=:0 run sh "$dir/residua-cli" info
says "started info with ours=none theirs=none."
DISPLAY=:0 run sh "$dir/residua"
says "terminal -e residua-setup --then-start"
mkdir -p "$dir/arrow/pyarrow"
RESIDUA_ARROW="$dir/arrow" DISPLAY="" WAYLAND_DISPLAY="" run sh "$dir/residua"
says "with ours=$dir/arrow/pyarrow theirs=."

begin a_project_is_known_and_other_programs_keep_theirs
if ! command -v update-mime-database >/dev/null || ! command -v gio >/dev/null; then
  echo "skipped: $case_name, for there is no update-mime-database or gio"
else
  mkdir -p "$dir/share/mime/packages"
  cp "$checkout/packaging/debian/residua.xml" "$dir/share/mime/packages/"
  export XDG_DATA_HOME="$dir/share"
  update-mime-database "$dir/share/mime"
  type_of() { gio info -a standard::content-type "$1" | sed -n 's/^ *standard::content-type: //p'; }
  echo '{"name": "theirs"}' >"$dir/project.json"
  [ "$(type_of "$dir/project.json")" != application/x-residua-project+json ] || wrong "it claims every project.json"
  printf '{\n  "schema": 1,\n  "name": "ours"\n}\n' >"$dir/ours"
  mkdir "$dir/mine" && cp "$dir/ours" "$dir/mine/project.json"
  for file in "$dir/ours" "$dir/mine/project.json"; do
    [ "$(type_of "$file")" = application/x-residua-project+json ] || wrong "ours is not known: $(type_of "$file")"
  done
  printf '{\n  "schema": 1,\n  "rows": []\n}\n' >"$dir/project.json"
  [ "$(type_of "$dir/project.json")" != application/x-residua-project+json ] || wrong "it claims what has a schema"
fi

close
