// Documents where there are no parsers for them: in place of the files for HTML and Markdown.
#include "base/check.h"
#include "translate/documents/document.h"
#include "translate/documents/document_labels.h"

namespace heed::translate {
namespace {

[[noreturn]] void refuse_documents() {
  fail(ErrorKind::kUsage, "documents are not translated in the browser: give the text of one");
}

}  // namespace

std::vector<Segment> html_segments(std::string_view, const Stop&) {
  refuse_documents();
}
std::vector<Segment> markdown_segments(std::string_view) {
  refuse_documents();
}
std::vector<Label> html_labels(std::string_view, const Stop&) {
  refuse_documents();
}
std::vector<Label> markdown_labels(std::string_view) {
  refuse_documents();
}
std::string escape_html(std::string_view) {
  refuse_documents();
}

}  // namespace heed::translate
