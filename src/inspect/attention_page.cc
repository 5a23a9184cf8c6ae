#include "inspect/attention_page.h"

#include <cmath>
#include <iterator>
#include <utility>
#include <vector>

#include "base/check.h"
#include "inspect/colour_map.h"
#include "inspect/label.h"
#include "text/utf8.h"

namespace heed {
namespace {

constexpr int64_t kMostCells = 2'000'000;  // a browser's patience, some 150 bytes each
constexpr int kCell = 16, kLabelHeight = 12;

constexpr std::string_view kStyle = R"(
 body { font: 14px/1.4 "Noto Sans", "DejaVu Sans", sans-serif; margin: 2em; color: #222; background: #fff; }
 figure { display: inline-block; margin: 0 1.5em 1em 0; vertical-align: top; }
 figcaption { color: #666; font-size: 12px; }
 svg text { font-size: 11px; fill: #222; }
 svg rect:hover { stroke: #d55e00; stroke-width: 2; }
 th { text-align: left; padding-right: 1em; color: #666; font-weight: normal; }
)";

std::string escape_html(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

unsigned to_hex(Colour colour) {
  const auto byte = [](double part) { return static_cast<unsigned>(std::lround(255 * part)); };
  return byte(colour.red) << 16 | byte(colour.green) << 8 | byte(colour.blue);
}

std::vector<std::string> names_of(const std::vector<std::string>& tokens) {
  std::vector<std::string> names;
  for (const Label& label : token_labels(tokens, "\u2581")) names.push_back(escape_html(label.text));
  return names;
}

/// Room for the longest name, reckoned from its columns in a terminal.
int label_width(const std::vector<std::string>& names) {
  int columns = 1;
  for (const std::string& name : names) columns = std::max(columns, display_width(name));
  return 8 + 7 * columns;
}

/// Writes the page piece by piece.
class Page {
 public:
  explicit Page(const Trace& trace) : trace_(trace) {}

  std::string write() {
    const std::string title = escape_html(visible_text(trace_.source));
    add("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>Attention: "
        "{}</title>\n",
        title);
    add("<style>{}</style>\n</head>\n<body>\n<h1>Attention</h1>\n<table>\n", kStyle);
    const auto [source, target] = sentence_names(trace_);
    add_row(source, trace_.source);
    add_row(target, trace_.target);
    add_row("model", trace_.model);
    page_ +=
        "</table>\n<p>Rows are queries, columns are keys; each row sums to 1. Point at a cell to read "
        "it.</p>\n";
    for (const Stack stack : kStacks) {
      const AttentionStack& layers = stack_of(trace_, stack);
      for (size_t layer = 0; layer < layers.size(); ++layer) add_layer(stack, layer);
    }
    page_ += "</body>\n</html>\n";
    return std::move(page_);
  }

 private:
  template <typename... Arguments>
  void add(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(page_), format, std::forward<Arguments>(arguments)...);
  }

  void add_row(const char* name, const std::string& value) {
    if (!value.empty()) add("<tr><th>{}</th><td>{}</td></tr>\n", name, escape_html(visible_text(value)));
  }

  void add_layer(Stack stack, size_t layer) {
    const auto& heads = stack_of(trace_, stack)[layer];
    bool heading = false;
    for (size_t head = 0; head < heads.size(); ++head) {
      if (heads[head].empty()) continue;
      if (!std::exchange(heading, true)) add("<h2>{} layer {}</h2>\n", stack_name(stack), layer + 1);
      const std::string name = trace_.heads_averaged ? "Mean of heads" : fmt::format("Head {}", head + 1);
      add("<figure>\n<figcaption>{}</figcaption>\n", name);
      add_matrix(stack, heads[head]);
      page_ += "</figure>\n";
    }
  }

  void add_matrix(Stack stack, const AttentionMatrix& matrix) {
    const auto queries = names_of(query_tokens(trace_, stack)), keys = names_of(key_tokens(trace_, stack));
    const int left = label_width(queries), top = label_width(keys);
    add("<svg width=\"{}\" height=\"{}\">\n", left + kCell * matrix.keys + 2,
        top + kCell * matrix.queries + 2);
    for (int key = 0; key < matrix.keys; ++key) {
      add("<text transform=\"translate({},{}) rotate(-90)\">{}</text>\n", left + kCell * key + kLabelHeight,
          top - 4, keys[static_cast<size_t>(key)]);
    }
    for (int query = 0; query < matrix.queries; ++query) {
      const std::string& name = queries[static_cast<size_t>(query)];
      add("<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>\n", left - 4,
          top + kCell * query + kLabelHeight, name);
      for (int key = 0; key < matrix.keys; ++key) {
        const auto weight = static_cast<double>(matrix.at(query, key));
        add("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"#{:06x}\"><title>{} \u2192 {}: "
            "{:.3f}</title></rect>\n",
            left + kCell * key, top + kCell * query, kCell, kCell, to_hex(level_colour(colour_level(weight))),
            name, keys[static_cast<size_t>(key)], weight);
      }
    }
    page_ += "</svg>\n";
  }

  const Trace& trace_;
  std::string page_;
};

}  // namespace

std::string attention_page(const Trace& trace) {
  check_trace(trace);
  int64_t cells = 0;
  for (const Stack stack : kStacks) {
    for (const auto& layer : stack_of(trace, stack)) {
      for (const AttentionMatrix& head : layer) cells += static_cast<int64_t>(head.queries) * head.keys;
    }
  }
  if (cells > kMostCells) {
    fail(ErrorKind::kUsage,
         "a page of {} cells is more than a browser can show (at most {}): choose a stack, layer or head",
         cells, kMostCells);
  }
  return Page(trace).write();
}

}  // namespace heed
