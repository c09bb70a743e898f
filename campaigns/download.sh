#!/usr/bin/env bash
# campaigns/download.sh [--list] [NAME…]: brings the files of suitesparse.json, or those named, to
# campaigns/suitesparse, where thesis-suitesparse.json finds them. Needs a network, curl or wget, and
# about 11 GB for all of them. What is there already stays; a file is there whole or not at all.
# STRATA_SUITESPARSE replaces the address of the collection.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
collection=${STRATA_SUITESPARSE:-https://sparse.tamu.edu/MM}
folder=suitesparse

# GROUP NAME, a line of the manifest each.
manifest() { sed -n 's/.*"name": "\([^"]*\)", "group": "\([^"]*\)".*/\2 \1/p' suitesparse.json; }

fetch() {
  if command -v curl >/dev/null; then
    curl --fail --location --silent --show-error "$1"
  else
    wget --quiet --output-document=- "$1"
  fi
}

if [ "${1:-}" = --list ]; then
  manifest
  exit
fi
mkdir -p "$folder"
work=$(mktemp -d "$folder/.part-XXXXXX")
trap 'rm -rf "$work"' EXIT
failed=()
while read -r group name; do
  if [ $# -gt 0 ]; then
    case " $* " in *" $name "*) ;; *) continue ;; esac
  fi
  [ ! -e "$folder/$name.mtx.gz" ] || continue
  printf '%s\n' "$group/$name" >&2
  if fetch "$collection/$group/$name.tar.gz" | tar -x -z -O -f - "$name/$name.mtx" | gzip >"$work/$name.mtx.gz"; then
    mv "$work/$name.mtx.gz" "$folder/"
  else
    failed+=("$name")
  fi
done < <(manifest)
if [ ${#failed[@]} -gt 0 ]; then
  printf 'not downloaded: %s\n' "${failed[*]}" >&2
  exit 1
fi
