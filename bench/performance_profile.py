"""bench/performance_profile.py OUT.svg FILE.json… [--on cpu|gpu] [--by format|product|library]
[--to X]: a performance profile (E. Dolan and J. Moré: Benchmarking optimization software with
performance profiles, Math. Program. 91, 2002) of plain products, from what `bench/suite.py spmv` or
`strata spmv --json` wrote. For each format, product or library it draws the share of the matrices
for which it takes at most x times as long as the fastest of all; a matrix that it refuses or
computes wrongly is in no share. The same numbers go to the output as a table in Markdown."""
import argparse
import bisect
import html
import math
import re
import sys

import product_tables

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM, LEGEND_STEP = 860, 460, 64, 230, 44, 56, 20
TABLE_FACTORS = (1, 1.1, 1.25, 1.5, 2, 4)
# Text, ground and grid, light and dark.
GROUNDS = (("#1f2328", "#ffffff", "#d0d7de"), ("#e6edf3", "#0d1117", "#30363d"))
# Of the lines, on a light and on a dark ground; further lines repeat them with dashes.
COLOURS = (("#0b5fd0", "#6cb0ff"), ("#c4202c", "#ff8a80"), ("#12722f", "#4ecb71"),
           ("#8a5a00", "#e0a93b"), ("#7440d0", "#c29bff"), ("#b02a80", "#ff85c0"),
           ("#00707f", "#45cfdc"), ("#4d565f", "#aab4be"))
DASHES = ("", "7 4", "2 4")


def format_name(result):
    """Formats of Strata by their names, with a plan as one of its own; products of other libraries
    by library and format, whatever their algorithm."""
    if not product_tables.is_peer(result):
        return "plan" if result["variant"].startswith("plan: ") else result["format"]
    return re.sub(r"( (alg\d|default|\d×\d)|, 1 thread)$", "", product_tables.label(result))


def library_name(result):
    return product_tables.label(result).split()[0] if product_tables.is_peer(result) else "Strata"


NAMES = {"format": format_name, "product": product_tables.label, "library": library_name}


class Profile:
    """Of one competitor: how many times as long as the fastest it takes, sorted, for the matrices
    that it multiplied, of `matrices` in all."""

    def __init__(self, name, ratios, matrices):
        self.name = name
        self.ratios = sorted(ratios)
        self.matrices = matrices

    def share(self, factor):
        return bisect.bisect_right(self.ratios, factor) / self.matrices

    def area(self, limit):
        """Under the curve up to `limit`, on a logarithmic scale: 1 for the fastest everywhere."""
        return sum(math.log(limit / ratio) for ratio in self.ratios if ratio < limit) / (
            self.matrices * math.log(limit))


def profiles(runs, device, name_of, limit):
    """The largest area first."""
    ratios, matrices = {}, 0
    for run in runs:
        best = {}
        for result in product_tables.results_on(run, device):
            name = name_of(result)
            best[name] = min(best.get(name, math.inf), product_tables.seconds(result))
        if not best:
            continue
        matrices += 1
        fastest = min(best.values())
        for name, time in best.items():
            ratios.setdefault(name, []).append(time / fastest)
    found = [Profile(name, each, matrices) for name, each in ratios.items()]
    return sorted(found, key=lambda profile: (-profile.area(limit), profile.name))


def table(found):
    heads = " | ".join("fastest" if factor == 1 else f"≤ {factor:g}" for factor in TABLE_FACTORS)
    lines = [f"| | {heads} | matrices | mean factor |", "|---" + "|---:" * 8 + "|"]
    for profile in found:
        shares = " | ".join(f"{100 * profile.share(factor):.0f} %" for factor in TABLE_FACTORS)
        lines.append(f"| {profile.name} | {shares} | {len(profile.ratios)} "
                     f"| {product_tables.geometric_mean(profile.ratios):.2f} |")
    return "\n".join(lines)


