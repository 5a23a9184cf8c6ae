// A search of one's own: translation word by word, in which no token is written twice. A step gives the
// logits of the next token; everything else is up to the caller.
//
//   custom_search [MODEL TEXT]
//
// The same search writes with language models, which read TEXT as a prompt.

#include <heed/error.h>
#include <heed/model.h>
#include <heed/tokenizer.h>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <set>

namespace {

/// Writes the likeliest token that is not forbidden, again and again; each is then forbidden itself if
/// `unique`.
std::vector<int32_t> search(const heed::Model& model, const std::vector<int32_t>& ids,
                            std::set<int32_t> forbidden, bool unique) {
  constexpr int64_t kMostTokens = 40;
  const std::vector<int32_t> ends = model.end_ids();
  heed::Decoding decoding = model.start(ids);
  for (std::vector<int32_t> written;;) {
    std::vector<float> logits = decoding.logits().to_vector<float>();  // (1, V)
    for (const int32_t id : forbidden) logits[id] = -std::numeric_limits<float>::infinity();
    const auto best = static_cast<int32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
    written.push_back(best);
    if (std::ranges::count(ends, best) > 0 || decoding.length() >= kMostTokens) return written;
    if (unique) forbidden.insert(best);
    decoding.step({best});
  }
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string directory = argc > 2 ? argv[1] : HEED_MODELS "/de-en";
  const std::string text =
      argc > 2 ? argv[2] : "Der Mann und die Frau und das Kind sehen den Hund und die Katze.";
  const heed::Tokenizer tokenizer(directory);
  const heed::Model model(directory);
  std::set<int32_t> forbidden;
  if (const auto padding = tokenizer.special_tokens().padding) forbidden.insert(*padding);
  const std::vector<int32_t> ids = tokenizer.encode(text).ids;
  const std::string greedy = tokenizer.decode(search(model, ids, forbidden, false));
  const std::string unique = tokenizer.decode(search(model, ids, forbidden, true));
  std::printf("greedy:        %s\nno repetition: %s\n", greedy.c_str(), unique.c_str());
  return greedy == unique ? 1 : 0;
} catch (const heed::Error& error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return 1;
}
