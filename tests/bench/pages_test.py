"""Pages of results are made from their data: reading, tables, places in pages. The numbers of the
tables were worked out by hand."""
import gzip
import json
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench" / "pages"))

import data  # noqa: E402
import fill  # noqa: E402
import tables  # noqa: E402


def product(variant, microseconds, backend="cpu", **others):
    return {"kernel": "spmv", "backend": backend, "variant": variant, "format": variant.lower(),
            "seconds": {"median": 1e-6 * microseconds}, "gflops": 8 / microseconds} | others


def power(asked, p, microseconds, backend="cpu", strategy="spmv", **others):
    return product(asked, microseconds, backend, asked=asked, power=p, strategy=strategy,
                   setup_seconds=1e-3, parameters={"block": p, "bands": 1}) | others


def document(name, results):
    return {"time": "2026-01-02T03:04:05Z", "machine": {"cpu": "x", "cores": 2}, "results": results,
            "matrix": {"name": name}}


def record(name, results, command="spmv", **others):
    return {"strata_results": 1, "host": "h", "case": f"{command} {name}", "matrix": name,
            "commit": "abc", "words": [command, name, "--flag"], "status": "done",
            "document": document(name, results)} | others


def lines(*records):
    return "".join(json.dumps(each) + "\n" for each in records)


def runs(*records):
    return data.campaign_runs(lines(*records))


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, text):
        path = self.folder / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path


class Reading(Folder):
    def test_the_last_result_of_a_case_counts_and_failures_do_not(self):
        text = lines(record("a", [1]), record("a", [2]), record("b", [3], status="failed"),
                     record("c", [4], document=None))
        path = self.write("r.jsonl.gz", gzip.compress(text.encode()))
        found = data.read(path)
        self.assertEqual([(run.name, run.results) for run in data.select(found)], [("a", [2])])
        also = data.select(found, failed=True)
        self.assertEqual([(run.name, run.results) for run in also], [("a", [2]), ("b", [3])])
        self.assertEqual(found[0].commit, "abc")

    def test_collections_and_single_documents(self):
        one = self.write("one.json", json.dumps(document("a", [{"kernel": "mpk"}])))
        self.assertEqual([(run.name, run.command) for run in data.read(one)], [("a", "mpk")])
        both = self.write("two.json", json.dumps(
            {"commit": "c", "machine": {"cores": 7},
             "runs": [{"matrix": {"name": name}, "results": []} for name in "ab"]}))
        self.assertEqual([(run.name, run.commit, run.machine["cores"]) for run in data.read(both)],
                         [("a", "c", 7), ("b", "c", 7)])

    def test_runs_are_chosen_by_command_matrix_host_and_word(self):
        found = runs(record("a", []), record("m/b", []), record("a", [], "mpk"),
                     record("a", [], host="other"))
        self.assertEqual(len(data.select(found)), 4)
        self.assertEqual(len(data.select(found, command="spmv")), 3)
        self.assertEqual(len(data.select(found, matrices="m/*")), 1)
        self.assertEqual(len(data.select(found, without=["m/*", "zz"])), 3)
        self.assertEqual(len(data.select(found, host="other")), 1)
        self.assertEqual(len(data.select(found, options=["--flag"])), 4)
        self.assertEqual(len(data.select(found, options=["--flag", "--other"])), 0)


