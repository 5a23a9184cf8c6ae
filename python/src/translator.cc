#include "heed/translator.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "background.h"
#include "bindings.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace heed::python {

void bind_translator(nb::module_& m) {
  nb::class_<TranslateOptions>(m, "TranslateOptions")
      .def(nb::init<>())
      .def_rw("beam", &TranslateOptions::beam)
      .def_rw("nbest", &TranslateOptions::nbest)
      .def_rw("length_penalty", &TranslateOptions::length_penalty, nb::arg().none())
      .def_rw("max_length", &TranslateOptions::max_length, nb::arg().none())
      .def_rw("no_repeat_ngram", &TranslateOptions::no_repeat_ngram, nb::arg().none())
      .def_rw("split_sentences", &TranslateOptions::split_sentences)
      .def_rw("placeholders", &TranslateOptions::placeholders)
      .def_rw("glossary", &TranslateOptions::glossary)
      .def_rw("prefix", &TranslateOptions::prefix)
      .def_rw("require", &TranslateOptions::require)
      .def_rw("forbid", &TranslateOptions::forbid)
      .def_rw("sample", &TranslateOptions::sample)
      .def_rw("temperature", &TranslateOptions::temperature, nb::arg().none())
      .def_rw("top_k", &TranslateOptions::top_k, nb::arg().none())
      .def_rw("top_p", &TranslateOptions::top_p, nb::arg().none())
      .def_rw("seed", &TranslateOptions::seed)
      .def_rw("ablate", &TranslateOptions::ablate)
      .def_rw("alignment", &TranslateOptions::alignment);
  nb::class_<TranslatedText>(m, "TranslatedText")
      .def_ro("text", &TranslatedText::text)
      .def_ro("log_probability", &TranslatedText::log_probability)
      .def_ro("score", &TranslatedText::score)
      .def_ro("pieces", &TranslatedText::pieces)
      .def_ro("alignment", &TranslatedText::alignment);
  nb::class_<Translator>(m, "Translator")
      .def(
          "__init__",
          [](Translator* self, const std::string& directory, int threads, const std::string& source,
             const std::string& target, const std::string& precision, std::optional<bool> shortlist) {
            in_background([&](const std::atomic<bool>&) {
              new (self) Translator(directory, threads, {source, target}, precision, shortlist);
            });
          },
          "directory"_a, "threads"_a, "source_language"_a, "target_language"_a, "precision"_a,
          "shortlist"_a.none())
      .def(
          "translate",
          [](const Translator& self, const std::vector<std::string>& lines, TranslateOptions options) {
            std::vector<std::string> texts;
            in_background([&](const std::atomic<bool>& cancelled) {
              options.cancelled = &cancelled;
              texts = self.translate(lines, options);
            });
            return texts;
          },
          "lines"_a, "options"_a)
      .def(
          "alternatives",
          [](const Translator& self, const std::vector<std::string>& lines, TranslateOptions options) {
            std::vector<std::vector<TranslatedText>> found;
            in_background([&](const std::atomic<bool>& cancelled) {
              options.cancelled = &cancelled;
              found = self.alternatives(lines, options);
            });
            return found;
          },
          "lines"_a, "options"_a)
      .def(
          "translate_document",
          [](const Translator& self, const std::string& document, const std::string& format,
             TranslateOptions options) {
            std::string translation;
            in_background([&](const std::atomic<bool>& cancelled) {
              options.cancelled = &cancelled;
              translation = self.translate_document(document, format, options);
            });
            return translation;
          },
          "document"_a, "format"_a, "options"_a)
      .def(
          "attend",
          [](const Translator& self, const std::string& source, const std::string& target,
             const std::vector<std::string>& ablate) {
            return in_background_get([&] { return self.attend(source, target, ablate); });
          },
          "source"_a, "target"_a, "ablate"_a)
      .def(
          "log_probability",
          [](const Translator& self, const std::string& source, const std::string& target) {
            return in_background_get([&] { return self.log_probability(source, target); });
          },
          "source"_a, "target"_a);
}

}  // namespace heed::python
