"""bench/collect.py LINES OUT.json COMMIT COMMAND: one document from the JSON documents, one per
line, that several runs of strata wrote on one machine."""
import json
import sys

lines, target, commit, command = sys.argv[1:]
documents = [json.loads(line) for line in open(lines)]
kept = {key: documents[0][key] for key in ("strata", "time", "machine")}
kept |= {"commit": commit, "command": command,
         "runs": [{"matrix": d["matrix"], "results": d["results"]} for d in documents]}
open(target, "w").write(json.dumps(kept, indent=1) + "\n")
