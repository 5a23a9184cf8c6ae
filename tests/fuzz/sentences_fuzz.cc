// Any bytes as text, split into sentences: together with what lies between them, they are the text.
#include "fuzz.h"
#include "text/sentences/sentence_splitter.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  static const heed::SentenceSplitter splitters[] = {
      heed::SentenceSplitter("de"), heed::SentenceSplitter("en"), heed::SentenceSplitter("zh")};
  const std::string_view text = heed::text_of(bytes, size);
  for (const heed::SentenceSplitter& splitter : splitters) {
    heed::fuzz([&] {
      size_t at = 0;
      for (const std::string& sentence : splitter.split(text).sentences) {
        at = text.find(sentence, at);
        if (at == std::string_view::npos) std::abort();
        at += sentence.size();
      }
    });
  }
  return 0;
}
