"""Pages in Markdown, aligned by their structure.

A page is a sequence of blocks: headings, paragraphs, list items, table cells. Two pages are compared section by section (from
heading to heading); a section whose blocks have the same kinds in both languages gives pairs of blocks, and a pair of blocks
with the same number of sentences gives pairs of sentences. Code, comments, HTML and includes are left out.

Many translated pages name the state of the English repository that they were made from (source_commit, a key of their front
matter); then the English page is read at that state. human is a regular expression that finds, in the front matter, that
people translated the page; without it the pair is synthetic. where is one that both pages must have, such as their licence.
"""
import html
import json
import re

import cleaning

from . import Found, counterparts


def extract(options, trees, language):
    states = {}
    for english_path, path in counterparts(options, trees, language):
        page = trees[language].read(path)
        if page is None or not re.search(options.get("where", ""), page, re.M): continue
        front = front_matter(page)
        english = _english_page(options, trees["en"], english_path, front, states)
        if english is None or not re.search(options.get("where", ""), english, re.M): continue
        synthetic = not re.search(options.get("human", ""), page[: page.find("\n---", 4)], re.M)
        if path.endswith(".ipynb"): page, english = notebook_text(page), notebook_text(english)
        for first, second in aligned(blocks(english), blocks(page)): yield Found(first, second, synthetic)


def _english_page(options, tree, path, front, states):
    """The page that was translated; None if the repository no longer has it."""
    commit = front.get(options.get("source_commit", ""))
    if options.get("source_commit"):
        if not commit: return None
        if commit not in states: states[commit] = tree.at(commit)
        tree = states[commit]
    return tree.read(path) if tree else None


def front_matter(page):
    """Keys of the YAML between lines of --- at the top, one per line; nested ones are ignored."""
    match = re.match(r"\ufeff?---\s*\n(.*?)\n---\s*\n", page.replace("\r\n", "\n"), re.S)
    return dict(re.findall(r"^([\w.-]+): *[\"']?(.*?)[\"']?$", match[1], re.M)) if match else {}


def notebook_text(notebook):
    """The text cells of a Jupyter notebook; the code between them separates."""
    try: cells = json.loads(notebook)["cells"]
    except (ValueError, KeyError): return ""
    return "\n\n".join("".join(cell["source"]) if cell["cell_type"] == "markdown" else "```\n```" for cell in cells)


def blocks(page):
    """(kind, text) of each block in turn. The kind is h1 to h6, p, li, quote, or td."""
    page = re.sub(r"\A\ufeff?---\s*\n.*?\n---\s*\n", "", page.replace("\r\n", "\n"), flags=re.S)
    page = re.sub(r"<!--.*?-->", "", page, flags=re.S)
    page = re.sub(r"^[ \t>]*(```+|~~~+)[^\n]*\n.*?^[ \t>]*\1[ \t]*$", "\n%code\n", page, flags=re.S | re.M)
    found, kind, lines = [], None, []

    def close():
        nonlocal kind, lines
        if kind and lines: found.append((kind, plain(" ".join(lines))))
        kind, lines = None, []

    for line in page.split("\n"):
        text = line.strip()
        if not text or text.startswith(("%code", ":::", "[!INCLUDE", "{{", "+++")) or re.fullmatch(r"[-=|: *_]+|`[^`]*`", text):
            close()
            if text.startswith("%code"): found.append(("code", ""))
        elif text.startswith("|"):
            close()
            found.extend(("td", plain(cell)) for cell in text.strip("|").split("|"))
        elif match := re.match(r"(#{1,6})(?: +(.*?))? *#*$", text):
            close()
            found.append((f"h{len(match[1])}", plain(match[2] or "")))
        elif match := re.match(r"(?:[-*+]|\d+[.)]) +(.*)", text):
            close()
            kind, lines = "li", [match[1]]
        elif text.startswith(">"):
            text = text.lstrip("> ")
            if kind != "quote" or re.match(r"\[!", text) or lines and lines[-1].endswith("."): close()
            if re.fullmatch(r"\[!\w+\]", text): close()
            elif text: kind, lines = "quote", lines + [text]
        elif text.startswith("<"): close()
        else:
            kind = kind or "p"
            lines.append(text)
    close()
    return [(kind, text) for kind, text in found if text or kind[0] in "ch"]


def plain(text):
    """Without marks: the words of links, emphasis, code and extensions such as [!UICONTROL Save]."""
    text = re.sub(r"\{(?:#|:|\.|target=)[^}]*\}", "", text)
    text = re.sub(r"!\[[^\]]*\]\([^)]*\)", "", text)
    text = re.sub(r"\[!(?:DNL|UICONTROL|PRODNAME)\s+([^\]]*)\]", r"\1", text)
    text = re.sub(r"\[([^\]]*)\]\((?:[^()]|\([^)]*\))*\)", r"\1", text)
    text = re.sub(r"\[([^\]]*)\]\[[^\]]*\]", r"\1", text)
    text = re.sub(r"<(https?://[^>]+)>", r"\1", text)
    text = re.sub(r"<(?:/?[a-zA-Z][^>]*)>", "", text)
    text = re.sub(r"(\*\*|__)(?=\S)(.*?\S)\1", r"\2", text)
    text = re.sub(r"(?<![\w*])[*_](?=[^\s*])([^*]*?\S)[*_](?!\w)", r"\1", text)
    text = re.sub(r"`+([^`]*)`+", r"\1", text)
    text = re.sub(r"\\([\\`*_{}\[\]()#+.!<>|-])", r"\1", text)
    return " ".join(html.unescape(text).split())


def sections(page_blocks):
    """Lists of blocks, each from a heading on."""
    parts = [[]]
    for block in page_blocks:
        if block[0][0] == "h" and parts[-1]: parts.append([])
        parts[-1].append(block)
    return parts


def aligned(english, foreign):
    """Pairs of sentences or blocks. Pages with other headings give none."""
    english, foreign = sections(english), sections(foreign)
    if [part[0][0] for part in english if part] != [part[0][0] for part in foreign if part]: return
    for first, second in zip(english, foreign):
        if [kind for kind, _ in first] != [kind for kind, _ in second]: continue
        for (_, one), (_, other) in zip(first, second):
            ones, others = cleaning.sentences(one), cleaning.sentences(other)
            yield from zip(ones, others) if len(ones) == len(others) else [(one, other)]