def style():
    def rules(ground):
        ink, paper, grid = GROUNDS[ground]
        lines = "".join(f".c{i}{{stroke:{both[ground]}}}" for i, both in enumerate(COLOURS))
        return f".paper{{fill:{paper}}}text{{fill:{ink}}}.grid{{stroke:{grid}}}{lines}"

    return (f"<style>text{{font:13px sans-serif}}.grid{{stroke-width:1}}"
            f".line{{fill:none;stroke-width:2.2}}{rules(0)}"
            f"@media(prefers-color-scheme:dark){{{rules(1)}}}</style>")


def text(x, y, words, anchor="middle", extra=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{extra}>{html.escape(words)}</text>'


def ticks(limit):
    """Factors that are worth a line."""
    return [factor for factor in (1, 1.25, 1.5, 2, 3, 4, 6, 8, 16, 32, 64) if factor <= limit]


def draw(found, limit, title):
    # The legend may need more than the curves.
    total = max(HEIGHT, TOP + BOTTOM + LEGEND_STEP * len(found))

    def across(factor):
        return LEFT + math.log(factor) / math.log(limit) * (WIDTH - LEFT - RIGHT)

    def height(share):
        return total - BOTTOM - share * (total - BOTTOM - TOP)

    def grid(x1, x2, y1, y2):
        return (f'<line class="grid" x1="{x1:.1f}" x2="{x2:.1f}" y1="{y1:.1f}" y2="{y2:.1f}"/>')

    def steps(profile):
        """Right to each ratio, up to its share, and on to the limit."""
        words, share = [f"M{across(1):.1f},{height(0):.1f}"], 0
        for ratio in sorted({ratio for ratio in profile.ratios if ratio <= limit}):
            share = profile.share(ratio)
            words.append(f"H{across(ratio):.1f}V{height(share):.1f}")
        return "".join(words) + f"H{across(limit):.1f}"

    def look(order):
        dash = DASHES[order // len(COLOURS) % len(DASHES)]
        dashes = f' stroke-dasharray="{dash}"' if dash else ""
        return f'class="line c{order % len(COLOURS)}"{dashes}'

    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{total}" '
             f'viewBox="0 0 {WIDTH} {total}" role="img">',
             f"<title>{html.escape(title)}</title>", style(),
             '<rect class="paper" width="100%" height="100%"/>',
             text((LEFT + WIDTH - RIGHT) / 2, 22, title),
             text((LEFT + WIDTH - RIGHT) / 2, total - 14, "times as long as the fastest, at most"),
             text(18, (TOP + total - BOTTOM) / 2, "share of the matrices", extra=(
                 f' transform="rotate(-90 18 {(TOP + total - BOTTOM) / 2:.1f})"'))]
    for percent in range(0, 101, 20):
        y = height(percent / 100)
        parts += [grid(LEFT, WIDTH - RIGHT, y, y), text(LEFT - 8, y + 4, f"{percent} %", "end")]
    for factor in ticks(limit):
        x = across(factor)
        parts += [grid(x, x, TOP, total - BOTTOM), text(x, total - BOTTOM + 20, f"{factor:g}")]
    for order, profile in enumerate(found):
        y = TOP + 8 + LEGEND_STEP * order
        name = html.escape(profile.name)
        parts += [f'<path {look(order)} d="{steps(profile)}"><title>{name}</title></path>',
                  f'<path {look(order)} d="M{WIDTH - RIGHT + 14},{y}h30"/>',
                  text(WIDTH - RIGHT + 52, y + 4, profile.name, "start")]
    return "\n".join(parts + ["</svg>", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", metavar="OUT.svg")
    product_tables.add_arguments(parser)
    parser.add_argument("--by", choices=NAMES, default="format")
    parser.add_argument("--to", type=float, default=4, metavar="X", help="the largest x, above 1")
    words = parser.parse_args()
    if not words.to > 1:
        parser.error("--to has to be above 1")
    found = profiles(product_tables.load_runs(words.files), words.on, NAMES[words.by], words.to)
    if not found:
        sys.exit(f"no results on the {words.on} in {', '.join(words.files)}")
    title = f"Plain products on {'a GPU' if words.on == 'gpu' else 'processors'}, " \
            f"{found[0].matrices} matrices"
    with open(words.out, "w", encoding="utf-8") as file:
        file.write(draw(found, words.to, title))
    print(table(found))


if __name__ == "__main__":
    main()
