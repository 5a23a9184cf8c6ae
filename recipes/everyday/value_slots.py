"""What fills the slots of sentence templates that are made rather than listed: numbers, prices, times, dates, addresses.

A slot is a function of a random.Random that returns a value in German, English and Spanish. Each is a string, or a list of
ways to write it, the usual one first; fill-templates takes others only in the language that is translated from.
"""
import re

from numerals import (MONTHS, english_clock_variants, english_number, german_clock_variants, german_number, long_date,
                      spanish_clock_variants, spanish_number, twelve_hour)

# ---- numbers and amounts in figures -------------------------------------------------------------------------------


def grouped(n, mark): return re.sub(r"(?<=\d)(?=(\d{3})+$)", mark, str(n))


def decimal(value, digits, language):
    whole, _, rest = f"{value:.{digits}f}".partition(".")
    thousands, point = {"de": (".", ","), "en": (",", "."), "es": (".", ",")}[language]
    if language == "es" and len(whole) == 4: thousands = ""
    if len(whole) > 3 and thousands: whole = grouped(whole, thousands)
    return whole + (point + rest if rest else "")


def _decimals(value, digits): return [decimal(value, digits, language) for language in ("de", "en", "es")]


def price(rnd):
    value = rnd.choice([rnd.randint(1, 99), rnd.randint(100, 3000), rnd.randint(1, 60) + rnd.choice([.5, .99, .95, .9, .49, .2, .75])])
    de, en, es = _decimals(value, 0 if value == int(value) else 2)
    style = rnd.random()
    if style < .6: return [f"{de} €", f"€{en}", f"{es} €"]
    if style < .85: return [f"{de} Euro", f"{en} euros", f"{es} euros"]
    return [f"{de} $", f"${en}", f"{es} $"]


def big_number(rnd):
    style = rnd.random()
    if style < .5:
        n = rnd.choice([rnd.randint(1100, 9999), rnd.randint(10000, 999999)])
        return [grouped(n, "."), grouped(n, ","), str(n) if n < 10000 else grouped(n, ".")]
    if style < .75:
        n = rnd.randint(2, 900)
        return [f"{n} Millionen", f"{n} million", f"{n} millones de"]
    n = rnd.randint(1100000, 90000000)
    return [grouped(n, "."), grouped(n, ","), grouped(n, ".")]


def percent(rnd):
    value = rnd.choice([rnd.randint(2, 98), rnd.randint(2, 80) + rnd.randint(1, 9) / 10])
    de, en, es = _decimals(value, 0 if value == int(value) else 1)
    return [f"{de} %", f"{en}%", f"{es} %"] if rnd.random() < .6 else [f"{de} Prozent", f"{en} percent", f"{es} por ciento"]


def temperature(rnd):
    value = rnd.choice([rnd.randint(-25, 42), rnd.randint(-15, 42), rnd.randint(350, 415) / 10])
    de, en, es = _decimals(value, 0 if value == int(value) else 1)
    return [[f"{de} °C", f"{de}°C", f"{de} ° C"], [f"{en} °C", f"{en}°C", f"{en} ° C"], [f"{es} °C", f"{es}°C", f"{es} ° C"]]


def frost_in_words(rnd):
    n = rnd.randint(2, 30)
    return [[f"minus {german_number(n)} Grad", f"minus {n} Grad"], [f"minus {english_number(n)} degrees", f"minus {n} degrees"],
            [f"{spanish_number(n, 'm')} grados bajo cero", f"{n} grados bajo cero", f"menos {n} grados"]]


# ---- number words -------------------------------------------------------------------------------------------------


def _number_for_words(rnd): return rnd.choice([rnd.randint(21, 99), rnd.randint(21, 99), rnd.randint(100, 999)])


def number_alone(rnd):
    """Not in front of a noun: room three hundred one, habitación trescientos uno."""
    return _words(_number_for_words(rnd), None)


