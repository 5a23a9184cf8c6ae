#include "heed/translator.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "background.h"
#include "bindings.h"
#include "options.h"
#include "paths.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace heed::python {

void bind_translator(nb::module_& m) {
  bind_options<TranslateOptions>(m, "TranslateOptions");
  nb::class_<TranslatedText>(m, "TranslatedText")
      .def_ro("text", &TranslatedText::text)
      .def_ro("log_probability", &TranslatedText::log_probability)
      .def_ro("score", &TranslatedText::score)
      .def_ro("pieces", &TranslatedText::pieces)
      .def_ro("alignment", &TranslatedText::alignment)
      .def_ro("word_confidence", &TranslatedText::word_confidence)
      .def_ro("confidence", &TranslatedText::confidence)
      .def_ro("intermediate", &TranslatedText::intermediate)
      .def_ro("warnings", &TranslatedText::warnings);
  nb::class_<Translator>(m, "Translator")
      .def(
          "__init__",
          [](Translator* self, const std::vector<Path>& directories, int threads, const std::string& source,
             const std::string& target, const std::string& precision, std::optional<bool> shortlist) {
            construct_in_background(self, [&] {
              std::vector<std::string> paths;
              for (const Path& each : directories) paths.push_back(each.bytes);
              return paths.size() == 1 ? Translator(paths[0], threads, {source, target}, precision, shortlist)
                                       : Translator::chain(paths, threads, precision, shortlist);
            });
          },
          "directories"_a, "threads"_a, "source_language"_a, "target_language"_a, "precision"_a,
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
            std::vector<std::string> warnings;
            in_background([&](const std::atomic<bool>& cancelled) {
              options.cancelled = &cancelled;
              translation = self.translate_document(document, format, options, warnings);
            });
            return std::pair(translation, warnings);
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
