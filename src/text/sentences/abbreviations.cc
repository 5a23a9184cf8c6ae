#include "text/sentences/abbreviations.h"

#include <unicode/uchar.h>
#include <unicode/unistr.h>
#include <unicode/ures.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "base/text/ascii.h"
#include "text/unicode/whitespace.h"

namespace heed {
namespace {

/// Space-separated words. Lower-case entries also match the capitalized form.
struct Lists {
  std::string_view language, before_name, before_number, may_end, starters;
};

constexpr std::array<Lists, 3> kLists{{
    {"de",
     "Dr Prof med phil jur rer nat Fa Hr Hrn Fr Frl Frhr Dipl Ing Mag Hl Gebr St vgl bzw ca ggf evtl inkl "
     "exkl einschl zzgl sog geb "
     "verh verw ehem gegr gest eigtl bes allg insb vs resp lt gem mind max od z.b z.B d.h h.c m.a.W m.E "
     "i.d.R "
     "u.u. cf",
     "Nr Nrn Kap Abb Tab Bd Bde Jg Abs Art Ziff Tel Fax Mo Di Mi Do Sa So Jan Feb Mär Mrz Apr Jun Jul Aug "
     "Sep Sept Okt Nov Dez Anm Fn Hausnr Pos",
     "Mio Mrd Tsd Std Min Sek Co jun sen Jh Jhd Jhdt Chr ff f MwSt Bhf Hbf Abt Univ Inc Ltd",
     "Der Die Das Den Dem Des Ein Eine Einen Einem Einer Ich Du Er Sie Es Wir Ihr Mein Meine Dein Deine Sein "
     "Seine Unser Unsere Ihre Und Aber Oder Doch Denn Dann Danach Dort Dorthin Da Dabei Dafür Damals Damit "
     "Darum Deshalb Deswegen Daher Hier Heute Gestern Morgen Jetzt Nun Am Im In An Auf Bei Beim Mit Nach Von "
     "Vom Vor Zu Zum Zur Um Aus Für Gegen Ohne Seit Über Unter Durch Während Wegen Trotz Wenn Weil Als Ob "
     "Dass Wie Was Wer Wen Wem Wo Wann Warum Wieso Woher Wohin Welche Welcher Welches Ist Sind War Waren Hat "
     "Haben Hatte Hast Bist Kann Kannst Können Könnten Muss Müssen Soll Sollen Will Willst Wird Werden Würde "
     "Darf Dürfen Möchten Nicht Nein Ja Kein Keine Man Alle Alles Auch So Noch Nur Schon Sogar Vielleicht "
     "Bitte Danke Vielen Dies Diese Diesen Dieser Dieses Jeder Jede Jedes Viele Manche Manchmal Niemand "
     "Jemand Etwas Nichts Leider Trotzdem Außerdem Jedoch Später Zuerst Zuletzt Endlich Natürlich Sei Mir "
     "Dir Ihm Ihn Ihnen Uns Euch Mich Dich Oft Immer Nie"},
    {"en",
     "Mr Mrs Ms Mx Dr Prof Rev Gen Col Maj Capt Lt Sgt Cpl Cmdr Adm Sen Rep Gov Pres Hon Messrs Mme Mlle "
     "e.g i.e cf vs viz approx resp ca",
     "No Nos Nr fig figs Sec Sect chap Vol vol vols Art Eq p pp par Tab Tel Ext Jan Feb Mar Apr Jun Jul Aug "
     "Sep Sept Oct Nov Dec Mon Tue Tues Wed Thu Thur Thurs Fri",
     "Jr Sr Inc Ltd Co Corp Bros Ph.D St Mt Ft Ave Blvd Rd Ln Dept Univ Assn Est",
     "The A An I You He She It We They My Your His Her Its Our Their This That These Those There Here What "
     "Who Whom Where When Why How Which Whose Is Are Was Were Do Does Did Don Have Has Had Can Could Will "
     "Would Should Must And But Or So Then Now If Because As At In On By For From With Without To After "
     "Before Since Until While Although Though However Therefore Thus Not No Yes Please Thanks Let Nobody "
     "Someone Somebody Everyone Everybody Nothing Something Some Many Most All Both Each Every One Another "
     "Other Others Today Yesterday Tomorrow Later Next Finally Perhaps Maybe Also Only Just Even Still Never "
     "Always Once It's I'm He's She's We're They're You're That's There's"},
    {"es",
     "sr sra srta sres sras dr dra drs dres dña Dn prof profa lic ing arq gral cnel tte sgto Mons Sto Sta "
     "excmo excma ilmo ilma rvdo hno hna avda av pza p.ej ej EE cf vs",
     "pág págs cap caps núm núms art arts vol vols fig figs tel teléf apdo no nro ed aprox máx mín "
     "ene feb abr may jun jul ago sep sept oct nov dic lun mié jue vie sáb dom",
     "ud uds vd vds UU EE.UU Cía ltda dpto depto Jr hnos Inc Co",
     "El La Los Las Lo Un Una Unos Unas Yo Tú Él Ella Ello Nosotros Nosotras Vosotros Vosotras Ellos Ellas "
     "Usted Ustedes Mi Mis Tu Tus Su Sus Nuestro Nuestra Este Esta Esto Estos Estas Ese Esa Eso Aquel "
     "Aquella "
     "Aquello Es Son Era Eran Fue Fueron Está Están Estaba Soy Estoy Somos Hay Había Ha Han He No Sí Y E "
     "Pero "
     "O U Si Se Me Te Le Les Nos En De Del Al A Con Sin Por Para Desde Hasta Entre Sobre Tras Cuando Como "
     "Donde Porque Aunque Mientras Después Antes Luego Entonces Ahora Hoy Ayer Mañana Aquí Allí Allá Ahí "
     "También Tampoco Ya Nunca Siempre Todo Toda Todos Todas Nadie Nada Alguien Algo Cada Qué Quién Cómo "
     "Dónde Cuándo Cuál Cuánto Cuántos Muchos Muchas Algunos Algunas Otro Otra"},
}};

/// Abbreviations of kTimeOfDay: "9 a.m. Monday", "5 p.m. EST".
constexpr std::string_view kTimesOfDay = "a.m p.m";

void add(std::string_view list, Abbreviation kind, std::unordered_map<std::string, Abbreviation>& words) {
  for (const std::string_view word : split_whitespace(list)) {
    words.emplace(word, kind);
    std::string capitalized(word);
    capitalized[0] = ascii_upper(capitalized[0]);
    words.emplace(std::move(capitalized), kind);
  }
}

struct CloseBundle {
  void operator()(UResourceBundle* bundle) const { ures_close(bundle); }
};
using Bundle = std::unique_ptr<UResourceBundle, CloseBundle>;

/// Adds CLDR's abbreviations for a language (most languages have none). ICU's own filter is not used, since
/// it also matches the ends of longer words ("Häuser." for "r.").
void add_from_cldr(const std::string& language, std::unordered_map<std::string, Abbreviation>& words) {
  UErrorCode code = U_ZERO_ERROR;
  Bundle rules(ures_openDirect(U_ICUDATA_NAME "-brkitr", language.c_str(), &code));
  Bundle exceptions(ures_getByKey(rules.get(), "exceptions", nullptr, &code));
  Bundle list(ures_getByKey(exceptions.get(), "SentenceBreak", nullptr, &code));
  if (U_FAILURE(code)) return;
  for (int32_t n = 0; n < ures_getSize(list.get()); ++n) {
    const icu::UnicodeString text = icu::ures_getUnicodeStringByIndex(list.get(), n, &code);
    std::string abbreviation;
    if (U_FAILURE(code)) continue;
    text.toUTF8String(abbreviation);
    if (abbreviation.ends_with('.')) abbreviation.pop_back();
    words.emplace(std::move(abbreviation), Abbreviation::kMayEnd);
  }
}

bool contains(std::string_view list, std::string_view word) {
  const auto words = split_whitespace(list);
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

Abbreviations::Abbreviations(std::string_view language)
    : ordinals_with_period_(
          contains("bs cs da de et fi fo hr hu is lb lv nb nn no pl sk sl sr tr", language)),
      capitalizes_nouns_(contains("de lb", language)),
      german_(language == "de") {
  add(kTimesOfDay, Abbreviation::kTimeOfDay, words_);
  const auto own = std::find_if(kLists.begin(), kLists.end(),
                                [&](const Lists& lists) { return lists.language == language; });
  if (own == kLists.end()) {
    add_from_cldr(std::string(language), words_);
    add("Dr Prof Mr Mrs Ms St cf vs", Abbreviation::kMayEnd, words_);
    return;
  }
  add(own->before_name, Abbreviation::kBeforeName, words_);
  add(own->before_number, Abbreviation::kBeforeNumber, words_);
  add(own->may_end, Abbreviation::kMayEnd, words_);
  for (const std::string_view word : split_whitespace(own->starters)) starters_.emplace(word);
}

Abbreviation Abbreviations::find(std::string_view word) const {
  if (const auto found = words_.find(std::string(word)); found != words_.end()) return found->second;
  // Compounds: "Bahnhofstr. 5", "Telefonnr. 123".
  if (german_ && (word.ends_with("str") || word.ends_with("nr"))) return Abbreviation::kBeforeNumber;
  return Abbreviation::kNone;
}

}  // namespace heed
