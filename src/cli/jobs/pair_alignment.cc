#include "cli/jobs/pair_alignment.h"

#include "cli/options/interrupts.h"

namespace heed::cli {

std::vector<std::vector<WordLink>> align_pairs(const TranslationModel& model, const NumberedPairs& pairs,
                                               const translate::AlignmentOptions& options, ThreadPool& pool) {
  require_max_length(model, pairs);
  std::vector<std::vector<WordLink>> links(pairs.pairs.size());
  pool.run(links.size(), [&](size_t n) {
    stop_on_interrupt().check();
    const auto& [source_text, target_text] = pairs.pairs[n];
    model.tokenizer.require_language_code(source_text);
    const Encoding source = model.tokenizer.encode_source(source_text),
                   target = model.tokenizer.encode_target(target_text);
    const translate::SoftAlignment soft = translate::soft_alignment(
        model.loaded.seq2seq(), model.loaded.context(), source.ids, target.ids, options);
    links[n] = translate::word_alignment(soft, translate::words_of_spans(source_text, source.spans),
                                         translate::words_of_spans(target_text, target.spans));
  });
  return links;
}

}  // namespace heed::cli
