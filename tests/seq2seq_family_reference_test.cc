// Encoder-decoder families (T5, BART, mBART, M2M-100, NLLB) against Hugging Face's classes: ids, encoder
// output, logits, attention weights, greedy and beam search, scores of given targets, and directories that
// are written again.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "base/text/json_file.h"
#include "base/thread_pool.h"
#include "model_reference.h"
#include "models/directory/loaded_model.h"
#include "models/directory/model_weights.h"
#include "models/stacks/transformer.h"
#include "reference.h"
#include "search/search.h"
#include "tasks/model_files.h"
#include "test_folder.h"
#include "translate/translation_settings.h"

namespace heed {
namespace {

/// One family's case.
struct Seq2SeqFamily {
  explicit Seq2SeqFamily(const std::string& name)
      : reference(name, "", families_folder()),
        directory((reference.folder() / "model").string()),
        model(tasks::translation_model(models::load_model(directory))) {
    const int64_t padding = reference.hyperparameters().at("padding_id");
    source = sequences_of(reference.tensor("input.source"), padding);
    const Sequences target = sequences_of(reference.tensor("input.target"), padding);
    const Tensor padded = reference.tensor("input.decoder_input");
    for (int b = 0; b < target.count(); ++b) {
      const std::vector<int64_t> row = padded.narrow(0, b, 1).to_vector<int64_t>();
      input.append(
          std::vector<int32_t>(row.begin(), row.begin() + target.offsets[b + 1] - target.offsets[b]));
    }
  }

  double tolerance(const std::string& tensor) const { return reference.tolerance(tensor, "float32"); }
  const nlohmann::json& rows() const { return reference.json().at("search").at("rows"); }
  Tensor logits(const models::LoadedModel& loaded) const {
    nn::Context context = loaded.context();
    return loaded.seq2seq().logits(context, source, input);
  }

  search::SearchOptions search_options(int beams) const {
    search::SearchOptions options = search::search_options_of(model.loaded);
    options.max_length = reference.hyperparameters().at("max_length");
    options.length_penalty = 1;
    options.early_stopping = models::EarlyStopping::kFalse;
    options.beam_size = options.nbest = beams;
    return options;
  }
  std::vector<search::Hypothesis> hypotheses(const models::LoadedModel& loaded, const nlohmann::json& row,
                                             int beams) const {
    const search::Search search(loaded.seq2seq(), loaded.context(), search_options(beams));
    return search.run({{0, ids_of(row.at("source"))}})[0];
  }

