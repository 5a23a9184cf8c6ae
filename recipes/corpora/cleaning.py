"""What every corpus has in common: normal form, and which pairs are left out and why."""
import re
import unicodedata

MAX_WORDS = 100
MAX_LENGTH_RATIO = 3  # in characters; lengths below 15 count as 15

_INVISIBLE = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u2060\ufeff"))
_PLACEHOLDER = re.compile(r"\{[^{}]*\}|(?<!\d)(?<!\d )%(?:\(\w+\))?(?:\d+\$)?[-+#0]*\d*(?:\.\d+)?[sdifgr@](?![a-zA-Z])|(?<!\d)%\d|"
                          r"\$[A-Za-z_]\w*|</?\w[^>]*>|&\w+;|\\[nt]|@:\w|__\w+__")
_MARKUP = re.compile(r"\]\(|\*\*|\[!|<!--|```|\{\{|\}\}|:::")

_FUNCTION_WORDS = {  # frequent, and rare in the other two languages
    "de": "der das den dem des und ist nicht ein eine einen einem einer sie ich wir ihr mit auf für von zu im zum zur sich auch "
          "wird werden sind wenn oder aber bei nach über aus kann können wie dass diese dieser dieses ihre hat haben".split(),
    "en": "the and of to is are you that it for on with this be have not your can was at by from an they we or if will what "
          "which when there has would their been how do does".split(),
    "es": "el la los las de y que en un una es por con para del al su se no lo como más pero sus este esta son está puede si "
          "cuando o sobre ser muy ha también desde".split(),
}
_FUNCTION_WORDS = {language: set(words) for language, words in _FUNCTION_WORDS.items()}


def normal(text):
    """NFC, no invisible characters, single spaces."""
    return " ".join(unicodedata.normalize("NFC", text).translate(_INVISIBLE).split())


def without_tags(text):
    """Without elements of XML: Press <key>Ctrl</key> is Press Ctrl."""
    return re.sub(r"</?[a-z][^<>]*>", "", text)


def key(text):
    """What two sentences have in common that differ in case, punctuation and web addresses only."""
    return " ".join(re.findall(r"\w+", re.sub(r"https?://\S+", "url", text.casefold())))


def looks_like_another(text, language):
    """Whether the text has more function words of another language than of its own. Short texts tell nothing."""
    words = re.findall(r"\w+", text.casefold())
    if len(words) < 4: return False
    hits = {each: sum(word in known for word in words) for each, known in _FUNCTION_WORDS.items()}
    return max(hits.values()) > hits[language] + (1 if len(words) < 8 else 0)


def fault(first, second, languages):
    """Why a pair is left out: empty, placeholder, markup, long, ratio, identical, letters, numbers, language; None if it is not."""
    if not first or not second: return "empty"
    if _PLACEHOLDER.search(first) or _PLACEHOLDER.search(second): return "placeholder"
    if _MARKUP.search(first) or _MARKUP.search(second): return "markup"
    words = [len(text.split()) for text in (first, second)]
    if max(words) > MAX_WORDS: return "long"
    lengths = [max(15, len(text)) for text in (first, second)]
    if max(lengths) > MAX_LENGTH_RATIO * min(lengths): return "ratio"
    if first == second: return "identical"
    if not all(re.search(r"[^\W\d_]{2}", text) for text in (first, second)): return "letters"
    if _long_numbers(first) != _long_numbers(second): return "numbers"
    if any(looks_like_another(text, language) for text, language in zip((first, second), languages)): return "language"
    return None


def _long_numbers(text):
    """Numbers of three digits and more, without grouping marks: they are the same in a translation."""
    return sorted(re.findall(r"\d{3,}", re.sub(r"(?<=\d)[.,\u202f\u00a0 ](?=\d{3}\b)", "", text)))


def sentences(text):
    """Sentences of a paragraph: after a mark that ends one, where a capital, an opening mark or a digit follows."""
    return re.split(r"(?<=[.!?…])(?<!\b\w\.)(?<!\b(?:z\.B|bzw|ggf|etc)\.)(?<!\b(?:Nr|Dr|Sr|vs|ca)\.) +(?=[A-ZÄÖÜÁÉÍÓÚÑ¿¡„\"«(0-9])", text) if text else []


class Cleaner:
    """Decides on the pairs of all corpora in turn; a pair is kept once."""

    def __init__(self, languages, held_out=(), known=()):
        """held_out: sentences that no side may equal; known: pairs (first, second) that other corpora have."""
        self.languages = languages
        self.held_out = {key(text) for text in held_out if len(text.split()) > 1}
        self.seen = {(key(first), key(second)) for first, second in known}

    def reason_to_drop(self, first, second):
        """Also remembers a pair that is kept."""
        reason = fault(first, second, self.languages)
        if reason: return reason
        pair = key(first), key(second)
        if pair[0] in self.held_out or pair[1] in self.held_out: return "held out"
        if pair in self.seen: return "duplicate"
        self.seen.add(pair)
        return None