class Tables(unittest.TestCase):
    def test_products(self):
        text = tables.products(runs(
            record("a", [product("plan: CSR", 4), product("SELL", 2), product("Lib 1.2.3 CSR", 8, "vendor"),
                         product("wrong", 1, error={"passed": False})]),
            record("b", [product("plan: CSR", 10), product("Lib 1.2.3 CSR", 5, "vendor")])))
        self.assertIn("| `a` | CSR | 4.0 | SELL | 2.0 | Lib CSR | 8.0 | 2.00 | 4.00 |", text)
        self.assertIn("plan over the fastest peer: **1.00** in geometric mean of 2, at least 0.50 "
                      "(`b`); below 1: `b` 0.50", " ".join(text.split()))
        self.assertLessEqual(max(len(line) for line in text.splitlines() if not line.startswith("|")), 100)

    def test_a_processor_does_not_compete_with_a_gpu(self):
        text = tables.products(runs(record("a", [
            product("plan: CSR", 4, "cuda", device=0), product("CSR", 1),
            product("Lib CSR", 8, "vendor", device=0)])))
        self.assertIn("| `a` | CSR | 4.0 | CSR | 4.0 | Lib CSR | 8.0 | 2.00 | 2.00 |", text)

    def test_profile(self):
        text = tables.profile(runs(record("a", [product("X", 1), product("Y", 1.2)]),
                                   record("b", [product("X", 6), product("Y", 2)]),
                                   record("c", [product("X", 1)])))
        self.assertIn("| x | 67 % | 67 % | 67 % | 67 % | 67 % | 100 % | 3 | 1.44 |", text)
        self.assertIn("| y | 33 % | 33 % | 67 % | 67 % | 67 % | 67 % | 2 | 1.10 |", text)

    def test_powers(self):
        text = tables.powers(runs(record("a", [
            power("spmv", 4, 8), power("auto", 4, 4, strategy="wavefront", predicted={"gflops": 4.0}),
            power("spmv", 2, 4), power("auto", 2, 5)], "mpk")))
        self.assertIn("| `a` | 4 | 1.0 | wavefront | 2.0 | 2.00 | 4.0 | 0.50 | 500 |", text)
        self.assertIn("| `a` | 2 | 2.0 | spmv | 1.6 | 0.80 | - | - | 500 |", text)

    def test_powers_on_a_gpu(self):
        window = {"parameters": {"block": 2, "bands": 3, "window": "L2"}}
        text = tables.gpu_powers(runs(record("a", [
            power("spmv", 3, 4, "cuda", device=0, percent_of_memory_bandwidth=90.4),
            power("auto", 3, 2, "cuda", "wavefront", device=0, **window),
            power("spmv", 3, 8, "vendor", device=0)], "mpk")))
        self.assertIn("| `a` | 1 | 2 | 90 | 4 | 3 | wavefront, blocks of 2, 3 bands, L2 "
                      "| 2.00 | 2.00 | 4.00 |", text)

    def test_tuned(self):
        def tuned(variant, microseconds, predicted, contender):
            return product(variant, microseconds, contender=contender,
                           predicted={"seconds": 1e-6 * predicted})
        text = tables.tuned(runs(record("a", [tuned("X", 11, 11, True), tuned("Y", 10, 12, False),
                                              {"variant": "Z"}], "tune")))
        self.assertIn("| `a` | 1 of 2 | X | Y | 10.0 % |", text)
        self.assertIn("**1 of 2**, 50 %", text)

    def test_values(self):
        both = [product("packed-sell", 2, bytes={"format": 1e6}),
                product("packed-sell-full", 4, bytes={"format": 4e6}), product("Lib", 8, "vendor")]
        self.assertIn("| `a` | 1 | 2 | 4 | 4.0 | 1.0 | 2.00 | 4.00 |",
                      tables.values(runs(record("a", both))))

    def test_solvers(self):
        def solved(method, microseconds, backend="cuda", variant="X"):
            return {"kernel": "solve", "method": method, "backend": backend, "variant": variant,
                    "parameters": {"powers": 4} if method.startswith("ca-") else {},
                    "seconds": {"iteration": 1e-6 * microseconds, "total": 10.0, "products": 4.0}}
        text = tables.gradients(runs(record("a", [
            solved("cg", 5), solved("cg", 10, "vendor", "Lib 1.2.3 CSR")], "solve")))
        self.assertIn("| `a` | X | 5.0 | 40 | Lib CSR | 10.0 | 2.00 |", text)
        text = tables.steps(runs(record("a", [solved("cg", 5), solved("ca-cg", 4),
                                              solved("gmres", 30), solved("ca-gmres", 10)], "solve")))
        self.assertIn("| `a` | X | 4 | 5 | 4 | 1.25 | 30 | 10 | 3.00 |", text)

    def test_finite_elements(self):
        def row(matrix, rate):
            return {"kernel": "fem", "degree": 2, "matrix": matrix, "unknowns": 10,
                    "bytes": {"matrix": 200}, "iterations_per_second": rate,
                    "convergence": {"order": 2.98}}
        text = tables.elements(runs(record("", [row("csr", 100.0), row("lma", 150.0)], "fem")))
        self.assertIn("| 2 | lma | 10 | 20 | 150.0 | 1.50 | 2.98 |", text)

    def test_rows_of_other_programs(self):
        text = tables.rows([{"x": {"y": [{"matrix": "a", "t": 2, "u": {"v": 1234567}},
                                         {"matrix": "b", "t": 3, "u": {"v": 1}}]}}],
                           "x.y", [["=matrix", "matrix"], ["v", "u.v", 0], ["r", "t/u.v", 1, 1e6]],
                           {"t": 2})
        self.assertEqual(text.splitlines()[2:], ["| `a` | 1 234 567 | 1.6 |"])


class Pages(Folder):
    def test_places_are_filled_and_the_rest_stays(self):
        self.write("r.jsonl", lines(record("a", [product("CSR", 1)])))
        place = '<!-- table: {"table": "profile", "from": ["r.jsonl"], "command": "spmv"} -->'
        page = self.write("p.md", f"before\n{place}\nold\n<!-- end -->\nafter\n")
        text = fill.filled(page)
        self.assertTrue(text.startswith(f"before\n{place}\n\n|"))
        self.assertTrue(text.endswith("\n\n<!-- end -->\nafter\n"))
        self.assertIn("| csr | 100 % |", text)
        self.assertNotIn("old", text)
        page.write_text(text)
        self.assertEqual(fill.filled(page), text)

    def test_a_place_that_chooses_nothing_is_an_error(self):
        self.write("r.jsonl", lines(record("a", [])))
        page = self.write("p.md", '<!-- table: {"table": "profile", "from": ["r.jsonl"], '
                                  '"command": "mpk"} -->\n<!-- end -->\n')
        with self.assertRaisesRegex(ValueError, "no runs are like"):
            fill.filled(page)


unittest.main()