def counted(gender):
    """In front of a noun of this gender in Spanish. No 201: German would have to decline its last part."""
    def slot(rnd):
        n = _number_for_words(rnd)
        return _words(n + 1 if n > 100 and n % 100 == 1 else n, gender)
    return slot


def _words(n, gender):
    german = german_number(n)
    return [[german] + ([german[3:]] if 100 <= n < 200 else []), [english_number(n), english_number(n, british=True)], spanish_number(n, gender)]


# ---- times --------------------------------------------------------------------------------------------------------


def _with_figures(variants, hour, minute):
    """Words, then with the hour as a figure (halb 10)."""
    return variants(hour, minute) + variants(hour, minute, digits=True)


def _face(rnd): return rnd.randint(1, 12), rnd.choice([0, 5, 10, 15, 15, 20, 25, 30, 30, 30, 35, 40, 45, 45, 50, 55])


def _clock(hour, minute):
    return [_with_figures(v, hour, minute) for v in (german_clock_variants, english_clock_variants, spanish_clock_variants)]


def clock(rnd):
    """halb zehn; half past nine; las nueve y media."""
    return _clock(*_face(rnd))


def clock_statement(rnd):
    """es ist halb zehn; it's half past nine; son las nueve y media."""
    german, english, spanish = clock(rnd)
    es = [("es " if form.startswith("la ") else "son ") + form for form in spanish]
    return [["es ist " + form for form in german], [it + form for it in ("it's ", "it is ") for form in english], es]


def clock_of_day(rnd):
    """halb zehn abends; half past nine in the evening; las nueve y media de la noche."""
    parts = {"morgens": ("in the morning", "de la mañana", range(5, 11)), "nachmittags": ("in the afternoon", "de la tarde", range(1, 5)),
             "abends": ("in the evening", "de la noche", range(8, 11)), "nachts": ("at night", "de la madrugada", range(1, 4))}
    german, (english, spanish, hours) = rnd.choice(sorted(parts.items()))
    _, minute = _face(rnd)
    return [[f"{form} {part}" for form in forms]
            for forms, part in zip(_clock(rnd.choice(hours), minute), (german, english, spanish))]


def _hour_and_minute(rnd):
    hour = rnd.choice(list(range(24)) + list(range(6, 24)) + list(range(13, 24)))
    return hour, rnd.choice([0, 0, 15, 30, 45, rnd.randint(1, 59), rnd.randint(1, 59), rnd.randint(0, 11) * 5])


def timetable_time(rnd):
    """18:07 Uhr; 6:07 p.m.; las 18:07, with the article in Spanish."""
    hour, minute = _hour_and_minute(rnd)
    spanish = f"{'la' if hour == 1 else 'las'} {hour}:{minute:02d}"
    english = twelve_hour(hour, minute)
    german = [f"{hour}:{minute:02d} Uhr", f"{hour}.{minute:02d} Uhr", f"{hour}:{minute:02d}"]
    if minute: german.append(f"{hour} Uhr {minute}")
    else: german.insert(0, f"{hour} Uhr")
    if hour < 10: german.append(f"0{hour}:{minute:02d} Uhr")
    face = (hour - 1) % 12 + 1
    part = "de la madrugada" if hour < 6 else "de la mañana" if hour < 12 else "de la tarde" if hour < 20 else "de la noche"
    return [german, _english_ways(english, hour, minute), [spanish, spanish.replace(":", "."), spanish + " h"] + (
        [f"{'la' if face == 1 else 'las'} {face}:{minute:02d} {suffix}" for suffix in ("a. m." if hour < 12 else "p. m.", part)]
        if hour not in (0, 12) else [])]


def _english_ways(text, hour, minute):
    """6:07 p.m., 6:07 pm, 6:07pm, 6:07 PM, 18:07, and before noon 6:07 alone."""
    ways = [text]
    if text.endswith(".m."):
        figures, half = text.split()
        ways += [f"{figures} {half.replace('.', '')}", f"{figures}{half.replace('.', '')}", f"{figures} {half.replace('.', '').upper()}"]
        if hour > 12 or (hour < 12 and minute): ways.append(f"{hour}:{minute:02d}")
    return ways


