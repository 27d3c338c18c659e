#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Installs what Residua is built with: the distribution's packages, and PyTorch's C++ library (LibTorch) and Apache
# Arrow's in a cache outside the checkout. Runs as often as you like; what is there already is left alone.
#
#   packaging/setup.sh            the CPU build; with a GPU in the machine also the CUDA libraries
#   packaging/setup.sh --cuda     the CUDA libraries and compiler in any case (2 GB to download, 4 GB on disk)
#   packaging/setup.sh --cpu      never the CUDA libraries
#
# The cache is ~/.cache/residua; RESIDUA_TORCH names a PyTorch 2.11.0 of your own instead (the folder above torch/),
# RESIDUA_ARROW a pyarrow 26.0.1 (the folder above pyarrow/).
# Every step works in a temporary directory beside its target and is renamed at the end, so a failure leaves nothing.
set -euo pipefail
# shellcheck source=packaging/common.sh
. "$(dirname "$0")/common.sh"

# shellcheck source=packaging/libtorch.sh
. "$(dirname "$0")/libtorch.sh"

cache="${XDG_CACHE_HOME:-$HOME/.cache}/residua"
wheels="$checkout/packaging/wheels.txt"
torch_version=$(rows torch | cut -d' ' -f2)
target="$cache/torch-$torch_version"
torch_parts=('torch/lib/*' 'torch/include/*' 'torch/share/*')
arrow_parts=('pyarrow/libarrow.so.*' 'pyarrow/libparquet.so.*' 'pyarrow/include/*')
work=""

parse_arguments() {
  want_cuda=detect
  for argument in "$@"; do
    case $argument in
      --cuda) want_cuda=yes ;;
      --cpu) want_cuda=no ;;
      -h | --help)
        sed -n '3,13s/^# \{0,1\}//p' "$0"
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
  for module in Qt6Widgets Qt6OpenGLWidgets Qt6Svg eigen3 sqlite3 libarchive libzstd sentencepiece icu-uc libpcre2-8 nettle libpng libjpeg libwebp cairo-pdf imgui; do
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
    fedora) advice="sudo dnf install gcc-c++ cmake ninja-build ccache pkgconf-pkg-config unzip python3-pip qt6-qtbase-devel qt6-qtsvg-devel qcustomplot-qt6-devel json-devel eigen3-devel sqlite-devel libarchive-devel libzstd-devel sentencepiece-devel libicu-devel pcre2-devel nettle-devel libpng-devel libjpeg-turbo-devel libwebp-devel cairo-devel imgui-devel stb-devel mesa-dri-drivers librsvg2-tools xorg-x11-server-Xvfb" ;;
    arch) advice="sudo pacman -S gcc cmake ninja ccache pkgconf unzip python-pip qt6-base qt6-svg qcustomplot nlohmann-json eigen sqlite libarchive zstd icu pcre2 nettle libpng libjpeg-turbo libwebp cairo mesa librsvg xorg-server-xvfb, and from the AUR: sentencepiece imgui" ;;
    *) advice="install your distribution's C++20 compiler, cmake 3.25, ninja, pkg-config, unzip, Xvfb, python3-pip, Qt 6.4 (widgets, OpenGL, SVG), QCustomPlot 2.1 for Qt 6, Dear ImGui, nlohmann_json, Eigen, SQLite, libarchive, libzstd, SentencePiece, ICU, PCRE2, Nettle, libpng, libjpeg-turbo, libwebp, cairo" ;;
  esac
  fail "missing on $1: ${missing[*]}. Then run this again: $advice"
}

main() {
  parse_arguments "$@"
  check_platform
  prepare_cache
  install_packages
  if [ -n "${RESIDUA_TORCH:-}" ]; then
    [ -e "$RESIDUA_TORCH/torch/lib/libtorch_cpu.so" ] || fail "RESIDUA_TORCH=$RESIDUA_TORCH holds no torch/lib/libtorch_cpu.so"
    say "LibTorch: $RESIDUA_TORCH, as RESIDUA_TORCH says"
  else
    install_libraries
  fi
  if [ -n "${RESIDUA_ARROW:-}" ]; then
    compgen -G "$RESIDUA_ARROW/pyarrow/libparquet.so.*" >/dev/null || fail "RESIDUA_ARROW=$RESIDUA_ARROW holds no pyarrow/libparquet.so.*"
    say "Arrow: $RESIDUA_ARROW, as RESIDUA_ARROW says"
  else
    install_arrow
  fi
}

main "$@"
