"""Numbers, clock times and dates in words: German, English, Spanish.

English is American: "seven hundred twenty-three", "March 12, 2024", "6:07 p.m.". Where a language has other ways to say
the same, *_variants() lists them; the first is the usual one.
"""

MONTHS = {
    "de": "Januar Februar März April Mai Juni Juli August September Oktober November Dezember".split(),
    "en": "January February March April May June July August September October November December".split(),
    "es": "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre".split(),
}

# ---- number words -------------------------------------------------------------------------------------------------

_DE = ("null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn "
       "achtzehn neunzehn").split()
_DE_TENS = ". . zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig".split()
_EN = ("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
       "eighteen nineteen").split()
_EN_TENS = ". . twenty thirty forty fifty sixty seventy eighty ninety".split()
_ES = ("cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis diecisiete "
       "dieciocho diecinueve veinte veintiuno veintidós veintitrés veinticuatro veinticinco veintiséis veintisiete "
       "veintiocho veintinueve").split()
_ES_TENS = ". . . treinta cuarenta cincuenta sesenta setenta ochenta noventa".split()
_ES_HUNDREDS = (". ciento doscientos trescientos cuatrocientos quinientos seiscientos setecientos ochocientos "
                "novecientos").split()


def german_number(n):
    """n in words as one counts, 0 to 999,999: 73 is dreiundsiebzig, 201 zweihunderteins."""
    _check(n)
    if n < 20: return _DE[n]
    if n < 100:
        tens, ones = divmod(n, 10)
        return (_joined_german(ones) + "und" if ones else "") + _DE_TENS[tens]
    for unit, name in ((1000, "tausend"), (100, "hundert")):
        if n >= unit:
            many, rest = divmod(n, unit)
            return _joined_german(many) + name + (german_number(rest) if rest else "")
    raise AssertionError(n)


def _joined_german(n):
    """n in front of another part of a number: 1 is ein, 21 einundzwanzig, 101 hundertein."""
    words = german_number(n)
    return words[:-1] if words.endswith("eins") else words


def english_number(n, british=False):
    """n in words, 0 to 999,999. British: "two hundred and one", American: "two hundred one"."""
    _check(n)
    if n < 20: return _EN[n]
    if n < 100:
        tens, ones = divmod(n, 10)
        return _EN_TENS[tens] + ("-" + _EN[ones] if ones else "")
    unit, name = (1000, "thousand") if n >= 1000 else (100, "hundred")
    many, rest = divmod(n, unit)
    link = " and " if british and rest and (unit == 100 or rest < 100) else " "
    return f"{english_number(many, british)} {name}" + (link + english_number(rest, british) if rest else "")


def spanish_number(n, gender=None):
    """n in words, 0 to 999,999. gender: "m" or "f" of the noun behind it (veintiún libros, doscientas una casas); without it
    the number stands alone (veintiuno)."""
    _check(n)
    if n >= 1000:
        many, rest = divmod(n, 1000)
        thousands = "mil" if many == 1 else spanish_number(many, gender or "m") + " mil"
        return thousands + (" " + spanish_number(rest, gender) if rest else "")
    if n == 100: return "cien"
    if n > 100:
        hundreds, rest = divmod(n, 100)
        words = _ES_HUNDREDS[hundreds]
        if gender == "f": words = words.replace("cientos", "cientas").replace("quinientos", "quinientas")
        return words + (" " + spanish_number(rest, gender) if rest else "")
    if n < 30: words = _ES[n]
    else:
        tens, ones = divmod(n, 10)
        words = _ES_TENS[tens] + (" y " + _ES[ones] if ones else "")
    if not words.endswith("uno") or gender is None: return words
    if gender == "f": return words[:-1] + "a"
    return "veintiún" if words == "veintiuno" else words[:-1]


def _check(n):
    if not 0 <= n < 1_000_000: raise ValueError(f"number words are from 0 to 999,999, not {n}")


# ---- clock times --------------------------------------------------------------------------------------------------
# A time on the face of a clock has an hour from 1 to 12 and minutes that are a multiple of five.


