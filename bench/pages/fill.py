"""Pages with what their data say. In a page

    <!-- table: {"table": "products", "from": ["cpu.jsonl.gz"], "command": "spmv"} -->
    …
    <!-- end -->

stands for a table of tables.py over the runs of the files beside the page; the other keys choose
among the runs (data.select), or are those of tables.rows, the table of other programs' JSON. And

    <!-- figure: {"figure": "profiles", "from": ["cpu.jsonl.gz"], "matrices": "…"} -->
    ![what it shows](figures/name.svg)

stands for a figure of `strata report`, which is drawn to the file of the image."""
import json
import pathlib
import re
import shutil
import subprocess
import tempfile

import data
import tables

TABLE = re.compile(r"(<!-- table: (\{.*?\}) -->\n).*?(<!-- end -->)", re.DOTALL)
FIGURE = re.compile(r"<!-- figure: (\{.*?\}) -->\n!\[[^\]]*\]\(([^)]*)\)", re.DOTALL)


def runs_of(folder, wanted):
    found = [run for name in wanted.pop("from") for run in data.read(folder / name)]
    chosen = data.select(found, **wanted)
    if not chosen:
        raise ValueError(f"no runs are like {json.dumps(wanted)}")
    return chosen


def table_of(folder, wanted):
    name = wanted.pop("table")
    if name == "rows":
        documents = [json.loads(data.text_of(folder / file)) for file in wanted.pop("from")]
        return tables.rows(documents, **wanted)
    return tables.TABLES[name](runs_of(folder, wanted))


def filled(page):
    """The text of the page with its tables made again."""
    def made(match):
        return f"{match[1]}\n{table_of(page.parent, json.loads(match[2]))}\n\n{match[3]}"

    return TABLE.sub(made, page.read_text(encoding="utf-8"))


def draw_figures(page, strata):
    for match in FIGURE.finditer(page.read_text(encoding="utf-8")):
        wanted, target = json.loads(match[1]), page.parent / match[2]
        name = wanted.pop("figure")
        documents = [run.document for run in runs_of(page.parent, wanted)]
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder) / "runs.json"
            source.write_text(json.dumps({"runs": documents}), encoding="utf-8")
            subprocess.run([strata, "report", source, "-o", f"{folder}/page.html", "--figures",
                            folder, "--only", name], check=True, stdout=subprocess.DEVNULL)
            target.parent.mkdir(exist_ok=True)
            shutil.copyfile(f"{folder}/{name}.svg", target)
