# Sourced by ./run, ./test and .ci/run: finds what a build needs, installs what is missing, builds.
# Everything it says goes to standard error, so that `./run … --json -` stays pure JSON.

strata_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

say() { printf 'strata: %s\n' "$*" >&2; }

fail() {
  say "$@"
  exit 1
}

# True if the C++ compiler finds the header.
has_header() { echo "#include <$1>" | g++ -std=c++20 -E -x c++ - >/dev/null 2>&1; }

# What a build needs: a command or a <header>, and the Debian package that brings it.
strata_needs() {
  cat <<'LIST'
g++                            g++
cmake                          cmake
ninja                          ninja-build
<fmt/format.h>                 libfmt-dev
<zlib.h>                       zlib1g-dev
<nlohmann/json.hpp>            nlohmann-json3-dev
<CLI/CLI.hpp>                  libcli11-dev
<eigen3/Eigen/SparseCore>      libeigen3-dev
<gtest/gtest.h>                libgtest-dev
<boost/context/fiber.hpp>      libboost-context-dev
LIST
}

# Reads lines "need package" and prints the packages whose need is not met.
missing_packages() {
  local need package
  while read -r need package; do
    case $need in
      '<'*'>') has_header "${need:1:-1}" || echo "$package" ;;
      *) command -v "$need" >/dev/null || echo "$package" ;;
    esac
  done
}

# install_packages PACKAGE…: with apt, as root or through sudo; says what it is about to do.
install_packages() {
  [ $# -gt 0 ] || return 0
  local as_root=()
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || fail "missing packages: $*. Install them, for example as root: apt-get install $*"
    as_root=(sudo)
  fi
  command -v apt-get >/dev/null ||
    fail "missing packages, by their Debian names: $*. This machine has no apt-get: install them by its own means and start again"
  say "installing with apt-get: $*"
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -qq >&2 ||
    say "apt-get update failed; trying with the package lists that are here"
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >&2 ||
    fail "apt-get could not install: $*"
}

# Fails where CMake is older than what CMakeLists.txt asks for: one that is too old for presets only
# says that it does not know the option.
require_cmake() {
  local needed found
  needed=$(sed -n 's/^cmake_minimum_required(VERSION \([0-9]*\.[0-9]*\).*/\1/p' "$strata_root/CMakeLists.txt")
  found=$(cmake --version | sed -n 's/^cmake version \([0-9.]*\).*/\1/p')
  printf '%s\n' "$needed" "$found" | sort -VC ||
    fail "CMake $found is too old: $needed or later is needed, for example from https://cmake.org/download"
}

# build_preset PRESET [CMAKE ARGUMENT…]: configures when needed or asked to, then builds.
build_preset() {
  local preset=$1 build=$strata_root/build/$1
  shift
  require_cmake
  if [ $# -gt 0 ] || [ ! -f "$build/build.ninja" ]; then
    say "configuring build/$preset"
    (cd "$strata_root" && cmake --preset "$preset" "$@") >&2 || fail "cmake could not configure build/$preset"
  fi
  say "building build/$preset"
  cmake --build "$build" -- --quiet >&2 || fail "build/$preset does not build"
}

set_up_packages() {
  local packages
  mapfile -t packages < <(strata_needs | missing_packages)
  install_packages "${packages[@]}"
}
