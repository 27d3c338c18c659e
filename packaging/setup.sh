#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Installs what Residua is built with: the distribution's packages, and PyTorch's C++ library (LibTorch) in a cache
# outside the checkout. Runs as often as you like; what is there already is left alone.
#
#   packaging/setup.sh            the CPU build; with a GPU in the machine also the CUDA libraries
#   packaging/setup.sh --cuda     the CUDA libraries and compiler in any case (2 GB to download, 4 GB on disk)
#   packaging/setup.sh --cpu      never the CUDA libraries
#
# The cache is ~/.cache/residua; RESIDUA_TORCH names a PyTorch 2.11.0 of your own instead (the folder above torch/).
# Every step works in a temporary directory beside its target and is renamed at the end, so a failure leaves nothing.
set -euo pipefail
# shellcheck source=packaging/common.sh
. "$(dirname "$0")/common.sh"

torch_version=2.11.0
cache="${XDG_CACHE_HOME:-$HOME/.cache}/residua"
target="$cache/torch-$torch_version"
wheels="$checkout/packaging/wheels.txt"
work=""

check_platform() {
  local machine libc
  machine=$(uname -sm)
  [ "$machine" = "Linux x86_64" ] || fail "unsupported platform: Residua runs on Linux x86_64, and this is $machine"
  libc=$(getconf GNU_LIBC_VERSION 2>/dev/null | cut -d' ' -f2) || true
  [ "$(printf '%s\n2.28\n' "${libc:-0}" | sort -V | head -n 1)" = 2.28 ] ||
    fail "unsupported platform: LibTorch needs glibc 2.28 or newer, and this has ${libc:-another C library}"
}

parse_arguments() {
  want_cuda=detect
  for argument in "$@"; do
    case $argument in
      --cuda) want_cuda=yes ;;
      --cpu) want_cuda=no ;;
      -h | --help)
        sed -n '3,12s/^# \{0,1\}//p' "$0"
        exit 0
        ;;
      *) fail "unknown option $argument; there are --cuda, --cpu and --help" ;;
    esac
  done
  if [ "$want_cuda" = detect ]; then
    want_cuda=no
    if nvidia-smi -L >/dev/null 2>&1; then want_cuda=yes; fi
  fi
}

# --- the distribution's packages ---

install_packages() {
  local distribution=unknown
  if [ -r "${RESIDUA_OS_RELEASE:-/etc/os-release}" ]; then
    # shellcheck source=/dev/null
    distribution=$(. "${RESIDUA_OS_RELEASE:-/etc/os-release}" && echo "${ID:-unknown}")
  fi
  case $distribution in
    debian) install_debian_packages ;;
    *) require_other_packages "$distribution" ;;
  esac
}

install_debian_packages() {
  local missing=() package log root=()
  while read -r package; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
  done < <(grep -v '^#' "$checkout/packaging/debian-packages.txt")
  python3 -m pip --version >/dev/null 2>&1 || missing+=(python3-pip)
  if [ ${#missing[@]} -eq 0 ]; then
    say "packages: all there"
    return
  fi
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || fail "packages are missing and there is no sudo; as root: apt-get install ${missing[*]}"
    root=(sudo)
  fi
  say "packages: installing ${missing[*]}"
  log="$work/apt.log"
  "${root[@]}" apt-get update >"$log" 2>&1 || fail "apt-get update failed: $(reason "$log")"
  "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}" >"$log" 2>&1 ||
    fail "apt-get install failed: $(reason "$log")"
}

# Elsewhere nothing is installed behind the user's back: what the build needs is probed for, and named when missing.
require_other_packages() {
  local missing=() tool module
  for tool in g++ cmake ninja pkg-config unzip Xvfb; do
    command -v "$tool" >/dev/null || missing+=("$tool")
  done
  for module in Qt6Widgets Qt6OpenGLWidgets Qt6Svg eigen3 sqlite3 libarchive sentencepiece icu-uc libpcre2-8 imgui; do
    pkg-config --exists "$module" 2>/dev/null || missing+=("$module")
  done
  python3 -m pip --version >/dev/null 2>&1 || missing+=(python3-pip)
  if [ ${#missing[@]} -eq 0 ]; then
    say "packages: all there"
    return
  fi
  local advice
  case $1 in
    ubuntu) advice="sudo apt-get install python3-pip $(grep -v '^#' "$checkout/packaging/debian-packages.txt" | tr '\n' ' ')" ;;
    fedora) advice="sudo dnf install gcc-c++ cmake ninja-build ccache pkgconf-pkg-config unzip python3-pip qt6-qtbase-devel qt6-qtsvg-devel qcustomplot-qt6-devel json-devel eigen3-devel sqlite-devel libarchive-devel sentencepiece-devel libicu-devel pcre2-devel imgui-devel stb-devel mesa-dri-drivers xorg-x11-server-Xvfb" ;;
    arch) advice="sudo pacman -S gcc cmake ninja ccache pkgconf unzip python-pip qt6-base qt6-svg qcustomplot nlohmann-json eigen sqlite libarchive icu pcre2 mesa xorg-server-xvfb, and from the AUR: sentencepiece imgui" ;;
    *) advice="install your distribution's C++20 compiler, cmake 3.25, ninja, pkg-config, unzip, Xvfb, python3-pip, Qt 6.4 (widgets, OpenGL, SVG), QCustomPlot 2.1 for Qt 6, Dear ImGui, nlohmann_json, Eigen, SQLite, libarchive, SentencePiece, ICU, PCRE2" ;;
  esac
  fail "missing on $1: ${missing[*]}. Then run this again: $advice"
}

