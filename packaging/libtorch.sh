# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# shellcheck disable=SC2154
# LibTorch, the CUDA libraries and Apache Arrow, as setup.sh and the installed residua-setup fetch them; sourced, after
# common.sh. Who sources it sets
#   wheels       the list of what is fetched (wheels.txt)
#   cache        the folder that everything goes to; target: $cache/torch-VERSION; torch_version
#   torch_parts  which files of PyTorch's wheel are kept; arrow_parts: of Arrow's
#   wheel_folder where wheels lie that need not be downloaded; may be empty
wheel_folder=""

# The last line of a log that says what went wrong, in one line; known causes in plain words.
reason() {
  if grep -qiE 'no space left' "$1"; then
    echo "the disk is full"
  elif grep -qiE 'name resolution|resolv|NewConnectionError|Network is unreachable|timed out|from versions: none|Connection (refused|reset)' "$1"; then
    echo "no network, or the package server cannot be reached"
  else
    { grep -E '^(ERROR|E|error)[: ]' "$1" || tail -n 1 "$1"; } | tail -n 1
  fi
}

# rows SET...: the wheels of these sets, as lines "package version megabytes sha256".
rows() {
  local set
  for set in "$@"; do awk -v set="$set" '$1 == set { print $2, $3, $4, $5 }' "$wheels"; done
}

# require_space SET...: the unpacked files and, beside them, one downloaded wheel at a time.
require_space() {
  local need have
  need=$(rows "$@" | awk '{ sum += $3; if ($3 > max) max = $3 } END { print sum + max }')
  have=$(df -Pk "$cache" | awk 'NR == 2 { print int($4 / 1024) }')
  [ "$have" -ge "$need" ] || fail "no disk space: $cache needs $need MB free, and has $have MB"
}

check_platform() {
  local machine libc
  machine=$(uname -sm)
  [ "$machine" = "Linux x86_64" ] || fail "unsupported platform: Residua runs on Linux x86_64, and this is $machine"
  libc=$(getconf GNU_LIBC_VERSION 2>/dev/null | cut -d' ' -f2) || true
  [ "$(printf '%s\n2.28\n' "${libc:-0}" | sort -V | head -n 1)" = 2.28 ] ||
    fail "unsupported platform: LibTorch needs glibc 2.28 or newer, and this has ${libc:-another C library}"
}

# An empty folder to work in, under a lock, that goes with the process.
prepare_cache() {
  mkdir -p "$cache" 2>/dev/null || fail "cannot create the cache directory $cache"
  exec 9>"$cache/lock"
  flock 9
  rm -rf "$cache"/part.*
  work=$(mktemp -d "$cache/part.XXXXXX" 2>/dev/null) || fail "cannot write to the cache directory $cache"
  trap 'rm -rf "$work"' EXIT
}

