#!/usr/bin/env bash
# bench/powers.sh STRATA OUT.jsonl [small|suite|large|sweep|size|matrices]: the power benchmark over
# a set of matrices, one JSON document of `strata mpk` per line. Sets:
#   suite     the cpu class of ../shared/suite.txt, p = 4 with the plan's own choice
#   matrices  the square real matrices of ../shared/matrices
#   large     stencils, bands and meshes several times the size of the caches, p = 2 … 6
#   sweep     one stencil, p = 1 … 12
#   size      one stencil from far below to far above the caches, p = 4
set -euo pipefail
strata=$1
out=$2
set=${3:-large}
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
shared=$root/../shared
: >"$out"

powers() {
  local json
  json=$(mktemp)
  if timeout 300 "$strata" mpk "$@" --order plan --json "$json" --quiet >/dev/null; then
    python3 -c 'import json,sys; print(json.dumps(json.load(open(sys.argv[1]))))' "$json" >>"$out"
    python3 - "$json" <<'PYTHON'
import json, sys
document = json.load(open(sys.argv[1]))
for r in document["results"]:
    if r.get("asked") != "spmv":
        print(f'{document["matrix"]["name"]:<48} p={r["power"]:<3}'
              f'{r["strategy"]:<10} {r["gflops"]:8.2f} GF/s  x{r["speedup_over_spmv"]:.2f}'
              f'  predicted {r["predicted"]["gflops"]:8.2f}  set-up {r["setup_seconds"]:.2f} s')
PYTHON
  else
    printf '%s failed\n' "$*"
  fi
  rm -f "$json"
}

case $set in
  suite)
    while read -r class spec _; do
      [ "$class" = cpu ] && powers "${spec//@/$shared/matrices}" -p 4 --min-time 0.5
    done <"$shared/suite.txt"
    ;;
  matrices)
    for file in "$shared"/matrices/*.mtx.gz; do powers "$file" -p 4 --min-time 0.1; done
    ;;
  large)
    for spec in stencil27:32x32x4096 stencil27:64x64x1024 stencil27:64x64x1024,shuffle=1 \
      stencil7:128x128x1024 stencil7:64x64x4096 band:4194304,width=27 band:4194304,width=27,shuffle=1 \
      stencil27:24x24x1024,dof=3 mesh:600000,dim=3,nnzr=27,dof=3,aspect=1x1x8 \
      mesh:600000,dim=3,nnzr=27,dof=3,aspect=1x1x8,shuffle=1 mesh:4000000,dim=2,nnzr=7; do
      powers "$spec" -p 4,6 --min-time 1
    done
    ;;
  sweep) powers stencil27:32x32x4096 -p 1:12 --min-time 1 ;;
  size)
    for nz in 16 32 64 128 256 512 1024 2048 4096 8192; do
      powers "stencil27:32x32x$nz" -p 4 --min-time 0.5
    done
    ;;
  *) printf 'no such set: %s\n' "$set" >&2; exit 2 ;;
esac
