"""Texts of programs by key: JSON, Android's strings.xml, and YAML (of Ruby; needs the module yaml). A key that has a text in
both languages is a pair; options["only"]: an expression that its key must have (parts joined by periods)."""
import json
import re
import xml.etree.ElementTree

from . import Found, counterparts


def extract(options, trees, language):
    for english_path, path in counterparts(options, trees, language):
        english, foreign = trees["en"].read(english_path), trees[language].read(path)
        if english is None or foreign is None: continue
        texts = texts_by_key(english_path, english)
        translations = texts_by_key(path, foreign)
        for key, text in texts.items():
            if key in translations and re.search(options.get("only", ""), ".".join(map(str, key))): yield Found(text, translations[key])


def texts_by_key(path, content):
    """Keys of nested tables are tuples. Where a language is the only key at the top it is no part of them."""
    if path.endswith(".xml"): return dict(_android(content))
    if path.endswith((".yml", ".yaml")):
        import yaml
        top = yaml.load(content, Loader=yaml.BaseLoader) or {}
    else: top = json.loads(content)
    return dict(_flat(next(iter(top.values())) if isinstance(top, dict) and len(top) == 1 else top))


def _flat(node, key=()):
    if isinstance(node, str): yield key, node
    elif isinstance(node, dict):
        for name, child in node.items():
            if name != "description": yield from _flat(child, key + (name,))
    elif isinstance(node, list):
        for number, child in enumerate(node): yield from _flat(child, key + (number,))


def _android(content):
    for node in xml.etree.ElementTree.fromstring(content).iter("string"):
        if node.get("translatable") != "false" and len(node) == 0 and node.text:
            yield (node.get("name"),), node.text.replace("\\'", "'").replace('\\"', '"').replace("\\n", " ")
