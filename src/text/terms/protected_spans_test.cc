#include "text/terms/protected_spans.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>

namespace heed {
namespace {

using testing::ElementsAre;

std::vector<std::string> found_spans(const std::string& text, SpanKind kind) {
  std::vector<std::string> result;
  for (const ProtectedSpan& span : find_protected_spans(text)) {
    if (span.kind == kind) result.push_back(text.substr(span.begin, span.end - span.begin));
  }
  return result;
}
std::vector<std::string> exact(const std::string& text) {
  return found_spans(text, SpanKind::kExact);
}
std::vector<std::string> numbers(const std::string& text) {
  return found_spans(text, SpanKind::kNumber);
}

TEST(ProtectedSpans, Addresses) {
  EXPECT_THAT(exact("Siehe https://a.example/x?Q=1&b=(2), oder www.heed.example."),
              ElementsAre("https://a.example/x?Q=1&b=(2", "www.heed.example"));
  EXPECT_THAT(exact("An anna.b+c@mail.example.org, bitte."), ElementsAre("anna.b+c@mail.example.org"));
  EXPECT_THAT(exact("Auf beispiel.de/seite steht mehr."), ElementsAre("beispiel.de/seite"));
  EXPECT_THAT(exact("Öffne setup.py und /etc/hosts!"), ElementsAre("setup.py", "/etc/hosts"));
  EXPECT_THAT(exact("Am Montag, d.h. morgen, und main.h."), ElementsAre("main.h"));
}

TEST(ProtectedSpans, AddressesAndCodesInCapitals) {
  EXPECT_THAT(exact("SIEHE WWW.EXAMPLE.COM UND HTTPS://EXAMPLE.COM/Ab?c=D, HEED.EXAMPLE.ORG. ENDE.ES WAR"),
              ElementsAre("WWW.EXAMPLE.COM", "HTTPS://EXAMPLE.COM/Ab?c=D", "HEED.EXAMPLE.ORG"));
  EXPECT_THAT(exact("CODE aB3xY ODER iPhone15, NICHT McDonald UND 5mWh"), ElementsAre("aB3xY", "iPhone15"));
}

TEST(ProtectedSpans, CodeAndTemplates) {
  EXPECT_THAT(exact("Rufe `f(x)` mit %s und %1$d auf."), ElementsAre("`f(x)`", "%s", "%1$d"));
  EXPECT_THAT(exact("Hallo {name}, {{ user.name }} und ${HOME} oder $PATH!"),
              ElementsAre("{name}", "{{ user.name }}", "${HOME}", "$PATH"));
  EXPECT_THAT(exact("Müller &amp; Sohn &#8211; @anna_b"), ElementsAre("&amp;", "&#8211;", "@anna_b"));
  EXPECT_THAT(exact("Das ⟦0⟧ hier."), ElementsAre("⟦0⟧"));
  EXPECT_THAT(exact("Noch 5 %s."), ElementsAre("%s"));
  EXPECT_THAT(exact("Das sind 50 % davon, 100 % sicher."), ElementsAre());
}

TEST(ProtectedSpans, EmojisAreWholes) {
  EXPECT_THAT(exact("Toll 👍🏽 und 👩‍👩‍👧 in 🇩🇪, ja ❤️ :-)"),
              ElementsAre("👍🏽", "👩‍👩‍👧", "🇩🇪", "❤️", ":-)"));
  // Flags with tags: Scotland, England and Wales.
  const std::string scotland = "\U0001F3F4\U000E0067\U000E0062\U000E0073\U000E0063\U000E0074\U000E007F",
                    england = "\U0001F3F4\U000E0067\U000E0062\U000E0065\U000E006E\U000E0067\U000E007F",
                    wales = "\U0001F3F4\U000E0067\U000E0062\U000E0077\U000E006C\U000E0073\U000E007F";
  EXPECT_THAT(exact("Los, " + scotland + england + " und " + wales + "!"),
              ElementsAre(scotland, england, wales));
}

TEST(ProtectedSpans, Powers) {
  EXPECT_THAT(exact("Es sind 10⁶ Zellen, 6,022·10²³, 10⁻⁹ und 2³²."),
              ElementsAre("10⁶", "10²³", "10⁻⁹", "2³²"));
  EXPECT_THAT(exact("E = mc² gilt seit 1990¹ für x²+y³, sin² und Ca²⁺."),
              ElementsAre("mc²", "1990¹", "x²", "y³", "sin²", "Ca²⁺"));
  // Units have translations, and words may have a footnote.
  EXPECT_THAT(exact("78 m², 5 km², 3 cm³, 9,81 m/s², 20 ft² je km² und das²"), ElementsAre());
}

/// Models write other names in place of these, or translate their parts.
TEST(ProtectedSpans, AddressesThatLookLikeWords) {
  EXPECT_THAT(exact("Besuchen Sie Amazon.de, my-site.app, bit.ly/aB3 oder http://localhost:80/x?y=1."),
              ElementsAre("Amazon.de", "my-site.app", "bit.ly/aB3", "http://localhost:80/x?y=1"));
  EXPECT_THAT(exact("Unter localhost:8080 und C:\\Program Files\\My App\\x.exe, nicht D:\\a oder b."),
              ElementsAre("localhost:8080", "C:\\Program Files\\My App\\x.exe", "D:\\a"));
  EXPECT_THAT(exact("Das ist gut.Er kommt, und/oder nicht, usw./etc. hier."), ElementsAre());
}

TEST(ProtectedSpans, CodesOfDigitsAndLetters) {
  EXPECT_THAT(exact("Paket 1Z999AA10123456784, Commit 75d16825, MAC 00-1a-2b-3c-4d-5e, id a1b2c3d4e5."),
              ElementsAre("1Z999AA10123456784", "75d16825", "00-1a-2b-3c-4d-5e", "a1b2c3d4e5"));
  EXPECT_THAT(exact("IBAN DE89 3704 0044 0532 0130 00 und GB29 NWBK 6016 1331 9268 19, DOI 10.1000/xyz.12."),
              ElementsAre("DE89 3704 0044 0532 0130 00", "GB29 NWBK 6016 1331 9268 19", "10.1000/xyz.12"));
  EXPECT_THAT(exact("Code 8F-32-AA, 7X-99-QQ und 12AB-7-Teil."),
              ElementsAre("8F-32-AA", "7X-99-QQ", "12AB-7"));
  EXPECT_THAT(exact("4K-TV, 3D-CAD-Teil, 9AM-5PM, 9AM-12, 100K-200K, 1ST-4TH, 1A-Lage, x-8F-32"),
              ElementsAre());
  EXPECT_THAT(exact("3D, 4K, 5G, 10AM, 20EUR, 100GB, 1990er, 1st, 500km, 1000000000000 mal 7654321a"),
              ElementsAre("1000000000000", "7654321a"));
}

TEST(ProtectedSpans, NamesWithSignsAndCapitalsInside) {
  EXPECT_THAT(exact("user_id, max_len2 und hello_world() sind Namen, Lehrer_innen und Kolleg_in nicht."),
              ElementsAre("user_id", "max_len2", "hello_world()"));
  EXPECT_THAT(exact("Mein iPhone, das GitHub-Konto, macOS, iOS, PayPals MacBook und LinkedIn."),
              ElementsAre("iPhone", "GitHub", "macOS", "iOS", "PayPals", "MacBook", "LinkedIn"));
  EXPECT_THAT(exact("McDonald, MacArthur, LehrerIn, LehrerInnen, JedeR, kWh, mAh, mmHg, pH, USA, Oh"),
              ElementsAre());
  EXPECT_THAT(exact("AT&T, H&M und die F&E, aber Kaffee&Kuchen, Tom & Jerry, a&b nicht."),
              ElementsAre("AT&T", "H&M", "F&E"));
}

TEST(ProtectedSpans, SignsThatModelsLose) {
  EXPECT_THAT(exact("Ab > 100 mg, <5 kg, ≥ 18, ±0,5 mm, >= 3 oder ~5 Leute"),
              ElementsAre(">", "<", "≥", "±", ">=", "~"));
  EXPECT_THAT(exact("Start | Einstellungen > Netz, a ^ b, I <3 you"), ElementsAre("|", ">", "^", "<3"));
  EXPECT_THAT(exact("Es gilt 10^6, x^2+y^2 = z^2, e^{2x} und m^-3."),
              ElementsAre("10^6", "x^2", "y^2", "z^2", "e^{2x}", "m^-3"));
  EXPECT_THAT(exact("<b>fett</b>, Herr <Name>, 3<b und a->b"), ElementsAre());
}

/// One for each pattern and kind of character that it can begin with.
TEST(ProtectedSpans, BeginWhereAWordCan) {
  for (const std::string span : {"⟦0⟧",
                                 "`x y`",
                                 "https://a.example/x",
                                 "anna@mail.example",
                                 "7anna@mail.example",
                                 "_anna@mail.example",
                                 "beispiel.de",
                                 "Beispiel.de",
                                 "fahrplan.example/heute",
                                 "localhost:8080/api",
                                 "7zwerge.de",
                                 "-beispiel.de",
                                 "&amp;",
                                 "{name}",
                                 "%1$s",
                                 "$HOME",
                                 "@anna",
                                 "/etc/hosts/x",
                                 "C:\\dir\\x",
                                 "setup.py",
                                 "7z.zip",
                                 "_init.py",
                                 "👍🏽",
                                 "🇩🇪",
                                 "01234567-89ab-cdef-0123-456789abcdef",
                                 "abcdefab-89ab-cdef-0123-456789abcdef",
                                 "2024-03-12",
                                 "17-05-2022",
                                 "12-34-56",
                                 "192.168.0.1",
                                 "999.168.0.1",
                                 "v1.2.3",
                                 "1.2.3",
                                 "+49 30 123456",
                                 "030 123456",
                                 "5'10\"",
                                 "1 1/2",
                                 "10⁶",
                                 "1,5⁻¹²",
                                 "10^6",
                                 "x^{2n}",
                                 "mc²",
                                 "α³",
                                 "½",
                                 "aB3xY",
                                 "A1-B2",
                                 "1Z999AA10",
                                 "8F-32-AA",
                                 "00:1A:2B:3C:4D:5E",
                                 "d41d8cd98f00b204",
                                 "10.1000/182",
                                 "4111 1111 1111 1111",
                                 "user_id",
                                 "getName()",
                                 "iPhone",
                                 "GitHub",
                                 "H&M",
                                 "12345678",
                                 "€ 5,50",
                                 "5,50 €",
                                 "1234"}) {
    for (const std::string before : {"", " ", "Wort ", "(", "\u00A0", "“"}) {
      const std::vector<ProtectedSpan> found = find_protected_spans(before + span + " ja");
      ASSERT_EQ(found.size(), 1) << before << span;
      EXPECT_EQ(found[0].begin, before.size()) << before << span;
      EXPECT_EQ(found[0].end, before.size() + span.size()) << before << span;
    }
    if (std::isalnum(static_cast<unsigned char>(span[0])) == 0) continue;
    const std::vector<ProtectedSpan> found = find_protected_spans("ä" + span + " ja");
    EXPECT_TRUE(found.empty() || found[0].begin != 2) << span;
  }
}

TEST(ProtectedSpans, WhatIsTooLongToBeAWord) {
  const std::string letters(20000, 'a'), base64 = "QUJD/" + std::string(300, 'x') + "+Zz==";
  EXPECT_THAT(exact(letters), ElementsAre(letters));
  EXPECT_THAT(exact("Hier: " + base64 + ", ja."), ElementsAre(base64));
  const std::string url = "https://a.example/" + std::string(500, 'q') + "?x=1";
  EXPECT_THAT(exact("Siehe " + url), ElementsAre(url));
  const std::string digits(2000, '7');  // not cut into the numbers that the patterns find
  EXPECT_THAT(exact("x " + digits + " y"), ElementsAre(digits));
  EXPECT_THAT(exact(std::string(199, 'a')), ElementsAre());
  EXPECT_THAT(exact("Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft"),
              ElementsAre());
  std::string chinese;
  for (int n = 0; n < 300; ++n) chinese += "猫";
  EXPECT_THAT(exact(chinese), ElementsAre());  // written without spaces
}

TEST(ProtectedSpans, LongWordsAmongOthers) {
  const std::string word(300, 'a'), url = "https://a.example/" + std::string(500, 'q') + "?x=1";
  EXPECT_THAT(exact("a@b.example " + word + ", `x` " + url + " " + word + word + " c@d.example"),
              ElementsAre("a@b.example", word, "`x`", url, word + word, "c@d.example"));
}

TEST(ProtectedSpans, IdentifiersAndNumbers) {
  EXPECT_THAT(exact("Version 2.0.1 auf 192.168.0.1 seit 2024-05-06"),
              ElementsAre("2.0.1", "192.168.0.1", "2024-05-06"));
  EXPECT_THAT(exact("1.500.000.000 von 8.200.000.000 Menschen, 255.255.255.0, 10.0.0.256:80"),
              ElementsAre("255.255.255.0", "10.0.0.256:80"));
  EXPECT_THAT(exact("Am 17-05-2022 kam 978-3-16-148410-0, nicht 1-2-3-"), ElementsAre("978-3-16-148410-0"));
  EXPECT_THAT(numbers("Am 17-05-2022 kam 978-3-16-148410-0."), ElementsAre("17-05-2022"));
  EXPECT_THAT(exact("Das 2-in-1-Tuch für 5-10 Kinder, 2019-2021."), ElementsAre());
  EXPECT_THAT(exact("Ruf +49 30 123456 oder 030 1234567 an, Kennung AB-12345."),
              ElementsAre("+49 30 123456", "030 1234567", "AB-12345"));
  EXPECT_THAT(exact("It lasts 1h 45m, 7 h 30 min or 2h 10m 5s; at 17h30, 2h, 5 m, 3 h 20 Minuten."),
              ElementsAre("1h 45m", "7 h 30 min", "2h 10m 5s"));
  EXPECT_THAT(exact("She is 5'10\", he 6’2”; in the '80s, 5'10 and \"quoted\"."),
              ElementsAre("5'10\"", "6’2”"));
  EXPECT_THAT(found_spans("½ Tasse, 1½ TL, 2 ¾ l, 1 1/2 cups; 3/4 l, 24/7, 2023/24, am 1 5/6/2024",
                          SpanKind::kFraction),
              ElementsAre("½", "1½", "2 ¾", "1 1/2"));
  EXPECT_THAT(numbers("Es kostet 19,99 € oder $5.00, 20 % von 1.500 Litern auf 3,5 km."),
              ElementsAre("19,99 €", "$5.00", "20 %", "1.500", "3,5 km"));
  EXPECT_THAT(numbers("Am 3.5.2024 kamen 12 Leute, 1984 keiner."), ElementsAre("1984"));
}

TEST(ProtectedSpans, VersionsWithLongNumbers) {
  EXPECT_THAT(exact("Version 10.0.19045 nach 120.0.6099.109 und 6.1.147-rc2."),
              ElementsAre("10.0.19045", "120.0.6099.109", "6.1.147-rc2"));
  EXPECT_THAT(exact("1.500.000 Euro, 1.234.567,89, 24.12.2026, 1.2.2026, 12.345.678.901"), ElementsAre());
}

TEST(ProtectedSpans, VersionsThatCouldBeDates) {
  EXPECT_THAT(exact("Version 2.9.14 vom 2.9.14, versión 3.10.22."), ElementsAre("2.9.14", "3.10.22"));
  EXPECT_THAT(exact("2.9.14 ist älter als 2.10.3."), ElementsAre("2.9.14", "2.10.3"));
  EXPECT_THAT(exact("v2.10.3 ersetzt 2.9.14."), ElementsAre("v2.10.3", "2.9.14"));
  EXPECT_THAT(exact("Bis 2.9.14 gab es 1.2.3 nicht."), ElementsAre("1.2.3"));
  EXPECT_THAT(exact("Am 2.9.14 und 3.9.14, Version 2."), ElementsAre());
  EXPECT_THAT(exact("Version vom 24.10.2022, Version 24.10.2022, 02.09.14"), ElementsAre());
  EXPECT_THAT(exact("Version 2.10.3 kam nach 3.5.2024 und 02.09.14."), ElementsAre("2.10.3"));
}

TEST(ProtectedSpans, OrdinaryTextHasNone) {
  for (const char* text : {"Der Hund schläft.", "Was? Nein! Er kam … zu spät.", "„Ja“, sagte sie; – ‚nein‘.",
                           "Um 14:30 Uhr, am 3. Mai, 5 Hunde.", "Dr. h. c. Müller, z. B. hier"}) {
    EXPECT_TRUE(find_protected_spans(text).empty()) << text;
  }
}

TEST(ProtectedSpans, LinearTime) {
  for (const char* unit :
       {"a.", "{",  "1.", "a@", "`",   "www.",  "/a",     "A-1", "aB", "WWW.", "⟦",        "a_",
        "A&", "1a", "1A", "x^", "0a:", "1234 ", "A:\\a ", "<",   "~",  "| ",   "10.1000/", "aBc "}) {
    std::string text;
    while (text.size() < 20'000) text += unit;
    find_protected_spans(text);  // a backtracking pattern would take minutes
  }
}

TEST(ProtectedSpans, ReportsMissingSpans) {
  const std::vector<RequiredText> wanted{{"%s", SpanKind::kExact},
                                         {"%s", SpanKind::kExact},
                                         {"19,99 €", SpanKind::kNumber},
                                         {"dog", SpanKind::kTerm}};
  EXPECT_THAT(missing_texts("%s costs €19.99, %s. Dog!", wanted), ElementsAre());
  EXPECT_THAT(missing_texts("%s costs 199,9: dogs", wanted), ElementsAre(1, 2, 3));
  EXPECT_THAT(missing_texts("He weighs 75 and is 1.80 m.",
                            {{"75 kg", SpanKind::kNumber}, {"1,80 m", SpanKind::kNumber}}),
              ElementsAre(0));
  EXPECT_THAT(
      missing_texts("5 euros, 1,500", {{"5\u00A0€", SpanKind::kNumber}, {"1.500", SpanKind::kNumber}}),
      ElementsAre());
  EXPECT_EQ(count_phrase("dog, dogs and hotdog: dog", "dog"), 2U);
  EXPECT_EQ(count_phrase("Aha ha ha", "ha ha"), 1U);
  EXPECT_EQ(count_phrase("Das Cafe\u0301 ist ein Cafe", "Cafe"), 1U);
}

}  // namespace
}  // namespace heed