# --- LibTorch and the CUDA libraries ---

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

# fetch PACKAGE VERSION SHA256 INTO PATTERN...: downloads one wheel, checks it, unpacks the patterns, drops the wheel.
fetch() {
  local package=$1 version=$2 hash=$3 into=$4 glibc platforms=() wheel got
  shift 4
  for glibc in {28..17}; do platforms+=(--platform "manylinux_2_${glibc}_x86_64"); done
  say "fetching $package $version"
  TMPDIR=$work python3 -m pip download --quiet --disable-pip-version-check --no-cache-dir --no-deps --only-binary=:all: \
    --python-version 3.12 "${platforms[@]}" --platform manylinux2014_x86_64 \
    --dest "$work/wheel" "$package==$version" </dev/null >"$work/pip.log" 2>&1 ||
    fail "downloading $package $version failed: $(reason "$work/pip.log")"
  wheel=$(find "$work/wheel" -name '*.whl' 2>/dev/null | head -n 1)
  [ -n "$wheel" ] || fail "downloading $package $version failed: no file arrived"
  got=$(sha256sum "$wheel" | cut -d' ' -f1)
  [ "$got" = "$hash" ] || fail "$package $version is not the file it should be (broken download?): sha256 $got, expected $hash"
  unzip -qo "$wheel" "$@" -d "$into" >"$work/unzip.log" 2>&1 ||
    fail "unpacking $package $version failed: $(reason "$work/unzip.log")"
  rm -r "$work/wheel"
}

install_torch() {
  if [ -e "$target/torch" ]; then
    say "LibTorch $torch_version: there already, in $target"
    return
  fi
  require_space torch base
  local package version _ hash
  read -r package version _ hash < <(rows torch)
  fetch "$package" "$version" "$hash" "$work/torch" 'torch/lib/*' 'torch/include/*' 'torch/share/*'
  mkdir -p "$target"
  mv -T "$work/torch/torch" "$target/torch"
  say "LibTorch $torch_version: installed in $target"
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

main() {
  parse_arguments "$@"
  check_platform
  mkdir -p "$cache" 2>/dev/null || fail "cannot create the cache directory $cache"
  exec 9>"$cache/lock"
  flock 9
  rm -rf "$cache"/part.*
  work=$(mktemp -d "$cache/part.XXXXXX" 2>/dev/null) || fail "cannot write to the cache directory $cache"
  trap 'rm -rf "$work"' EXIT
  install_packages
  if [ -n "${RESIDUA_TORCH:-}" ]; then
    [ -e "$RESIDUA_TORCH/torch/lib/libtorch_cpu.so" ] || fail "RESIDUA_TORCH=$RESIDUA_TORCH holds no torch/lib/libtorch_cpu.so"
    say "LibTorch: $RESIDUA_TORCH, as RESIDUA_TORCH says"
    return
  fi
  install_torch
  case "$want_cuda $(readlink "$target/nvidia" || true)" in
    yes* | "no nvidia-cuda-"*) install_nvidia cuda base cuda ;;
    *) install_nvidia base base ;;
  esac
}

main "$@"
