"""bench/tuned_choice.py STRATA OUT.json MATRIX…: how far `strata tune` is from an exhaustive search.
Every product of a matrix is ranked and timed in one run; the distance is what the best of the
highest ranked and CSR loses to the best of all.

The document is complete after every matrix: whoever runs out of time has those that are done."""
import json
import re
import subprocess
import sys

from results import write

def without_folder(text):
    """@ stands for the folder of the matrices, as in suite.txt."""
    return re.sub(r"[^\s\",:]*/matrices/", "@/", text)


def seconds(product):
    return product["seconds"]["median"]


def distance(products):
    """The share of time that a search which is not exhaustive loses, and what it would choose."""
    known = [p for p in products if "seconds" in p]
    csr = next(p for p in known if p["product"] == "csr")
    chosen = min((p for p in known if p["contender"]), key=seconds)
    best = min(known, key=seconds)
    return {"chosen": chosen["variant"], "best": best["variant"], "rank_of_best": best["rank"],
            "candidates": len(known), "distance": seconds(chosen) / seconds(best) - 1,
            "csr_over_chosen": seconds(csr) / seconds(chosen)}


def main(strata, target, *matrices):
    rows = []
    command = ["bench/tuned_choice.py", strata, target, *map(without_folder, matrices)]
    document = {"command": " ".join(command), "matrices": rows}
    for matrix in matrices:
        tune = [strata, "tune", matrix, "--exhaustive", "--again", "--json", "-"]
        run = json.loads(subprocess.run(tune, check=True, capture_output=True, text=True).stdout)
        document["machine"] = run["machine"]
        row = {"matrix": without_folder(matrix)}
        row |= distance(run["results"])
        rows.append(row)
        print(f'{row["matrix"]:<48}{row["chosen"]:<26}{row["best"]:<26}'
              f'{100 * row["distance"]:6.1f} %', flush=True)
        lost = [r["distance"] for r in rows]
        document["mean"], document["worst"] = sum(lost) / len(lost), max(lost)
        write(target, document)
    print(f'mean {100 * document["mean"]:.1f} %, worst {100 * document["worst"]:.1f} %')


if __name__ == "__main__":
    main(*sys.argv[1:])
