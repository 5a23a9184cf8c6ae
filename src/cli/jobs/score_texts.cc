#include "cli/jobs/score_texts.h"

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "base/check.h"
#include "base/counted.h"
#include "base/files/file.h"
#include "base/text/json_file.h"
#include "base/thread_pool.h"
#include "cli/jobs/resumable/line_output.h"
#include "cli/jobs/source_lines.h"
#include "data/corpus/readers/whole_text.h"
#include "tasks/text_scoring.h"

namespace heed::cli {
namespace {

struct TextTotals {
  size_t texts = 0, tokens = 0, bytes = 0;
  double log_probability = 0;
  void add(const tasks::TextScore& score) {
    ++texts;
    tokens += score.ids.size();
    bytes += score.bytes;
    log_probability += score.log_probability;
  }
  /// exp of the mean negative log-probability per token. Without tokens NaN, in JSON null, as
  /// bits_per_byte().
  double perplexity() const { return std::exp(-log_probability / static_cast<double>(tokens)); }
  /// Mean negative log2-probability per byte: comparable between tokenizers.
  double bits_per_byte() const { return -log_probability / std::log(2.0) / static_cast<double>(bytes); }
};

std::string to_json(const std::string& text, const tasks::TextScore& score) {
  nlohmann::ordered_json json{{"text", text}, {"log_probability", score.log_probability}};
  if (!score.ids.empty()) {
    json["perplexity"] = std::exp(-score.log_probability / static_cast<double>(score.ids.size()));
  }
  json["tokens"] = score.pieces;
  json["log_probabilities"] = score.log_probabilities;
  return json.dump();
}

std::string to_json(const TextTotals& totals) {
  return nlohmann::ordered_json{{"texts", totals.texts},
                                {"tokens", totals.tokens},
                                {"bytes", totals.bytes},
                                {"log_probability", totals.log_probability},
                                {"perplexity", totals.perplexity()},
                                {"bits_per_byte", totals.bits_per_byte()}}
      .dump();
}

std::string to_text(const TextTotals& totals) {
  if (totals.tokens == 0) return fmt::format("{}, 0 tokens: nothing to score", counted(totals.texts, "text"));
  return fmt::format("{}, {}, log-probability {:.4f}, perplexity {:.4f}, {:.4f} bits per byte",
                     counted(totals.texts, "text"), counted(totals.tokens, "token"), totals.log_probability,
                     totals.perplexity(), totals.bits_per_byte());
}

/// Texts that are in memory at a time.
constexpr size_t kTextsAtATime = 1024;

}  // namespace

int score_texts(const ScoreTextsOptions& o, const tasks::LanguageModelFiles& model) {
  std::optional<SourceLines> lines;
  if (!o.whole) lines.emplace(o.texts, o.input, LineReaderOptions{.lossy = o.lossy, .part = o.job.part});
  LineOutput output =
      open_output({.options = o.job, .models = {model.loaded.directory()}}, o.input, o.output);
  if (output.complete()) return kExitDone;
  if (lines) lines->skip(output.lines_done());
  ThreadPool pool(o.common.threads);
  TextTotals totals;
  bool more = true;
  while (more) {
    std::vector<std::string> texts;
    if (lines) {
      for (std::string line; texts.size() < kTextsAtATime && lines->next(line);) texts.push_back(line);
    } else {
      texts.push_back(read_whole_text(o.input.empty() ? "-" : o.input, o.lossy));
    }
    more = lines && !lines->at_end();
    std::vector<tasks::TextScore> scores(texts.size());
    pool.run(texts.size(), [&](size_t n) {
      stop_on_interrupt().check();
      scores[n] = tasks::score_text(model.loaded.language_model(), model.loaded.context(), model.tokenizer,
                                    texts[n], {.stride = o.stride.value_or(0)});
    });
    for (size_t n = 0; n < texts.size(); ++n) {
      totals.add(scores[n]);
      if (o.summary) continue;
      const bool empty = scores[n].ids.empty() && !o.json;
      output.write_line(o.json  ? to_json(texts[n], scores[n])
                        : empty ? ""
                                : fmt::format("{:.6f}", scores[n].log_probability));
      output.end_input_line();
    }
  }
  const bool all = o.job.part.is_whole() && !o.job.resume;
  if (totals.tokens == 0 && all) tasks::fail_nothing_to_score();
  if (o.summary) output.write_line(o.json ? to_json(totals) : to_text(totals));
  output.commit(lines ? lines->fingerprint() : std::nullopt);
  if (!o.summary && !o.common.quiet && totals.tokens > 0)
    std::fprintf(stderr, "%s\n", to_text(totals).c_str());
  return kExitDone;
}

}  // namespace heed::cli
