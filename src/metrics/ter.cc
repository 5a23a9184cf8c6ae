#include "metrics/ter.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <tuple>
#include <utility>

#include "base/check.h"
#include "metrics/metric.h"
#include "metrics/mt_tokenizers.h"
#include "metrics/ngrams.h"
#include "text/unicode/whitespace.h"

namespace heed {
namespace {

// Tercom's limits.
constexpr int kMaxShiftLength = 10;
constexpr int kMaxShiftDistance = 50;
constexpr int kBeam = 25;  // band width of the edit distance on either side of the diagonal
// sacreBLEU's limit of tried shifts per line.
constexpr int kMaxShiftCandidates = 1000;

enum class WordEdit : uint8_t { kNone, kKeep, kSubstitute, kDelete, kInsert };

/// The banded Levenshtein table of a hypothesis (rows) and the reference (columns). Only the band is stored:
/// all other cells cost kNever.
class EditTable {
 public:
  explicit EditTable(const std::u32string& reference) : reference_(reference) {}

  /// The edit distance. Rows of a common prefix with the previous hypothesis are reused; all hypotheses have
  /// the same length.
  int64_t distance(const std::u32string& hypothesis) {
    size_t first = 1;  // first row to compute
    if (bands_.size() == hypothesis.size() + 1) {
      first += static_cast<size_t>(std::ranges::mismatch(hypothesis, hypothesis_).in1 - hypothesis.begin());
    } else {
      place_bands(static_cast<int64_t>(hypothesis.size()));
      for (int64_t column = 0; column < bands_[0].end; ++column) {
        cells_[static_cast<size_t>(column)] = {column, WordEdit::kInsert};
      }
    }
    hypothesis_ = hypothesis;
    for (size_t row = first; row < bands_.size(); ++row) fill(row);
    return cells_.back().cost;
  }

  /// The edits of the last hypothesis of distance(), in order.
  std::vector<WordEdit> edits() const {
    std::vector<WordEdit> edits;
    for (size_t row = hypothesis_.size(), column = reference_.size(); row > 0 || column > 0;) {
      const WordEdit edit = at(row, static_cast<int64_t>(column)).edit;
      HEED_CHECK(edit != WordEdit::kNone);
      edits.push_back(edit);
      if (edit != WordEdit::kInsert) --row;
      if (edit != WordEdit::kDelete) --column;
    }
    std::ranges::reverse(edits);
    return edits;
  }

 private:
  static constexpr int64_t kNever = std::numeric_limits<int64_t>::max() / 2;
  struct Cell {
    int64_t cost = kNever;
    WordEdit edit = WordEdit::kNone;
  };
  /// The columns of a row that are stored, and where its first cell is.
  struct Band {
    int64_t begin = 0, end = 0;
    size_t offset = 0;
  };

  /// The first row has all columns, and the last one all from its band on.
  void place_bands(int64_t words) {
    const int64_t columns = static_cast<int64_t>(reference_.size()) + 1;
    const double slope = words > 0 ? static_cast<double>(reference_.size()) / static_cast<double>(words) : 1;
    const auto beam = kBeam < slope / 2 ? static_cast<int64_t>(std::ceil(slope / 2 + kBeam)) : int64_t{kBeam};
    bands_ = {{0, columns, 0}};
    size_t cells = static_cast<size_t>(columns);
    for (int64_t row = 1; row <= words; ++row) {
      const auto diagonal = static_cast<int64_t>(std::floor(static_cast<double>(row) * slope));
      Band band{std::max<int64_t>(0, diagonal - beam), std::min(columns, diagonal + beam), cells};
      if (row == words) band.end = columns;
      cells += static_cast<size_t>(band.end - band.begin);
      bands_.push_back(band);
    }
    cells_.assign(cells, {});
  }

  Cell at(size_t row, int64_t column) const {
    const Band& band = bands_[row];
    if (column < band.begin || column >= band.end) return {};
    return cells_[band.offset + static_cast<size_t>(column - band.begin)];
  }

