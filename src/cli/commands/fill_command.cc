// heed fill: predicts the masked tokens of a text with a masked language model (Devlin et al., 2019).

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/text/json_file.h"
#include "cli/jobs/text_lines.h"
#include "cli/options/checked_options.h"
#include "models/directory/loaded_model.h"
#include "models/finite_output.h"
#include "models/masked_language_model.h"
#include "search/scoring.h"
#include "tasks/model_files.h"
#include "text/tokenizers/encoder_tokenizer.h"

namespace heed::cli {
namespace {

struct FillOptions {
  TextLinesOptions texts;
  int top = 5;
  bool json = false;
};

struct Guess {
  std::string piece;
  double probability = 0;
};

struct FilledText {
  std::vector<std::vector<Guess>> gaps;  ///< the most probable pieces for each mask token
  bool truncated = false;                ///< mask tokens beyond the model's maximum are not among them
};

FilledText fill(const models::LoadedModel& loaded, const ModelTokenizer& tokenizer, const std::string& text,
                int top) {
  const models::MaskedLanguageModel& model = loaded.masked_language_model();
  const Encoding encoding =
      tokenizer.encode(text, {.max_length = static_cast<size_t>(model.max_length()), .read_mask = true});
  models::EncoderInput input;
  input.text.append(encoding.ids);
  std::vector<int32_t> masked;
  for (size_t n = 0; n < encoding.ids.size(); ++n) {
    if (encoding.ids[n] == tokenizer.mask_id()) masked.push_back(static_cast<int32_t>(n));
  }
  FilledText filled{.gaps = {}, .truncated = encoding.truncated};
  if (masked.empty()) return filled;
  nn::Context context = loaded.context();
  const Tensor logits = model.logits(context, input, masked);  // (gaps, V)
  models::require_finite_output(logits);
  const auto pieces = static_cast<int32_t>(std::min<int64_t>(model.vocabulary_size(), tokenizer.size()));
  for (size_t gap = 0; gap < masked.size(); ++gap) {
    const float* row = logits.data<float>() + static_cast<int64_t>(gap) * logits.dim(1);
    const std::vector<int32_t> best =
        search::likeliest_ids({row, static_cast<size_t>(pieces)}, static_cast<size_t>(top));
    const double largest = row[best[0]];
    double sum = 0;
    for (int64_t id = 0; id < logits.dim(1); ++id) sum += std::exp(static_cast<double>(row[id]) - largest);
    auto& found = filled.gaps.emplace_back();
    for (const int32_t id : best) {
      found.push_back(
          {tokenizer.vocabulary().piece(id), std::exp(static_cast<double>(row[id]) - largest) / sum});
    }
  }
  return filled;
}

std::string to_json(const std::string& text, const FilledText& filled) {
  nlohmann::ordered_json json{{"text", text}, {"gaps", nlohmann::ordered_json::array()}};
  for (const auto& guesses : filled.gaps) {
    auto& list = json["gaps"].emplace_back(nlohmann::ordered_json::array());
    for (const Guess& each : guesses)
      list.push_back({{"piece", each.piece}, {"probability", each.probability}});
  }
  if (filled.truncated) json["truncated"] = true;
  return json.dump();
}

std::string to_text(const std::vector<std::vector<Guess>>& gaps) {
  std::vector<std::string> columns;
  for (const auto& guesses : gaps) {
    std::vector<std::string> words;
    for (const Guess& each : guesses)
      words.push_back(fmt::format("{} {:.4f}", printable(each.piece), each.probability));
    columns.push_back(fmt::format("{}", fmt::join(words, " ")));
  }
  return fmt::format("{}", fmt::join(columns, "\t"));
}

int run_fill(const FillOptions& o) {
  SourceLines lines = open_lines(o.texts);
  const ModelInventory files = find_named_model(o.texts.model, models::Task::kMaskedLanguageModel);
  LineOutput output = open_output(o.texts, files, lines);
  if (output.complete()) return kExitDone;
  models::LoadedModel read = load_model(files, o.texts.model.precision);
  read.masked_language_model();  // throws for another task
  const auto [loaded, tokenizer] = tasks::encoder_model(std::move(read));
  if (!tokenizer.mask_id()) {
    fail(ErrorKind::kFormat, "'{}': the vocabulary has no {} token, which masked language models need",
         loaded.directory(), tokenizer.mask_name());
  }
  size_t truncated = 0;
  for (std::string line; lines.next(line);) {
    stop_on_interrupt().check();
    const FilledText filled = fill(loaded, tokenizer, line, o.top);
    output.write_line(o.json ? to_json(line, filled) : to_text(filled.gaps));
    output.end_input_line();
    output.flush();
    truncated += filled.truncated ? 1 : 0;
  }
  output.commit(lines.fingerprint());
  note_truncated(truncated, loaded.masked_language_model().max_length(), o.texts.common.quiet);
  return kExitDone;
}

}  // namespace

void add_fill(Command& app, Work& work) {
  auto [command, o] = add_command(app, work, "fill", "Predict masked tokens of a text", run_fill);
  command->footer(R"(Example:
  heed fill "the [MASK] is a good movie ." --model my-masked-model

For masked language models: BERT, RoBERTa, XLM-R, DistilBERT, MPNet, ModernBERT. One output line per input
line: the most probable pieces for its mask token, each with its probability; those of several mask tokens
are separated by tabs. The mask token is written as the model's vocabulary has it: [MASK], <mask>. Texts
longer than the model's maximum are truncated, and mask tokens beyond it have no pieces.)");
  add_text_lines(*command, o->texts, "Texts with mask tokens");
  add_integer(*command, "--top K", o->top, "Candidates per mask token", {1, 1000});
  command->add_switch("--json", o->json, "One JSON object per line: text, gaps");
  add_text_lines_end(*command, o->texts);
  add_quiet(*command, o->texts.common.quiet);
}

}  // namespace heed::cli
