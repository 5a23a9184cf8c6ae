"""English alone: what is said in dialogues in JSON (Schema-Guided Dialogue). Text for back-translation."""
import json


def monolingual(options, tree):
    for path in tree.paths(options["paths"]):
        for dialogue in json.loads(tree.read(path) or "[]"):
            for turn in dialogue["turns"]: yield turn["utterance"]