  void fill(size_t row) {
    const Band band = bands_[row], before = bands_[row - 1];
    const Cell* const above = cells_.data() + before.offset;
    const auto cost_above = [&](int64_t column) {
      return column < before.begin || column >= before.end ? kNever : above[column - before.begin].cost;
    };
    Cell* cell = cells_.data() + band.offset;
    const char32_t word = hypothesis_[row - 1];
    int64_t diagonal = cost_above(band.begin - 1), left = kNever;
    for (int64_t column = band.begin; column < band.end; ++column, ++cell) {
      *cell = {};
      const auto offer = [&](int64_t cost, WordEdit edit) {  // ties: the first
        if (cost < cell->cost) *cell = {cost, edit};
      };
      const int64_t upper = cost_above(column);
      if (column > 0) {
        const bool same = word == reference_[static_cast<size_t>(column) - 1];
        offer(diagonal + (same ? 0 : 1), same ? WordEdit::kKeep : WordEdit::kSubstitute);
      }
      offer(upper + 1, WordEdit::kDelete);
      if (column > 0) offer(left + 1, WordEdit::kInsert);
      diagonal = upper;
      left = cell->cost;
    }
  }

  const std::u32string& reference_;
  std::u32string hypothesis_;
  std::vector<Band> bands_;  // of each row: words of the hypothesis + 1
  std::vector<Cell> cells_;  // of all bands, row by row
};

/// The word alignment that the edits imply.
struct Alignment {
  std::vector<int>
      position;  // for each reference word: the last hypothesis word aligned at or before it, or -1
  std::vector<int> hypothesis_errors, reference_errors;  // number of errors before each word

  explicit Alignment(const std::vector<WordEdit>& edits) : hypothesis_errors{0}, reference_errors{0} {
    int word = -1;  // of the hypothesis
    for (const WordEdit edit : edits) {
      const int error = edit == WordEdit::kKeep ? 0 : 1;
      if (edit != WordEdit::kInsert) {
        ++word;
        hypothesis_errors.push_back(hypothesis_errors.back() + error);
      }
      if (edit != WordEdit::kDelete) {
        position.push_back(word);
        reference_errors.push_back(reference_errors.back() + error);
      }
    }
  }
};

/// Moves `length` words from `start` to before the word at `target`.
std::u32string shifted(const std::u32string& words, int start, int length, int target) {
  std::u32string result = words;
  const auto begin = result.begin();
  if (target < start) {
    std::rotate(begin + target, begin + start, begin + start + length);
  } else {
    // A target within the run: shift by that many words, like Tercom.
    const int end = target > start + length ? target : length + target;
    std::rotate(begin + start, begin + start + length,
                begin + std::min<int>(end, static_cast<int>(words.size())));
  }
  return result;
}

/// One line against one reference.
class ShiftSearch {
 public:
  ShiftSearch(const std::u32string& hypothesis, const std::u32string& reference)
      : words_(hypothesis), reference_(reference), table_(reference) {}

  int64_t edits() {
    if (reference_.empty()) return static_cast<int64_t>(words_.size());
    int64_t shifts = 0;
    while (shift()) ++shifts;
    return shifts + table_.distance(words_);
  }

