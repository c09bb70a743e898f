"""bench/figures.py: draws docs/results/powers-by-*.svg from the JSON files beside them. Speed-ups
over plain products: measured as dots, the model's (thesis eq. 4.8 with the plan's own traffic) as a
line."""
import json
import math
import pathlib

RESULTS = pathlib.Path(__file__).resolve().parent.parent / "docs" / "results"
WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 640, 360, 60, 50, 40, 20
COLOURS = ("#1f6feb", "#d1242f")


def speed_ups(run):
    """(power, measured, predicted) of the plan's own choice against plain products."""
    plain = {r["power"]: r for r in run["results"] if r["asked"] == "spmv"}
    for r in run["results"]:
        if r["asked"] != "spmv":
            base = plain[r["power"]]
            yield (r["power"], r["gflops"] / base["gflops"],
                   r["predicted"]["gflops"] / base["predicted"]["gflops"])


def by_power(document):
    return [point for run in document["runs"] for point in speed_ups(run)]


def by_size(document):
    return [(run["results"][0]["bytes"]["format"] / 1e6, measured, predicted)
            for run in document["runs"] for _, measured, predicted in speed_ups(run)]


def text(x, y, words, anchor="middle", extra=""):
    return (f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-family="sans-serif" '
            f'font-size="13" {extra}>{words}</text>')


def draw(path, title, x_title, series, log=False):
    scale = math.log10 if log else float
    xs = [scale(x) for points in series.values() for x, _, _ in points]
    top = max(max(m, p) for points in series.values() for _, m, p in points)
    top = math.ceil(top + 0.2)
    low, high = min(xs), max(xs)

    def at(x, y):
        return (LEFT + (scale(x) - low) / (high - low) * (WIDTH - LEFT - RIGHT),
                HEIGHT - BOTTOM - y / top * (HEIGHT - BOTTOM - TOP))

    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
             f'viewBox="0 0 {WIDTH} {HEIGHT}"><rect width="100%" height="100%" fill="white"/>',
             text(WIDTH / 2, 18, title), text(WIDTH / 2, HEIGHT - 10, x_title)]
    for y in range(top + 1):
        _, height = at(10 ** low if log else low, y)
        parts.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{height:.1f}" y2="{height:.1f}" '
                     f'stroke="{"#888" if y == 1 else "#ddd"}"/>' + text(LEFT - 8, height + 4, y, "end"))
    for x in sorted({x for points in series.values() for x, _, _ in points}):
        across, _ = at(x, 0)
        parts.append(text(across, HEIGHT - BOTTOM + 18, f"{x:.3g}"))
    for (name, points), colour, row in zip(series.items(), COLOURS, range(len(series))):
        line = " ".join("{:.1f},{:.1f}".format(*at(x, p)) for x, _, p in points)
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-dasharray="5 4"/>')
        for x, measured, _ in points:
            across, height = at(x, measured)
            parts.append(f'<circle cx="{across:.1f}" cy="{height:.1f}" r="4" fill="{colour}"/>')
        parts.append(text(LEFT + 10, TOP + 4 + 18 * row, f"{name}: dots measured, dashes the model",
                          "start", f'fill="{colour}"'))
    path.write_text("\n".join(parts + ["</svg>", ""]))


def main():
    def load(name):
        return json.loads((RESULTS / f"{name}.json").read_text())

    draw(RESULTS / "powers-by-power.svg",
         "stencil27:32x32x4096, speed-up over plain products", "powers p",
         {"2 cores": by_power(load("powers-sweep")),
          "16 cores": by_power(load("powers-sweep-many-core"))})
    draw(RESULTS / "powers-by-size.svg",
         "stencil27:32x32xN, p = 4, speed-up over plain products", "matrix in MB (packed SELL)",
         {"2 cores": by_size(load("powers-size")),
          "16 cores": by_size(load("powers-size-many-core"))}, log=True)


main()
