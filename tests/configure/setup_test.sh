#!/usr/bin/env bash
# scripts/setup.sh and a CMake that is too old: one line that says what is needed, and no more.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# with_cmake VERSION COMMAND…: in a shell of its own that has sourced setup.sh.
with_cmake() {
  PATH=$here/fakes/old-cmake:$PATH FAKE_CMAKE_VERSION=$1 \
    bash -euo pipefail -c '. "$0/../../scripts/setup.sh"; shift; "$@"' "$here" "$@" 2>&1
}

failures=0
expect() {
  [ "$1" = "$2" ] && return
  printf 'expected: %s\n     got: %s\n' "$2" "$1"
  failures=1
}

too_old='is too old: 3.22 or later is needed, for example from https://cmake.org/download'
for version in 3.9.6 3.18.4 3.21.7; do
  expect "$(with_cmake $version build_preset nothing)" "strata: CMake $version $too_old"
  with_cmake $version build_preset nothing >/dev/null && expect "success with $version" failure
done
for version in 3.22.0 3.22.1 3.31.6 4.0.2; do
  expect "$(with_cmake $version require_cmake && echo enough)" enough
done
exit $failures