def time_before_uhr(rnd):
    """18:07 in front of "Uhr" and behind "las": no hour from 1:00 to 1:59."""
    hour, minute = _hour_and_minute(rnd)
    if hour == 1: hour = 13
    return [[f"{hour}:{minute:02d}", f"{hour}.{minute:02d}"], _english_ways(twelve_hour(hour, minute), hour, minute), f"{hour}:{minute:02d}"]


def opening_hours(rnd):
    """von 8 bis 20 Uhr; from 8 a.m. to 8 p.m.; de 8:00 a 20:00."""
    opens = rnd.randint(6, 16)
    closes = rnd.randint(max(opens + 1, 10), 23)
    minutes = rnd.choice([(0, 0), (0, 0), (30, 0), (0, 30), (30, 30), (15, 45)])
    german = [str(h) if not any(minutes) else f"{h}:{m:02d}" for h, m in zip((opens, closes), minutes)]
    english = [twelve_hour(h, m) for h, m in zip((opens, closes), minutes)]
    spanish = [f"{h}:{m:02d}" for h, m in zip((opens, closes), minutes)]
    return [[f"von {german[0]} bis {german[1]} Uhr", f"von {german[0]} Uhr bis {german[1]} Uhr"] + (
                [] if any(minutes) else [f"von {opens}:00 bis {closes}:00 Uhr"]),
            [f"from {english[0]} to {english[1]}", f"from {_bare(english[0])} to {_bare(english[1])}"], f"de {spanish[0]} a {spanish[1]}"]


def _bare(english): return english.replace("a.m.", "am").replace("p.m.", "pm")


# ---- dates --------------------------------------------------------------------------------------------------------


def month_day(rnd):
    """24. Oktober; October 24; 24 de octubre."""
    day, month = rnd.randint(1, 28), rnd.randint(1, 12)
    english = MONTHS["en"][month - 1]
    return [[long_date("de", day, month), f"{day:02d}.{month:02d}.", f"{day}.{month}."],
            [long_date("en", day, month), f"{english} {ordinal(day)}", f"{day} {english}", f"the {ordinal(day)} of {english}"],
            long_date("es", day, month)]


def full_date(rnd):
    """12. März 2024; March 12, 2024; 12 de marzo de 2024. In figures the English month comes first."""
    day, month, year = rnd.randint(1, 31), rnd.randint(1, 12), rnd.choice([rnd.randint(2015, 2032), rnd.randint(1900, 2015)])
    if day > 28: day = day if month in (1, 3, 5, 7, 8, 10, 12) else 28
    iso = f"{year}-{month:02d}-{day:02d}"
    english = MONTHS["en"][month - 1]
    return [[long_date("de", day, month, year), f"{day:02d}.{month:02d}.{year}", f"{day:02d}.{month:02d}.{year}", f"{day}.{month}.{year}", iso],
            [long_date("en", day, month, year), f"{day} {english} {year}", f"{english} {ordinal(day)}, {year}", f"{month}/{day}/{year}",
             f"{month:02d}/{day:02d}/{year}", iso],
            [long_date("es", day, month, year), f"{day:02d}/{month:02d}/{year}", f"{day}/{month}/{year}", f"{day:02d}-{month:02d}-{year}", iso]]