# The file of wheel_folder with this hash.
local_wheel() {
  local file
  [ -n "$wheel_folder" ] || return 1
  for file in "$wheel_folder"/*.whl; do
    if [ -e "$file" ] && [ "$(sha256sum "$file" | cut -d' ' -f1)" = "$1" ]; then
      echo "$file"
      return
    fi
  done
  return 1
}

# How much has come so far, for people at a terminal, until it is ended.
show_progress() {
  while sleep 1; do
    printf '\r%s: %s MB so far' "$program" "$(du -sm "$work" 2>/dev/null | cut -f1)"
  done
}

# download PACKAGE VERSION: into $work/wheel, the wheel for Python $python_version.
python_version=3.12
download() {
  local glibc platforms=() watcher="" status=0
  for glibc in {28..17}; do platforms+=(--platform "manylinux_2_${glibc}_x86_64"); done
  if [ -t 1 ]; then
    show_progress &
    watcher=$!
  fi
  TMPDIR=$work python3 -m pip download --quiet --disable-pip-version-check --no-cache-dir --no-deps --only-binary=:all: \
    --python-version "$python_version" "${platforms[@]}" --platform manylinux2014_x86_64 \
    --dest "$work/wheel" "$1==$2" </dev/null >"$work/pip.log" 2>&1 || status=$?
  if [ -n "$watcher" ]; then
    kill "$watcher" 2>/dev/null || true
    wait "$watcher" 2>/dev/null || true
    printf '\r'
  fi
  return "$status"
}

# fetch PACKAGE VERSION SHA256 INTO PATTERN...: downloads one wheel, checks it, unpacks the patterns, drops the wheel.
fetch() {
  local package=$1 version=$2 hash=$3 into=$4 wheel got
  shift 4
  if wheel=$(local_wheel "$hash"); then
    say "taking $package $version from $wheel"
  else
    say "fetching $package $version"
    download "$package" "$version" || fail "downloading $package $version failed: $(reason "$work/pip.log")"
    wheel=$(find "$work/wheel" -name '*.whl' 2>/dev/null | head -n 1)
    [ -n "$wheel" ] || fail "downloading $package $version failed: no file arrived"
    got=$(sha256sum "$wheel" | cut -d' ' -f1)
    [ "$got" = "$hash" ] || fail "$package $version is not the file it should be (broken download?): sha256 $got, expected $hash"
  fi
  unzip -qo "$wheel" "$@" -d "$into" >"$work/unzip.log" 2>&1 ||
    fail "unpacking $package $version failed: $(reason "$work/unzip.log")"
  rm -rf "$work/wheel"
}

install_torch() {
  if [ -e "$target/torch" ]; then
    say "LibTorch $torch_version: there already, in $target"
    return
  fi
  require_space torch base
  local package version _ hash
  read -r package version _ hash < <(rows torch)
  fetch "$package" "$version" "$hash" "$work/torch" "${torch_parts[@]}"
  mkdir -p "$target"
  mv -T "$work/torch/torch" "$target/torch"
  say "LibTorch $torch_version: installed in $target"
}

# In its own folder, so that changing PyTorch's version does not reinstall Arrow.
install_arrow() {
  local package version _ hash python_version=3.11 folder
  read -r package version _ hash < <(rows arrow)
  folder="$cache/arrow-$version"
  if [ -e "$folder/pyarrow" ]; then
    say "Arrow $version: there already, in $folder"
    return
  fi
  require_space arrow
  fetch "$package" "$version" "$hash" "$work/arrow" "${arrow_parts[@]}"
  mkdir -p "$folder"
  mv -T "$work/arrow/pyarrow" "$folder/pyarrow"
  say "Arrow $version: installed in $folder"
}

# install_nvidia NAME SET...: a directory per selection of wheels, and the link nvidia/ that LibTorch looks through, so
# that going from one to the other is one rename.
install_nvidia() {
  local name=$1 key directory package version _ hash
  shift
  key=$(rows "$@" | sha256sum | cut -c1-8)
  directory="nvidia-$name-$key"
  if [ ! -e "$target/$directory" ]; then
    require_space "$@"
    while read -r package version _ hash; do
      fetch "$package" "$version" "$hash" "$work/nvidia" 'nvidia/*'
    done < <(rows "$@")
    complete_toolkit "$work/nvidia/nvidia/cu13"
    mv -T "$work/nvidia/nvidia" "$target/$directory"
  fi
  ln -s "$directory" "$work/link"
  mv -T "$work/link" "$target/nvidia"
  say "CUDA libraries ($name): in $target/$directory"
}

# The wheels hold libcudart.so.13 in lib, but no libcudart.so and no lib64, which are the names that a linker is given.
complete_toolkit() {
  local library
  for library in "$1"/lib/lib*.so.*; do
    [ -e "${library%%.so.*}.so" ] || ln -s "$(basename "$library")" "${library%%.so.*}.so"
  done
  ln -s lib "$1/lib64"
}

# want_cuda: yes, or no, which leaves the CUDA libraries where they are.
install_libraries() {
  install_torch
  case "$want_cuda $(readlink "$target/nvidia" || true)" in
    yes* | "no nvidia-cuda-"*) install_nvidia cuda base cuda ;;
    *) install_nvidia base base ;;
  esac
}
