#include "inspect/explorer/explorer_page.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/check.h"
#include "inspect/explorer/web_files.h"
#include "inspect/json/trace_pack.h"

namespace heed {
namespace {

/// The Content-Security-Policy forbids loading anything, even from the page's own folder.
constexpr std::string_view kPolicy =
    R"(<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline'; )"
    R"(style-src 'unsafe-inline'; img-src data: blob:">)";

std::string_view content_of(std::string_view path) {
  const WebFile* file = find_web_file(path);
  HEED_CHECK(file != nullptr);
  return file->content;
}

void replace_once(std::string& text, std::string_view part, std::string_view by) {
  const size_t at = text.find(part);
  HEED_CHECK(at != std::string::npos);
  text.replace(at, part.size(), by);
}

void remove_lines(std::string& text, std::string_view begin) {
  for (size_t at = text.find(begin); at != std::string::npos; at = text.find(begin, at))
    text.erase(at, text.find('\n', at) + 1 - at);
}

/// Turns modules into functions, without the lines that are comments. Supports only what our modules use:
/// `import { a, b as c } from "./x.js";` and `export` before a function, class or const, both at the
/// beginning of a line.
class Bundle {
 public:
  /// Appends the module, after those that it imports.
  void add(const std::string& path) {
    if (std::find(added_.begin(), added_.end(), path) != added_.end()) return;
    added_.push_back(path);
    std::string_view rest = content_of(path);
    std::string body, exports;
    while (!rest.empty()) {
      if (rest.starts_with("import ")) {
        body += read_import(rest, path);
      } else if (const size_t size = comment_size(rest); size > 0) {
        rest.remove_prefix(size);
      } else {
        const std::string_view line = first_line(rest);
        rest.remove_prefix(line.size());
        body += read_line(line, exports);
      }
    }
    script_ +=
        fmt::format("const {} = (() => {{\n{}return {{ {} }};\n}})();\n", name_of(path), body, exports);
  }

  std::string take() { return std::move(script_); }

 private:
  /// "views/one_head.js" -> "module_views_one_head_js"
  static std::string name_of(const std::string& path) {
    std::string name = "module_" + path;
    for (char& c : name) {
      if (c == '/' || c == '.' || c == '-') c = '_';
    }
    return name;
  }

  std::string read_import(std::string_view& rest, const std::string& from) {
    const size_t end = rest.find(';');
    const std::string_view statement = rest.substr(0, end);
    const size_t open = statement.find('{'), close = statement.find('}');
    const size_t quote = statement.find('"'), unquote = statement.rfind('"');
    HEED_CHECK(end != std::string_view::npos && close < quote && quote < unquote);
    std::string names(statement.substr(open, close - open + 1));
    for (size_t at = 0; (at = names.find(" as ", at)) != std::string::npos;) names.replace(at, 4, ": ");
    const std::string_view target = statement.substr(quote + 1, unquote - quote - 1);
    const std::string path =
        (std::filesystem::path(from).parent_path() / target).lexically_normal().generic_string();
    rest.remove_prefix(end + 1);
    add(path);
    return fmt::format("const {} = {};", names, name_of(path));
  }

  static std::string_view first_line(std::string_view text) {
    return text.substr(0, std::min(text.find('\n'), text.size() - 1) + 1);
  }

  /// The size of the lines that a text begins with if they are only a comment: "// ...", or "/** ... */" in
  /// one line or several. Else 0.
  static size_t comment_size(std::string_view text) {
    const size_t begin = text.find_first_not_of(' ');
    if (begin == std::string_view::npos) return 0;
    const std::string_view comment = text.substr(begin);
    if (comment.starts_with("//")) return first_line(text).size();
    if (!comment.starts_with("/**")) return 0;
    constexpr std::string_view kEnd = "*/";
    const size_t end = comment.find(kEnd, 3);
    if (end == std::string_view::npos || !comment.substr(end + kEnd.size()).starts_with('\n')) return 0;
    return begin + end + kEnd.size() + 1;
  }

  static std::string read_line(std::string_view line, std::string& exports) {
    constexpr std::string_view kExport = "export ";
    if (!line.starts_with(kExport)) return std::string(line);
    line.remove_prefix(kExport.size());
    std::string_view name = line;
    for (const std::string_view keyword : {"async ", "function", "class ", "const ", "*", " "}) {
      if (name.starts_with(keyword)) name.remove_prefix(keyword.size());
    }
    name = name.substr(0, name.find_first_of(" (={;"));
    exports += (exports.empty() ? "" : ", ") + std::string(name);
    return std::string(line);
  }

  std::vector<std::string> added_;
  std::string script_;
};

/// JSON for a script element, escaped so that it contains neither "</script>" nor "<!--".
std::string inside_script(std::string json) {
  for (size_t at = 0; (at = json.find('<', at)) != std::string::npos;) json.replace(at, 1, "\\u003c");
  return json;
}

}  // namespace

std::string bundle_modules(const std::string& main) {
  Bundle bundle;
  bundle.add(main);
  return bundle.take();
}

std::string explorer_page(const std::vector<Trace>& traces, const ExplorerPageOptions& options) {
  if (traces.empty()) fail(ErrorKind::kUsage, "there is no trace for the page");
  std::string data =
      fmt::format("{{\"words\":{},\"command\":{},\"options\":{},\"traces\":[", options.words,
                  nlohmann::json(options.command).dump(), nlohmann::json(options.options).dump());
  for (const Trace& trace : traces) data += (&trace == &traces[0] ? "\n" : ",\n") + pack_trace(trace);
  data += "]}\n";

  std::string page(content_of("index.html"));
  replace_once(page, "<meta charset=\"utf-8\">", fmt::format("<meta charset=\"utf-8\">\n{}", kPolicy));
  remove_lines(page, "<link rel=\"icon\"");
  replace_once(page, "<link rel=\"stylesheet\" href=\"style.css\">",
               fmt::format("<style>\n{}</style>", content_of("style.css")));
  replace_once(page, "<script type=\"module\" src=\"main.js\"></script>",
               fmt::format("<script type=\"application/json\" id=\"traces\">{}</script>\n"
                           "<script type=\"module\">\n{}</script>",
                           inside_script(std::move(data)), bundle_modules("main.js")));
  return page;
}

}  // namespace heed