def ordinal(n):
    """1st, 2nd, 3rd, 4th, 11th."""
    return str(n) + ("th" if n % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th"))


# ---- names of things that no language changes ---------------------------------------------------------------------


def same(make): return lambda rnd: [make(rnd)] * 3


_SYLLABLES = ["an", "be", "lo", "mi", "ra", "so", "tu", "ker", "lin", "nor", "pa", "vel", "zen"]


def _made_up_word(rnd): return "".join(rnd.choice(_SYLLABLES) for _ in range(rnd.randint(2, 4)))


def _top_level(rnd): return rnd.choice(["com", "de", "org", "net", "es", "eu", "info", "io"])


def _url(rnd):
    path = rnd.choice(["", "", "/", "/" + _made_up_word(rnd), f"/{_made_up_word(rnd)}/{rnd.randint(1, 999)}",
                       f"/{_made_up_word(rnd)}.html", f"/?id={rnd.randint(1, 9999)}"])
    scheme = rnd.choice(["https://", "http://", "https://www.", "www.", ""])
    return f"{scheme}{_made_up_word(rnd)}{rnd.choice(['', '-' + _made_up_word(rnd)])}.{_top_level(rnd)}{path}"


def _email(rnd):
    number = rnd.choice(["", str(rnd.randint(1, 99))])
    return f"{_made_up_word(rnd)}{rnd.choice(['.', '_', ''])}{_made_up_word(rnd)}{number}@{_made_up_word(rnd)}.{_top_level(rnd)}"


def _phone(rnd):
    form = rnd.choice(["+49 {} {}", "+34 {} {}", "0{}/{}", "0{} {}", "+1 {}-{}"])
    return form.format(rnd.randint(30, 999), rnd.randint(10000, 9999999))


def _letters(rnd, n): return "".join(rnd.choice("ABCDEFGHJKLMNPRSTUVWXYZ") for _ in range(n))


def _room(rnd):
    return rnd.choice([str(rnd.randint(2, 40)), str(rnd.randint(101, 929)), f"{rnd.choice('ABCDE')}{rnd.randint(1, 30)}",
                       f"{rnd.randint(1, 9)}.{rnd.randint(10, 49)}"])


def _code(rnd):
    return rnd.choice([f"{_letters(rnd, 2)}-{rnd.randint(1000, 99999)}", f"{rnd.randint(1000, 9999)}-{_letters(rnd, 2)}",
                       f"{_letters(rnd, 1)}{rnd.randint(100, 999)}-{rnd.randint(10, 99)}", str(rnd.randint(10000, 9999999)),
                       f"{rnd.randint(2015, 2030)}/{rnd.randint(10, 9999)}"])


def _flight(rnd): return rnd.choice(["LH", "IB", "BA", "AF", "KL", "UX", "EW", "LX", "OS", "AA"]) + rnd.choice([" ", ""]) + str(rnd.randint(12, 8999))


def _line(rnd): return rnd.choice([str(rnd.randint(1, 399)), f"U{rnd.randint(1, 9)}", f"S{rnd.randint(1, 9)}", f"M{rnd.randint(1, 48)}"])


def _train(rnd): return f"{rnd.choice(['ICE', 'IC', 'RE', 'RB', 'EC', 'AVE'])} {rnd.randint(2, 9899)}"


def _marker(rnd):
    n = rnd.randint(1, 20)
    return rnd.choice([f"{n}.", f"{n}.", f"{n}.", f"{n})", f"({n})", f"{rnd.choice('abcdef')})", "-", "–", "•", "*", "[ ]", "[x]"])


MADE = {
    "price": price, "bignumber": big_number, "percent": percent, "temperature": temperature, "frost": frost_in_words,
    "n": same(lambda rnd: str(rnd.randint(2, 99))),
    "year": same(lambda rnd: str(rnd.choice([rnd.randint(1950, 2030), rnd.randint(1200, 1950)]))),
    "words": number_alone, "words_m": counted("m"), "words_f": counted("f"),
    "time": time_before_uhr, "clock": clock, "clockis": clock_statement, "clockday": clock_of_day, "oclock": timetable_time,
    "hours": opening_hours, "date": month_day, "fulldate": full_date,
    "url": same(_url), "email": same(_email), "phone": same(_phone), "room": same(_room), "code": same(_code),
    "flight": same(_flight), "train": same(_train), "platform": same(lambda rnd: str(rnd.randint(1, 26))),
    "gate": same(lambda rnd: rnd.choice("ABCDK") + str(rnd.randint(1, 79))), "line": same(_line), "marker": same(_marker),
}
IN_WORDS = {"words", "words_m", "words_f", "clock", "clockis", "clockday", "frost", "hours"}