def german_clock_variants(hour, minute, digits=False):
    """As said after "um": 9:30 is halb zehn, 8:45 Viertel vor neun. digits: the hour as a figure, halb 10."""
    name = lambda h: str((h - 1) % 12 + 1) if digits else german_number((h - 1) % 12 + 1)
    this, following = name(hour), name(hour + 1)
    if minute == 0:
        return [f"{this} Uhr"] if digits else [("ein" if this == "eins" else this) + " Uhr", this]
    if minute == 15: return [f"Viertel nach {this}", f"viertel nach {this}", f"viertel {following}"]
    if minute == 30: return [f"halb {following}"]
    if minute == 45: return [f"Viertel vor {following}", f"viertel vor {following}", f"dreiviertel {following}"]
    minutes = german_number
    if minute == 25: return [f"fünf vor halb {following}"]
    if minute == 35: return [f"fünf nach halb {following}"]
    if minute < 30: return [f"{minutes(minute)} nach {this}"] + ([f"zehn vor halb {following}"] if minute == 20 else [])
    return [f"{minutes(60 - minute)} vor {following}"] + ([f"zehn nach halb {following}"] if minute == 40 else [])


def english_clock_variants(hour, minute, digits=False):
    """As said after "at": 9:30 is half past nine, 8:45 a quarter to nine."""
    name = lambda h: str((h - 1) % 12 + 1) if digits else english_number((h - 1) % 12 + 1)
    this, following = name(hour), name(hour + 1)
    if minute == 0: return [f"{this} o'clock"] + ([] if digits else [this])
    spoken = [] if digits else [f"{this} {'oh ' if minute < 10 else ''}{english_number(minute)}"]
    if minute == 30: return [f"half past {this}"] + spoken
    if minute == 15: return [f"a quarter past {this}", f"quarter past {this}", f"a quarter after {this}"] + spoken
    if minute == 45: return [f"a quarter to {following}", f"quarter to {following}", f"a quarter till {following}"] + spoken
    if minute < 30: return [f"{english_number(minute)} past {this}", f"{english_number(minute)} after {this}"] + spoken
    return [f"{english_number(60 - minute)} to {following}", f"{english_number(60 - minute)} till {following}"] + spoken


def spanish_clock_variants(hour, minute, digits=False):
    """With its article, as said after "a": 9:30 is las nueve y media, 12:45 la una menos cuarto."""
    def name(h):
        h = (h - 1) % 12 + 1
        return ("la " if h == 1 else "las ") + (str(h) if digits else spanish_number(h, "f"))
    this, following = name(hour), name(hour + 1)
    if minute == 0: return [this] + ([] if digits else [f"{this} en punto"])
    parts = {15: "cuarto", 30: "media"}
    spoken = [f"{this} y {spanish_number(minute)}"]
    if minute <= 30: return [f"{this} y {parts[minute]}"] + spoken if minute in parts else spoken
    left = "cuarto" if minute == 45 else spanish_number(60 - minute)
    return [f"{following} menos {left}"] + spoken


def twelve_hour(hour, minute, full_hour_digits=False):
    """18:07 as English writes it: 6:07 p.m.; a full hour is 6 p.m., noon or midnight, or with full_hour_digits 6:00 p.m."""
    if minute == 0 and not full_hour_digits:
        if hour in (0, 12): return "midnight" if hour == 0 else "noon"
        return f"{(hour - 1) % 12 + 1} {'a.m.' if hour < 12 else 'p.m.'}"
    return f"{(hour - 1) % 12 + 1}:{minute:02d} {'a.m.' if hour < 12 else 'p.m.'}"


# ---- dates --------------------------------------------------------------------------------------------------------


def long_date(language, day, month, year=None):
    """12. März 2024; March 12, 2024; 12 de marzo de 2024. Without a year: 12. März, and so on."""
    name = MONTHS[language][month - 1]
    if language == "de": return f"{day}. {name}" + (f" {year}" if year else "")
    if language == "en": return f"{name} {day}" + (f", {year}" if year else "")
    return f"{day} de {name}" + (f" de {year}" if year else "")
