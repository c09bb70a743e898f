"""bench/tuned_choice.py [--backend NAME] STRATA OUT.json MATRIX…: how far `strata tune` is from an
exhaustive search, and how far measured times are from predicted ones. Every product of a matrix is
ranked and timed in one run; the distance is what the best of the highest ranked and CSR loses to
the best of all.

The document is complete after every matrix: whoever runs out of time has those that are done."""
import argparse
import json
import re
import subprocess

from results import write

NEAR = 0.15  # a prediction that is off by no more is good


def without_folder(text):
    """@ stands for the folder of the matrices, as in suite.txt."""
    return re.sub(r"[^\s\",:]*/matrices/", "@/", text)


def seconds(product):
    return product["seconds"]["median"]


def is_near(product):
    return abs(product["predicted"]["seconds"] / seconds(product) - 1) <= NEAR


def distance(products):
    """The share of time that a search which is not exhaustive loses, what it would choose, and how
    many products are predicted well."""
    known = [p for p in products if "seconds" in p]
    csr = next(p for p in known if p["product"] == "csr")
    chosen = min((p for p in known if p["contender"]), key=seconds)
    best = min(known, key=seconds)
    return {"chosen": chosen["variant"], "best": best["variant"], "rank_of_best": best["rank"],
            "candidates": len(known), "distance": seconds(chosen) / seconds(best) - 1,
            "csr_over_chosen": seconds(csr) / seconds(chosen),
            "predicted_within_15_percent": sum(map(is_near, known))}


def share_predicted(rows):
    """Of all products of all matrices."""
    return (sum(row["predicted_within_15_percent"] for row in rows) /
            sum(row["candidates"] for row in rows))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backend", help="cpu, cuda or hip; the default is that of the command")
    parser.add_argument("strata")
    parser.add_argument("target", metavar="OUT.json")
    parser.add_argument("matrices", metavar="MATRIX", nargs="+")
    options = parser.parse_args()
    on_backend = ["--backend", options.backend] if options.backend else []
    rows = []
    command = ["bench/tuned_choice.py", *on_backend, options.strata, options.target,
               *map(without_folder, options.matrices)]
    document = {"command": " ".join(command), "matrices": rows}
    for matrix in options.matrices:
        tune = [options.strata, "tune", matrix, "--exhaustive", "--again", "--json", "-",
                *on_backend]
        run = json.loads(subprocess.run(tune, check=True, capture_output=True, text=True).stdout)
        document["machine"] = run["machine"]
        row = {"matrix": without_folder(matrix)}
        row |= distance(run["results"])
        rows.append(row)
        print(f'{row["matrix"]:<48}{row["chosen"]:<26}{row["best"]:<26}'
              f'{100 * row["distance"]:6.1f} %{row["predicted_within_15_percent"]:5} of '
              f'{row["candidates"]} predicted', flush=True)
        lost = [r["distance"] for r in rows]
        document["mean"], document["worst"] = sum(lost) / len(lost), max(lost)
        document["predicted_within_15_percent"] = share_predicted(rows)
        write(options.target, document)
    print(f'mean {100 * document["mean"]:.1f} %, worst {100 * document["worst"]:.1f} %, '
          f'{100 * document["predicted_within_15_percent"]:.0f} % of products predicted within '
          f'{100 * NEAR:.0f} %')


if __name__ == "__main__":
    main()
