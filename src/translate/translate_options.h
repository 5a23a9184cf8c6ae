// The table of the options of translation. An option is a row here, a field of heed::TranslateOptions, and
// the place that uses it; the options of `heed translate`, the fields of /v1/translate, the keywords of
// Python's Translator and the table in docs/translating.md follow.
#pragma once

#include "heed/translator.h"
#include "search/rules/sampling_options.h"

namespace heed::translate {

/// Calls visit(row, &TranslateOptions::field, range) for numbers, visit(row, &TranslateOptions::field) for
/// switches and texts.
template <typename Visit>
void visit_translate_options(Visit&& visit) {
  using Options = TranslateOptions;
  using enum search::OptionGroup;
  visit({.name = "beam",
         .group = kSearch,
         .value = "N",
         .help = "Beam size; 1 is greedy search",
         .otherwise = "the model's",
         .excludes = {"sample"}},
        &Options::beam, models::kBeamSizes);
  visit({.name = "length_penalty",
         .group = kSearch,
         .value = "A",
         .help = "Divide scores by length^A; a larger A favours longer translations",
         .otherwise = "the model's"},
        &Options::length_penalty, models::kLengthPenalties);
  visit({.name = "max_length",
         .group = kSearch,
         .value = "N",
         .help = "Maximum length of a translation in tokens, including start token, end token and prefix",
         .otherwise = "the model's"},
        &Options::max_length, models::kLengths);
  visit({.name = "no_repeat_ngram",
         .group = kSearch,
         .value = "N",
         .help = "Block repeated n-grams of N tokens; 0: off",
         .otherwise = "the model's"},
        &Options::no_repeat_ngram, models::kNgramSizes);
  visit({.name = "batch_tokens",
         .group = kSearch,
         .value = "N",
         .help = "Batch size per thread in source tokens; does not change results",
         .otherwise = "4096",
         .for_requests = false},
        &Options::batch_tokens, models::kBatchTokens);
  visit({.name = "nbest",
         .group = kOutput,
         .value = "N",
         .help = "Translations per line, best first; at most the beam size, and a beam that is not given "
                 "grows to it",
         .otherwise = "1",
         .for_documents = false,
         .of_last_model = true},
        &Options::nbest, models::kCounts);
  visit({.name = "alignment",
         .group = kOutput,
         .help = "Give the word alignment, too: pairs of source and target word, such as 0-0 1-2",
         .for_documents = false},
        &Options::alignment);
  visit({.name = "confidence",
         .group = kOutput,
         .help = "Give the confidence, too, from 0 to 1: the expected share of right words, and in JSON that "
                 "of each word",
         .for_documents = false},
        &Options::confidence);
  visit({.name = "prefix",
         .group = kConstraints,
         .value = "TEXT",
         .help = "Every translation begins with this text, whose last word must be complete",
         .for_documents = false,
         .of_last_model = true},
        &Options::prefix);
  visit({.name = "require",
         .group = kConstraints,
         .value = "TEXT",
         .help = "Every translation contains this text, as written or with a capital first letter",
         .for_documents = false,
         .of_last_model = true},
        &Options::require);
  visit({.name = "forbid",
         .group = kConstraints,
         .value = "TEXT",
         .help = "No translation contains this word or phrase; without capitals, in any case; WORD*: all "
                 "words that begin so",
         .of_last_model = true},
        &Options::forbid);
  visit({.name = "split_sentences",
         .group = kText,
         .help = "Split lines into sentences and translate each separately",
         .otherwise = "on"},
        &Options::split_sentences);
  visit(
      {.name = "placeholders",
       .group = kText,
       .help = "Copy URLs, code, numbers, emojis etc. unchanged instead of translating them like other text",
       .otherwise = "on",
       .for_documents = false},
      &Options::placeholders);
  visit({.name = "check_values",
         .group = kText,
         .help = "Compare numbers, times, dates, codes, addresses and names of source and translation; where "
                 "they differ, search again, and warn if they still do. For German, English and Spanish",
         .otherwise = "on"},
        &Options::check_values);
  visit({.name = "glossary",
         .group = kText,
         .value = "F.tsv",
         .help = "Required translations of terms; terms match as they are written, or with a capital first "
                 "letter, not inflected",
         .of_last_model = true},
        &Options::glossary);
  visit({.name = "ablate",
         .group = kHeads,
         .value = "STACK:LAYER:HEAD",
         .help = "Switch off this attention head: its output becomes zeros; layer and head may be all"},
        &Options::ablate);
  visit({.name = "sample",
         .group = kSampling,
         .help = "Sample translations instead of searching for the most probable one",
         .for_documents = false,
         .of_last_model = true},
        &Options::sample);
  search::visit_sampling_options<Options>(visit, {.needs = "sample", .of_last_model = true},
                                          "the model's, or 1");
  visit({.name = "seed",
         .group = kSampling,
         .value = "N",
         .help = "Seed of sampling; samples depend on it, the text and the number of the line",
         .otherwise = "1",
         .needs = "sample",
         .of_last_model = true},
        &Options::seed, models::kSeeds);
}

}  // namespace heed::translate

namespace heed {

/// For the functions of option_row.h, which find it beside the struct.
template <typename Visit>
void visit_options(const TranslateOptions&, Visit&& visit) {
  translate::visit_translate_options(visit);
}

}  // namespace heed
