// The table of the options of text generation, as translate/translate_options.h is that of translation: `heed
// generate`, /v1/completions, Python's Generator and the table in docs/language-models.md follow from it.
#pragma once

#include "heed/generator.h"
#include "search/rules/sampling_options.h"

namespace heed::tasks {

/// Calls visit(row, &GenerateOptions::field, range) for numbers, visit(row, &GenerateOptions::field) for
/// switches and texts.
template <typename Visit>
void visit_generate_options(Visit&& visit) {
  using Options = GenerateOptions;
  using enum search::OptionGroup;
  visit({.name = "max_tokens",
         .group = kOutput,
         .value = "N",
         .help = "Maximum number of new tokens",
         .otherwise = "the model's, or 256"},
        &Options::max_tokens, models::kNewTokens);
  visit({.name = "stop",
         .group = kOutput,
         .value = "TEXT",
         .help = "The text ends before the first occurrence of this text"},
        &Options::stop);
  visit({.name = "ignore_end", .group = kOutput, .help = "Never generate the end token"},
        &Options::ignore_end);
  visit({.name = "special_tokens",
         .group = kText,
         .help = "Parse special tokens in prompts, such as <|endoftext|>",
         .for_requests = false},
        &Options::special_tokens);
  visit({.name = "greedy", .group = kSearch, .help = "Greedy search: always the most probable token"},
        &Options::greedy);
  visit({.name = "beam",
         .group = kSearch,
         .value = "N",
         .help = "Beam search with this beam size instead of sampling; the text appears when it is complete",
         .otherwise = "the model's",
         .excludes = {"greedy"}},
        &Options::beam, models::kBeamSizes);
  visit({.name = "repetition_penalty",
         .group = kSearch,
         .value = "A",
         .help = "For tokens of prompt and text so far: positive logits are divided by A, negative ones "
                 "multiplied",
         .otherwise = "the model's, or 1"},
        &Options::repetition_penalty, models::kRepetitionPenalties);
  visit({.name = "draft_tokens",
         .group = kSearch,
         .value = "N",
         .help = "Maximum number of draft tokens, taken from repeated n-grams and verified in one step; the "
                 "text is the same; 0: none",
         .otherwise = "4",
         .excludes = {"beam"},
         .for_requests = false},
        &Options::draft_tokens, models::kDraftTokens);
  search::visit_sampling_options<Options>(visit, {.excludes = {"greedy", "beam"}}, "the model's, or 0.9");
  visit({.name = "min_p",
         .group = kSampling,
         .value = "P",
         .help = "Sample from tokens with at least P times the highest probability; 0: all",
         .otherwise = "the model's, or 0",
         .excludes = {"greedy", "beam"}},
        &Options::min_p, models::kMinP);
  visit({.name = "seed",
         .group = kSampling,
         .value = "N",
         .help = "Seed of sampling: the same options and seed give the same text",
         .otherwise = "1"},
        &Options::seed, models::kSeeds);
}

}  // namespace heed::tasks

namespace heed {

/// For the functions of option_row.h, which find it beside the struct.
template <typename Visit>
void visit_options(const GenerateOptions&, Visit&& visit) {
  tasks::visit_generate_options(visit);
}

}  // namespace heed