 private:
  /// Applies the best shift; returns false if none helps, or too many were tried.
  bool shift() {
    const int64_t before = table_.distance(words_);
    const Alignment alignment(table_.edits());
    // Ties: the longest shift, then the earliest start, then the earliest target.
    std::tuple<int64_t, int, int, int> best{std::numeric_limits<int64_t>::min(), 0, 0, 0};
    std::u32string best_words;
    const int hypothesis_size = static_cast<int>(words_.size()), size = static_cast<int>(reference_.size());
    for (int start = 0; start < hypothesis_size; ++start) {
      for (int match = std::max(0, start - kMaxShiftDistance);
           match < std::min(size, start + kMaxShiftDistance + 1); ++match) {
        for (int length = 1;
             length <= kMaxShiftLength && start + length <= hypothesis_size && match + length <= size &&
             words_[start + length - 1] == reference_[match + length - 1];
             ++length) {
          if (!worth_trying(alignment, start, match, length)) continue;
          int tried_last = -1;
          for (int offset = -1; offset < length && match + offset < size; ++offset) {
            const int target = match + offset == -1 ? 0 : alignment.position[match + offset] + 1;
            if (std::exchange(tried_last, target) == target) continue;
            std::u32string candidate = shifted(words_, start, length, target);
            const std::tuple rank{before - table_.distance(candidate), length, -start, -target};
            ++tried_;
            if (best_words.empty() || rank > best) {
              best = rank;
              best_words = std::move(candidate);
            }
          }
          if (tried_ >= kMaxShiftCandidates) return false;
        }
      }
    }
    if (best_words.empty() || std::get<0>(best) <= 0) return false;
    words_ = std::move(best_words);
    return true;
  }

  /// Whether both the run and its target contain errors, and the target is elsewhere.
  static bool worth_trying(const Alignment& alignment, int start, int match, int length) {
    const auto errors = [length](const std::vector<int>& before, int from) {
      return before[from + length] - before[from];
    };
    const int position = alignment.position[match];
    return errors(alignment.hypothesis_errors, start) > 0 && errors(alignment.reference_errors, match) > 0 &&
           !(start <= position && position < start + length);
  }

  std::u32string words_;
  const std::u32string& reference_;
  EditTable table_;
  int tried_ = 0;
};

struct LineEdits {
  double edits = 0, reference_length = 0;
};

LineEdits count_edits(const std::string& hypothesis, const std::vector<std::string>& references,
                      const TerOptions& options) {
  WordNumbers numbers;
  const auto words = [&](const std::string& text) {
    const std::string cased = options.case_sensitive ? text : lower_case(text);
    const auto parts = split_whitespace(cased);
    return numbers.number({parts.begin(), parts.end()});
  };
  const std::u32string candidate = words(hypothesis);
  int64_t fewest = std::numeric_limits<int64_t>::max(), length = 0;
  for (const std::string& each : references) {
    const std::u32string reference = words(each);
    fewest = std::min(fewest, ShiftSearch(candidate, reference).edits());
    length += static_cast<int64_t>(reference.size());
  }
  return {static_cast<double>(fewest), static_cast<double>(length) / static_cast<double>(references.size())};
}

double rate(double edits, double reference_length) {
  if (reference_length > 0) return 100 * (edits / reference_length);
  return edits > 0 ? 100 : 0;
}

}  // namespace

TerScore corpus_ter(const std::vector<std::string>& hypotheses,
                    const std::vector<std::vector<std::string>>& references, const TerOptions& options) {
  check_scorable(hypotheses, references);
  TerScore result;
  for (size_t line = 0; line < hypotheses.size(); ++line) {
    const LineEdits each = count_edits(hypotheses[line], references_of_line(references, line), options);
    result.edits += each.edits;
    result.reference_length += each.reference_length;
  }
  result.score = rate(result.edits, result.reference_length);
  return result;
}

Metric ter_metric(size_t references, const TerOptions& options) {
  Metric metric{.name = "TER",
                .signature = ter_signature(references, options),
                .lower_is_better = true,
                .statistics = {},
                .score = {}};
  metric.statistics = [options](const std::string& hypothesis, const std::vector<std::string>& truths) {
    const LineEdits each = count_edits(hypothesis, truths, options);
    return std::vector<double>{each.edits, each.reference_length};
  };
  metric.score = [](const std::vector<double>& sums) { return rate(sums[0], sums[1]); };
  return metric;
}

std::string ter_signature(size_t references, const TerOptions& options) {
  return fmt::format("nrefs:{}|case:{}|tok:tercom|norm:no|punct:yes|asian:no|version:{}", references,
                     options.case_sensitive ? "mixed" : "lc", kSacreBleuVersion);
}

}  // namespace heed
