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

# What tests use where it is there, a command or a /file: MPI, PT-Scotch, and PETSc with its tutorials.
strata_tests_use() {
  cat <<'LIST'
mpicc                          libopenmpi-dev
mpirun                         openmpi-bin
/usr/include/scotch/ptscotch.h libptscotch-dev
/usr/lib/petsc                 petsc-dev
/usr/share/petsc/3.18/share/petsc/examples/src/ksp/ksp/tutorials/ex2.c libpetsc3.18-dev-examples
LIST
}

# Reads lines "need package" and prints the packages whose need is not met.
missing_packages() {
  local need package
  while read -r need package; do
    case $need in
      '<'*'>') has_header "${need:1:-1}" || echo "$package" ;;
      /*) [ -e "$need" ] || echo "$package" ;;
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
    say "apt-get update failed; trying with the package lists of this machine"
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

# configure_preset PRESET [CMAKE ARGUMENT…]
configure_preset() {
  require_cmake
  say "configuring build/$1"
  (cd "$strata_root" && cmake --preset "$@") >&2 || fail "cmake could not configure build/$1"
}

# build_preset PRESET [TARGET…]: everything or these alone; configures first where nobody has. Says
# what it is doing and how far it is.
build_preset() {
  local build=$strata_root/build/$1 targets=("${@:2}")
  [ -f "$build/build.ninja" ] || configure_preset "$1"
  say "building build/$1"
  NINJA_STATUS='[%f/%t, %e s] ' cmake --build "$build" ${targets[@]:+--target "${targets[@]}"} >&2 ||
    fail "build/$1 does not build"
}

# What is configured has found its packages. Without those of the report page everything else works.
set_up_packages() {
  local packages
  [ ! -f "$strata_root/build/${1:-}/build.ninja" ] || return 0
  mapfile -t packages < <(strata_needs | missing_packages)
  install_packages "${packages[@]}"
  mapfile -t packages < <(printf 'node nodejs\nnpm npm\n' | missing_packages)
  (install_packages "${packages[@]}") || say "going on without the report page"
}

# The same for what tests use besides: some hundred megabytes, without which their tests are skipped.
set_up_test_packages() {
  local packages
  [ ! -f "$strata_root/build/${1:-}/build.ninja" ] || return 0
  mapfile -t packages < <(strata_tests_use | missing_packages)
  (install_packages "${packages[@]}") || say "going on without the tests of MPI and PETSc"
}
