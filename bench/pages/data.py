"""Results of the command as one list of runs, whatever file they are in: campaigns' results
(.jsonl), collections ("runs") and single documents, also compressed by gzip."""
import fnmatch
import gzip
import json
import pathlib


class Run:
    """One process that measured something."""

    def __init__(self, document, record):
        self.document = document
        self.machine = document.get("machine") or {}
        self.results = document.get("results") or []
        self.name = (document.get("matrix") or {}).get("name", "")
        self.commit = record.get("commit", document.get("commit", ""))
        self.host = record.get("host", "")
        # As the campaign names it: a file with its folder.
        self.matrix = record.get("matrix") or self.name
        self.words = record.get("words", [])
        self.failed = record.get("status", "done") != "done"
        self.command = self.words[0] if self.words else self._kernel()

    def _kernel(self):
        return self.results[0].get("kernel", "") if self.results else "machine"


def text_of(path):
    raw = pathlib.Path(path).read_bytes()
    return (gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw).decode("utf-8")


def campaign_runs(text):
    """Of several results of a case the last counts. Cases that failed may have some, too: a solver
    that did not converge says how far it came."""
    latest = {}
    for line in text.splitlines():
        record = json.loads(line)
        latest[record["host"], record["case"]] = record
    return [Run(record["document"], record) for record in latest.values() if record.get("document")]


def read(path):
    text = text_of(path)
    if ".jsonl" in pathlib.Path(path).name:
        return campaign_runs(text)
    outer = json.loads(text)
    if "runs" not in outer:
        return [Run(outer, {})]
    common = {key: value for key, value in outer.items() if key != "runs"}
    return [Run(common | run, outer) for run in outer["runs"]]


def select(runs, command=None, matrices="*", without=(), host="*", options=(), failed=False):
    """Those of one command, with matrices like a pattern and unlike all of others, and with all the
    words in their command line; on demand also those that failed."""
    return [run for run in runs
            if (failed or not run.failed) and command in (None, run.command) and fnmatch.fnmatchcase(run.matrix, matrices)
            and not any(fnmatch.fnmatchcase(run.matrix, pattern) for pattern in without)
            and fnmatch.fnmatchcase(run.host, host) and set(options) <= set(run.words)]
