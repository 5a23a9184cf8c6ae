// heed classify

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/text/json_file.h"
#include "base/thread_pool.h"
#include "cli/jobs/classification.h"
#include "cli/jobs/text_lines.h"
#include "tasks/result_json.h"
#include "text/unicode/whitespace.h"

namespace heed::cli {
namespace {

struct ClassifyOptions {
  TextLinesOptions texts;
  bool json = false;
};

std::string to_text(const std::vector<std::string>& labels, const tasks::Classification* result) {
  if (result == nullptr) return "";
  return fmt::format("{}\t{:.6f}", printable(labels[result->best]), result->probabilities[result->best]);
}

int run_classify(const ClassifyOptions& o) {
  SourceLines lines = open_lines(o.texts);
  const ModelInventory files = find_named_model(o.texts.model, models::Task::kClassification);
  LineOutput output = open_output(o.texts, files, lines);
  if (output.complete()) return kExitDone;
  const EncoderModel model = classifier_model(load_model(files, o.texts.model.precision));
  const std::vector<std::string>& labels = model.loaded.classifier().labels();
  ThreadPool pool(o.texts.common.threads);
  const tasks::TextClassifier classifier(model.loaded.classifier(), model.loaded.context(), model.tokenizer,
                                         pool);
  const auto classify = [&](const std::vector<std::string>& taken) -> size_t {
    std::vector<tasks::ClassifierText> texts;
    for (const std::string& line : taken) {
      if (!strip(line).empty()) texts.push_back(classifier_text(line));
    }
    const std::vector<tasks::Classification> results = classifier.classify(texts, stop_on_interrupt());
    auto next = results.begin();
    for (const std::string& line : taken) {
      const tasks::Classification* result = strip(line).empty() ? nullptr : &*next++;
      output.write_line(o.json ? tasks::to_json(classifier_text(line), labels, result).dump()
                               : to_text(labels, result));
      output.end_input_line();
    }
    output.flush();
    return std::ranges::count_if(results, &tasks::Classification::truncated);
  };
  const int64_t longest = model.loaded.classifier().max_length();
  process_lines(o.texts, lines, output.lines_done(), longest, classify);
  output.commit(lines.fingerprint());
  return kExitDone;
}

}  // namespace

void add_classify(Command& app, Work& work) {
  auto [command, o] = add_command(app, work, "classify", "Classify texts, line by line", run_classify);
  command->footer(R"(Examples:
  heed classify "a fine film" --model my-classifier
  heed classify --input reviews.txt --model my-classifier --json

One output line per input line: the most probable class, a tab, and its probability; blank lines stay blank.
A tab in a line separates two texts, for models that classify pairs. Texts longer than the model's maximum
are truncated.)");
  add_text_lines(*command, o->texts, "Texts to classify");
  command->add_switch("--json", o->json,
                      "One JSON object per line: text, label, probability, probabilities of all classes");
  add_text_lines_end(*command, o->texts);
  add_common_options(*command, o->texts.common);
}

}  // namespace heed::cli
