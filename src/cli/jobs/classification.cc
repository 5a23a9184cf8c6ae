#include "cli/jobs/classification.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/check.h"
#include "base/counted.h"
#include "base/text/json_file.h"
#include "base/text/nearest_word.h"
#include "cli/jobs/resumable/line_output.h"
#include "cli/jobs/text_lines.h"
#include "cli/options/terminal.h"
#include "cli/options/text_table.h"
#include "data/corpus/readers/labelled_reader.h"
#include "metrics/confusion.h"

namespace heed::cli {

namespace {

struct LabelledTexts {
  std::vector<tasks::ClassifierText> texts;
  std::vector<int> classes;
};

LabelledTexts read_labelled(const ClassifierEvaluation& o, const std::vector<std::string>& labels) {
  LabelledTexts result;
  LabelledReader reader(o.text, {.lossy = o.lossy});
  for (LabelledText text; reader.next(text);) {
    const auto found = std::find(labels.begin(), labels.end(), text.label);
    if (found == labels.end()) {
      fail(ErrorKind::kFormat, "line {} of {}: the model has no class '{}'; its classes are {}{}", text.line,
           reader.name(), shown(text.label), fmt::join(labels, ", "),
           did_you_mean(std::string(text.label), labels));
    }
    result.classes.push_back(static_cast<int>(found - labels.begin()));
    result.texts.push_back({std::string(text.first), {}});
    if (text.second) result.texts.back().second.emplace(*text.second);
  }
  return result;
}

std::string to_text(const ConfusionMatrix& matrix, double loss) {
  const auto percent = [](double share) { return fmt::format("{:.2f}%", 100 * share); };
  std::string text =
      fmt::format("accuracy  {}  ({})\nmacro F1  {}\nloss      {:.4f}\n\n", percent(matrix.accuracy()),
                  counted(matrix.total(), "text"), percent(matrix.macro_f1()), loss);
  std::vector<std::string> labels;
  for (const std::string& label : matrix.labels()) labels.push_back(printable(label));
  const int classes = static_cast<int>(labels.size());
  std::vector<std::vector<std::string>> rows{{"class", "precision", "recall", "F1", "texts"}};
  for (int c = 0; c < classes; ++c) {
    rows.push_back({labels[c], percent(matrix.precision(c)), percent(matrix.recall(c)), percent(matrix.f1(c)),
                    std::to_string(matrix.support(c))});
  }
  text += text_table(rows) + "\nConfusion matrix (rows: true classes; columns: predicted classes):\n\n";
  rows.assign(1, {""});
  rows[0].insert(rows[0].end(), labels.begin(), labels.end());
  for (int c = 0; c < classes; ++c) {
    rows.push_back({labels[c]});
    for (int other = 0; other < classes; ++other)
      rows.back().push_back(std::to_string(matrix.count(c, other)));
  }
  return text + text_table(rows);
}

nlohmann::ordered_json to_json(const ConfusionMatrix& matrix, double loss, double seconds) {
  nlohmann::ordered_json json{{"accuracy", matrix.accuracy()},
                              {"macro_f1", matrix.macro_f1()},
                              {"loss", loss},
                              {"texts", matrix.total()},
                              {"seconds", seconds},
                              {"labels", matrix.labels()}};
  const int classes = static_cast<int>(matrix.labels().size());
  for (int c = 0; c < classes; ++c) {
    json["classes"][matrix.labels()[c]] = {{"precision", matrix.precision(c)},
                                           {"recall", matrix.recall(c)},
                                           {"f1", matrix.f1(c)},
                                           {"texts", matrix.support(c)}};
    for (int other = 0; other < classes; ++other) json["confusion"][c][other] = matrix.count(c, other);
  }
  return json;
}

}  // namespace

int evaluate_classifier(const ClassifierEvaluation& o) {
  if (o.text.empty()) fail(ErrorKind::kUsage, "give labelled texts with --text F, lines of LABEL TAB TEXT");
  const EncoderModel model = classifier_model(
      load_model(find_named_model(o.model, models::Task::kClassification), o.model.precision));
  const std::vector<std::string>& labels = model.loaded.classifier().labels();
  const LabelledTexts texts = read_labelled(o, labels);
  ThreadPool pool(o.common.threads);
  const tasks::TextClassifier classifier(model.loaded.classifier(), model.loaded.context(), model.tokenizer,
                                         pool);
  const ProgressLine clock("texts", 0, false);
  const std::vector<tasks::Classification> results = classifier.classify(texts.texts, stop_on_interrupt());
  ConfusionMatrix matrix(labels);
  double loss = 0;
  size_t truncated = 0;
  for (size_t n = 0; n < results.size(); ++n) {
    matrix.add(texts.classes[n], results[n].best);
    loss -= results[n].log_probabilities[texts.classes[n]];
    truncated += results[n].truncated ? 1 : 0;
  }
  loss /= static_cast<double>(results.size());
  LineOutput output("-");
  output.write(o.json ? to_json(matrix, loss, clock.seconds()).dump() + "\n" : to_text(matrix, loss));
  output.commit();
  note_truncated(truncated, model.loaded.classifier().max_length(), o.common.quiet);
  return kExitDone;
}

}  // namespace heed::cli
