"""bench/collect.py LINES OUT.json COMMIT COMMAND: one document from the JSON documents, one per
line, that several runs of strata wrote on one machine."""
import json
import re
import sys

from results import write


def collect(lines, target, commit, command):
    """The document, written to `target` and returned."""
    # Folders of one machine mean nothing on another; @ stands for that of the matrices, as in
    # suite.txt.
    text = re.sub(r"[^\s\",:]*/shared/matrices/", "@/", lines)
    documents = [json.loads(line) for line in text.splitlines()]
    kept = {key: documents[0][key] for key in ("strata", "time", "machine")}
    kept |= {"commit": commit, "command": command,
             "runs": [{"matrix": d["matrix"], "results": d["results"]} for d in documents]}
    write(target, kept)
    return kept


if __name__ == "__main__":
    source, *others = sys.argv[1:]
    collect(open(source).read(), *others)