  ReferenceCase reference;
  std::string directory;
  tasks::TranslationModel model;
  Sequences source, input;
};

/// test(family) for each case.
template <typename Test>
void for_each_seq2seq_family(const Test& test) {
  for_each_model_case<Seq2SeqFamily>("seq2seq_families", test);
}

TEST(Seq2SeqFamilies, IdsOfTexts) {
  for_each_seq2seq_family([](const Seq2SeqFamily& family) {
    for (const auto& text : family.reference.json().at("encoder_texts")) {
      const Encoding encoding = family.model.tokenizer.encode_source(text.at("text").get<std::string>());
      EXPECT_EQ(encoding.ids, ids_of(text.at("ids"))) << text.at("text");
      for (const std::string& piece : encoding.pieces) {
        EXPECT_EQ(piece.find("Ã"), std::string::npos) << piece << " spells bytes";
      }
      size_t last = 0;
      for (const auto& [begin, end] : encoding.spans) {
        EXPECT_GE(begin, last);
        last = end;
      }
    }
    const auto& forced = family.reference.hyperparameters();
    if (!forced.contains("forced_bos_token_id")) return;
    EXPECT_EQ(family.model.loaded.generation.forced_begin_id, forced.at("forced_bos_token_id"));
    EXPECT_EQ(family.model.tokenizer.encode_target("a").ids.front(), forced.at("forced_bos_token_id"));
  });
}

TEST(Seq2SeqFamilies, MemoryLogitsAndAttentionWeights) {
  for_each_seq2seq_family([](const Seq2SeqFamily& family) {
    KeepAll sink;
    nn::Context context = family.model.loaded.context();
    const auto& transformer = dynamic_cast<const models::Transformer&>(family.model.loaded.seq2seq());
    expect_rows(transformer.encode(context, family.source).value(),
                family.reference.tensor("expected.memory"), family.source.offsets,
                family.tolerance("expected.memory"), "memory");
    context.sink = &sink;
    const Tensor heard = transformer.logits(context, family.source, family.input);
    const Tensor logits = family.logits(family.model.loaded);
    for (const Tensor& each : {heard, logits}) {
      expect_rows(each, family.reference.tensor("expected.logits"), family.input.offsets,
                  family.tolerance("expected.logits"), "logits");
    }
    const std::vector<std::pair<std::string, Stack>> stacks{
        {"encoder", Stack::kEncoder}, {"decoder", Stack::kDecoder}, {"cross", Stack::kCross}};
    for (const auto& [stack, place] : stacks) {
      const std::string prefix = "expected." + stack + "_attention.";
      for (const std::string& name : family.reference.tensor_names(prefix)) {
        KeepAll::Weights weights = sink.all.at({place, std::stoi(name.substr(prefix.size()))});
        weights.layout.spans.resize(1);  // the reference has the first sentence
        expect_weights(weights, family.reference.tensor(name), family.tolerance(name), name);
      }
    }
  });
}

TEST(Seq2SeqFamilies, GreedyAndBeamSearch) {
  for_each_seq2seq_family([](const Seq2SeqFamily& family) {
    const double tolerance = family.reference.json().at("search").at("score_tolerance").at("absolute");
    int compared = 0;
    for (const auto& row : family.rows()) {
      SCOPED_TRACE(row.at("text").get<std::string>());
      if (row.at("greedy_sturdy").get<bool>()) {
        EXPECT_EQ(family.hypotheses(family.model.loaded, row, 1)[0].ids, ids_of(row.at("greedy")));
        ++compared;
      }
      if (!row.contains("beam")) continue;
      const auto& expected = row.at("beam");
      const auto found = family.hypotheses(family.model.loaded, row, static_cast<int>(expected.size()));
      ASSERT_EQ(found.size(), expected.size());
      for (size_t rank = 0; rank < expected.size(); ++rank) {
        if (!row.at(rank == 0 ? "beam_sturdy_best" : "beam_sturdy_all").get<bool>()) continue;
        EXPECT_EQ(found[rank].ids, ids_of(expected[rank].at("ids"))) << "rank " << rank;
        EXPECT_NEAR(found[rank].score, expected[rank].at("score").get<double>(), tolerance);
        ++compared;
      }
    }
    EXPECT_GT(compared, 5);
  });
}

// What the command does: text in, text out. The language code is no text; the reference's slow tokenizer of
// M2M-100 spells it.
TEST(Seq2SeqFamilies, TranslatedTexts) {
  for_each_seq2seq_family([](const Seq2SeqFamily& family) {
    ThreadPool pool(1);
    translate::TranslatorOptions options = translate::default_translator_options(family.model.loaded);
    options.search = family.search_options(1);
    const translate::Translator translator(family.model.loaded.seq2seq(), family.model.loaded.context(),
                                           family.model.tokenizer, pool, options);
    for (const auto& row : family.rows()) {
      const auto text = row.at("text").get<std::string>();
      if (!row.at("greedy_sturdy").get<bool>() || text.find_first_not_of(' ') == std::string::npos) continue;
      auto expected = row.at("decoded").get<std::string>();
      if (expected.starts_with("__")) expected = expected.substr(expected.find(' ') + 1);
      EXPECT_EQ(translator.translate(text).candidates.at(0).text, expected) << text;
    }
    EXPECT_EQ(translator.translate("").candidates.at(0).text, "");
  });
}

/// A score is what the search gives to the same translation.
TEST(Seq2SeqFamilies, ScoresOfTranslations) {
  for_each_seq2seq_family([](const Seq2SeqFamily& family) {
    const auto& row = family.rows()[0];
    const search::Hypothesis found = family.hypotheses(family.model.loaded, row, 4)[0];
    const search::ScoringPair pair{ids_of(row.at("source")), found.ids};
    const auto scores = search::score_pairs(family.model.loaded.seq2seq(), family.model.loaded.context(),
                                            family.search_options(4), {&pair, 1});
    double sum = 0;
    for (const float each : scores[0]) sum += each;
    EXPECT_NEAR(sum, found.log_probability, 1e-4);
  });
}

TEST(Seq2SeqFamilies, WrittenModelsAreTheSame) {
  for_each_seq2seq_family([](const Seq2SeqFamily& family) {
    const models::LoadedModel& loaded = family.model.loaded;
    const TestFolder folder;
    write_json(folder.path("config.json"), loaded.model->config_json());
    models::write_weights(folder.path(), loaded.model->table(), loaded.values, DType::kFloat32);
    models::write_generation_defaults(folder.path(), loaded.generation, {});
    const models::LoadedModel again = models::load_model(folder.path());
    EXPECT_EQ(again.model_type, loaded.model_type);
    EXPECT_EQ(again.model->config_json(), loaded.model->config_json());
    EXPECT_EQ(again.generation.forced_begin_id, loaded.generation.forced_begin_id);
    EXPECT_EQ(again.generation.forced_end_id, loaded.generation.forced_end_id);
    EXPECT_EQ(again.generation.early_stopping, loaded.generation.early_stopping);
    expect_equal(family.logits(again), family.logits(loaded), "logits");
    EXPECT_TRUE(loaded.model->beyond_hugging_face().empty());
  });
}

/// In int8, logits are close, and a search ends as it should.
TEST(Seq2SeqFamilies, Quantized) {
  for_each_seq2seq_family([](const Seq2SeqFamily& family) {
    const models::LoadedModel int8 =
        models::load_model(family.directory, {.precision = models::Precision::kInt8});
    const std::vector<double> expected = family.logits(family.model.loaded).to_vector<double>(),
                              actual = family.logits(int8).to_vector<double>();
    double squares = 0, errors = 0;
    for (size_t n = 0; n < expected.size(); ++n) {
      squares += expected[n] * expected[n];
      errors += (actual[n] - expected[n]) * (actual[n] - expected[n]);
    }
    EXPECT_LT(errors, 0.01 * squares);
    EXPECT_GT(errors, 0);
    const auto found = family.hypotheses(int8, family.rows()[0], 4);
    const auto& forced = family.reference.hyperparameters();
    ASSERT_EQ(found.size(), 4);
    if (forced.contains("forced_bos_token_id")) {
      EXPECT_EQ(found[0].ids[0], forced.at("forced_bos_token_id"));
    }
  });
}

TEST(Seq2SeqFamilies, LanguagesAreChosenByName) {
  for_each_seq2seq_family([](const Seq2SeqFamily& family) {
    const TranslationTokenizer& tokenizer = family.model.tokenizer;
    if (tokenizer.languages().empty()) {
      expect_error(ErrorKind::kUsage, "has no language tokens to choose",
                   [&] { tokenizer.with_languages("", "de"); });
      return;
    }
    const std::string first = tokenizer.languages().front();
    tasks::TranslationModel other = tasks::translation_model(models::load_model(family.directory));
    tasks::choose_languages(other, first, first);
    const Encoding source = other.tokenizer.encode_source("a"), target = other.tokenizer.encode_target("a");
    EXPECT_EQ(source.ids.front(), target.ids.front());
    EXPECT_EQ(other.loaded.generation.forced_begin_id, target.ids.front());
    EXPECT_NE(source.ids.front(), tokenizer.encode_source("a").ids.front());
    EXPECT_EQ(other.tokenizer.decode(target.ids), "a");
    expect_error(ErrorKind::kUsage, "the model has no language 'xyz_Latn'",
                 [&] { tokenizer.with_languages("xyz_Latn", ""); });
  });
}

// A directory that names no target language: nothing is translated until one is chosen.
TEST(Seq2SeqFamilies, ATargetLanguageIsNeeded) {
  for_each_seq2seq_family([](const Seq2SeqFamily& family) {
    if (family.model.tokenizer.languages().empty()) return;
    const TestFolder folder;
    copy_folder(family.directory, folder.path());
    nlohmann::json config = JsonObject::read(folder.path("tokenizer_config.json")).json();
    config.erase("tgt_lang");
    write_json(folder.path("tokenizer_config.json"), config);
    const TranslationTokenizer without = TranslationTokenizer::load(folder.path());
    expect_error(ErrorKind::kUsage, "choose one with target_language",
                 [&] { without.require_language_code("a"); });
    without.with_languages("", without.languages().back()).require_language_code("a");
  });
}

}  // namespace
}  // namespace heed
