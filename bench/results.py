"""bench/results.py FILE…: results as files keep them. Writes the files again as write() would."""
import json
import subprocess
import sys


def text_of(document):
    """JSON with a line per key, and a line per element of the lists of runs and results."""
    def value_text(value):
        if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
            return "[\n" + ",\n".join("  " + json.dumps(item) for item in value) + "\n ]"
        if isinstance(value, dict) and any(isinstance(item, list) and item and
                                           isinstance(item[0], dict) for item in value.values()):
            inner = ",\n".join(f"  {json.dumps(key)}: {json.dumps(item)}"
                               for key, item in value.items())
            return "{\n" + inner + "\n }"
        return json.dumps(value)

    lines = (f" {json.dumps(key)}: {value_text(value)}" for key, value in document.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


def write(path, document):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text_of(document))


def clean_commit():
    """The commit of the tree. Exits if the tree is not that of a commit: what it measures could not
    be measured again."""
    changed = subprocess.run(["git", "status", "--porcelain", "--untracked-files=no"], check=True,
                             capture_output=True, text=True).stdout
    if changed:
        sys.exit("results are recorded from a commit; these files are changed:\n" + changed.rstrip())
    return subprocess.run(["git", "rev-parse", "--short", "HEAD"], check=True,
                          capture_output=True, text=True).stdout.strip()


if __name__ == "__main__":
    for name in sys.argv[1:]:
        with open(name, encoding="utf-8") as file:
            known = json.load(file)
        write(name, known)
        with open(name, encoding="utf-8") as file:
            assert json.load(file) == known
