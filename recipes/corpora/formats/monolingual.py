"""English alone, text for back-translation: lines of .txt, a column of .csv, or the texts of .json at the places that options
["keys"] names, with * for all items: "*.turns.*.utterance"."""
import csv
import io
import json


def monolingual(options, tree):
    for path in tree.paths(options["paths"]):
        content = tree.read(path)
        if content is None: continue
        if path.endswith(".json"): yield from _at(json.loads(content), options["keys"].split("."))
        elif path.endswith(".csv"): yield from (row[options["column"]] for row in csv.DictReader(io.StringIO(content)))
        else: yield from content.splitlines()


def _at(node, keys):
    if not keys:
        yield node
        return
    key, rest = keys[0], keys[1:]
    if key == "*": children = node.values() if isinstance(node, dict) else node
    else: children = [node[int(key) if isinstance(node, list) else key]]
    for child in children: yield from _at(child, rest)
