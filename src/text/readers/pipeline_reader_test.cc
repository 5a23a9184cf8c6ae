// Every tokenizer.json of the reference cases against Hugging Face's tokenizers, and what is refused.
#include "text/readers/pipeline_reader.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/stop.h"
#include "test_folder.h"
#include "text/test_cases.h"
#include "text/unicode/utf8.h"

namespace heed {
namespace {

using Json = nlohmann::json;
using Ids = std::vector<int32_t>;

/// The spans of a text in code points; 0, 0 for special tokens around it.
std::vector<uint32_t> flat(const std::string& text, const Encoding& encoding) {
  const auto code_points = [&](size_t bytes) {
    return static_cast<uint32_t>(utf8_to_utf32(text.substr(0, bytes)).size());
  };
  std::vector<uint32_t> offsets;
  for (size_t n = 0; n < encoding.size(); ++n) {
    const auto [begin, end] = encoding.sources[n] < 0 ? std::pair<size_t, size_t>{} : encoding.spans[n];
    offsets.insert(offsets.end(), {code_points(begin), code_points(end)});
  }
  return offsets;
}

Ids without_special(const Encoding& encoding) {
  Ids ids;
  for (size_t n = 0; n < encoding.size(); ++n) {
    if (encoding.sources[n] >= 0) ids.push_back(encoding.ids[n]);
  }
  return ids;
}

TEST(TextPipeline, ReferenceCases) {
  const std::vector<std::filesystem::path> files = case_files(families_folder() / "tokenizer_json");
  if (files.empty()) GTEST_SKIP() << "no cases in " << families_folder();
  for (const auto& file : files) {
    SCOPED_TRACE(file);
    const Json json = read_json(file);
    const TextPipeline pipeline =
        read_text_pipeline(read_tokenizer_json((file.parent_path() / "model/tokenizer.json").string()));
    ASSERT_FALSE(json["texts"].empty());
    for (const Json& each : json["texts"]) {
      const auto text = each["text"].get<std::string>();
      const Encoding encoding = pipeline.encode(text);
      EXPECT_EQ(encoding.ids, each["ids"].get<Ids>()) << text;
      EXPECT_EQ(encoding.pieces, each["tokens"].get<std::vector<std::string>>()) << text;
      EXPECT_EQ(flat(text, encoding), each["offsets"].get<std::vector<uint32_t>>()) << text;
      EXPECT_EQ(pipeline.encode(text, {.adds_special = false}).ids == without_special(encoding),
                each["without_special"].get<bool>())
          << text;
      EXPECT_EQ(pipeline.decode(encoding.ids, false), each["decoded"].get<std::string>()) << text;
      EXPECT_EQ(pipeline.decode(encoding.ids), each["decoded_plain"].get<std::string>()) << text;
    }
    for (const Json& each : json["pairs"]) {
      const auto first = each["first"].get<std::string>(), second = each["second"].get<std::string>();
      const Encoding encoding = pipeline.encode(first, second);
      EXPECT_EQ(encoding.ids, each["ids"].get<Ids>()) << first << " | " << second;
      EXPECT_EQ(encoding.types, each["types"].get<Ids>()) << first << " | " << second;
    }
    for (const Json& each : json["random_ids"]) {
      const Ids ids = each["ids"].get<Ids>();
      EXPECT_EQ(pipeline.decode(ids, false), each["decoded"].get<std::string>()) << each["ids"];
      EXPECT_EQ(pipeline.decode(ids), each["decoded_plain"].get<std::string>()) << each["ids"];
    }
  }
}

/// A pipeline of a few words with the given parts.
TextPipeline small_pipeline(const Json& changes) {
  Json json{{"added_tokens", Json::array()},
            {"model",
             {{"type", "WordLevel"},
              {"vocab", {{"[UNK]", 0}, {"a", 1}, {"b", 2}, {"ab", 3}, {"é", 4}}},
              {"unk_token", "[UNK]"}}}};
  json.update(changes);
  const TestFolder folder;
  folder.write("tokenizer.json", json.dump());
  return read_text_pipeline(read_tokenizer_json(folder.path("tokenizer.json")));
}

Json sequence(const char* list, std::vector<Json> steps) {
  return {{"type", "Sequence"}, {list, steps}};
}

TEST(TextPipeline, OffsetsAreThoseOfTheOriginal) {
  // e and a combining accent become one character, with the offsets of the e; then a full-width letter, and a
  // ligature that becomes two letters.
  const TextPipeline pipeline =
      small_pipeline({{"normalizer", sequence("normalizers", {{{"type", "NFKC"}}, {{"type", "Lowercase"}}})},
                      {"pre_tokenizer", {{"type", "WhitespaceSplit"}}}});
  const std::string text = " e\u0301  \uFF21b \uFB01";
  const Encoding encoding = pipeline.encode(text);
  EXPECT_THAT(encoding.ids, testing::ElementsAre(4, 3, 0));
  EXPECT_THAT(flat(text, encoding), testing::ElementsAre(1, 2, 5, 7, 8, 9));
  EXPECT_EQ(pipeline.decode(encoding.ids), "é ab [UNK]");
}

TEST(TextPipeline, CutBehaviors) {
  const auto pieces = [](const char* behavior) {
    const TextPipeline pipeline = small_pipeline(
        {{"pre_tokenizer",
          {{"type", "Split"}, {"pattern", {{"Regex", "-"}}}, {"behavior", behavior}, {"invert", false}}}});
    std::vector<std::string> texts;
    const std::string text = "a--b-";
    for (const auto& [begin, end] : pipeline.encode(text).spans)
      texts.push_back(text.substr(begin, end - begin));
    return texts;
  };
  EXPECT_THAT(pieces("Removed"), testing::ElementsAre("a", "b"));
  EXPECT_THAT(pieces("Isolated"), testing::ElementsAre("a", "-", "-", "b", "-"));
  EXPECT_THAT(pieces("MergedWithPrevious"), testing::ElementsAre("a-", "-", "b-"));
  EXPECT_THAT(pieces("MergedWithNext"), testing::ElementsAre("a", "-", "-b", "-"));
  EXPECT_THAT(pieces("Contiguous"), testing::ElementsAre("a", "--", "b", "-"));
}

// Expected: the pieces of the tokenizers package.
TEST(TextPipeline, CutsAtScripts) {
  const TextPipeline pipeline = small_pipeline({{"pre_tokenizer", {{"type", "UnicodeScripts"}}}});
  const auto pieces = [&](const std::string& text) {
    std::vector<std::string> texts;
    for (const auto& [begin, end] : pipeline.encode(text).spans)
      texts.push_back(text.substr(begin, end - begin));
    return texts;
  };
  using testing::ElementsAre;
  EXPECT_THAT(pieces("  ab, cd "), ElementsAre("ab", ", ", "cd "));
  EXPECT_THAT(pieces(" "), ElementsAre());
  EXPECT_THAT(pieces("ab \u4e2d\u3042\u30fc x"), ElementsAre("ab ", "\u4e2d\u3042\u30fc ", "x"));
  EXPECT_THAT(pieces(" 1a"), ElementsAre("1", "a"));
  EXPECT_THAT(pieces("ab\u0301c"), ElementsAre("ab", "\u0301", "c")) << "inherited is a script";
  EXPECT_THAT(pieces("a\U0001F9E6b"), ElementsAre("a\U0001F9E6b")) << "newer than Unicode 9";
  EXPECT_THAT(pieces("\u0905\u0953\u0589,"), ElementsAre("\u0905\u0953", "\u0589,"));
}

TEST(TextPipeline, InvalidTextIsReadAsReplacementCharacters) {
  const TextPipeline pipeline = small_pipeline({{"pre_tokenizer", {{"type", "WhitespaceSplit"}}}});
  const std::string text = "a \xF0\x9F b";
  const Encoding encoding = pipeline.encode(text);
  EXPECT_THAT(encoding.ids, testing::ElementsAre(1, 0, 2));
  EXPECT_THAT(flat(text, encoding), testing::ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_EQ(encoding.spans[1], std::pair(size_t{2}, size_t{4}));
}

TEST(TextPipeline, SpecialTokensAreTextUnlessAsked) {
  const auto added = [](int id, const char* content, bool special) {
    return Json{{"id", id}, {"content", content}, {"special", special}, {"normalized", false}};
  };
  const TextPipeline pipeline = small_pipeline(
      {{"pre_tokenizer", {{"type", "WhitespaceSplit"}}},
       {"added_tokens", {added(5, "<s>", true), added(6, "<t>", false), added(7, "<m>", true)}}});
  EXPECT_THAT(pipeline.encode("a<s>b<t>a<m>").ids, testing::ElementsAre(1, 5, 2, 6, 1, 7));
  EXPECT_THAT(pipeline.encode("a<s> b<t>a<m>", {.read = {.special_tokens = false}}).ids,
              testing::ElementsAre(0, 2, 6, 0));
  const std::vector<int32_t> mask{7};
  EXPECT_THAT(pipeline.encode("a <s> <m>", {.read = {.special_tokens = false, .also = mask}}).ids,
              testing::ElementsAre(1, 0, 7));
}

TEST(TextPipeline, ModelsDoNotSpellSpecialTokensEither) {
  const auto scored = [](const char* piece, double score) { return Json::array({piece, score}); };
  const Json unigram{{"type", "Unigram"},
                     {"unk_id", 0},
                     {"vocab", Json::array({scored("<unk>", 0), scored("</s>", 0), scored("a", -1),
                                            scored("<", -2), scored("/s", -2), scored(">", -2)})}};
  const Json end{{"id", 1}, {"content", "</s>"}, {"special", true}, {"normalized", false}};
  const TextPipeline pipeline = small_pipeline({{"model", unigram}, {"added_tokens", Json::array({end})}});
  EXPECT_THAT(pipeline.encode("a</s>a").ids, testing::ElementsAre(2, 1, 2));
  const std::string spelt = "a</s>a</s>";
  const Encoding text = pipeline.encode(spelt, {.read = {.special_tokens = false}});
  EXPECT_THAT(text.ids, testing::ElementsAre(2, 3, 4, 5, 2, 3, 4, 5));
  EXPECT_THAT(flat(spelt, text), testing::ElementsAre(0, 1, 1, 2, 2, 4, 4, 5, 5, 6, 6, 7, 7, 9, 9, 10));
  // The piece is tokenized twice, not once for each of the special tokens, which would take minutes.
  std::string many;
  for (int n = 0; n < 30'000; ++n) many += "</s>";
  EXPECT_EQ(pipeline.encode(many, {.read = {.special_tokens = false}}).size(), 90'000u);
  EXPECT_EQ(pipeline.encode(many).size(), 30'000u);
}

// Expected: the ids of the tokenizers package.
TEST(TextPipeline, AddedTokensIncludeWhiteSpaceOnce) {
  const auto with = [](const char* content, const char* strip, const char* also = "special") {
    const Json tab{{"id", 5}, {"content", content}, {strip, true}, {also, true}, {"normalized", false}},
        hash{{"id", 6}, {"content", "#"}, {"rstrip", true}, {"normalized", false}};
    return small_pipeline({{"added_tokens", {tab, hash}}, {"pre_tokenizer", {{"type", "WhitespaceSplit"}}}});
  };
  const std::string text = "a \t\t \ta";
  for (const char* strip : {"lstrip", "rstrip"}) {
    const TextPipeline pipeline = with("\t", strip);
    EXPECT_THAT(pipeline.encode(text).ids, testing::ElementsAre(1, 5, 5, 5, 1)) << strip;
    // Quadratic time would be minutes, and the text of the tokens gigabytes.
    const Encoding tabs = pipeline.encode(std::string(200'000, '\t'));
    EXPECT_EQ(tabs.size(), 200'000u);
    EXPECT_EQ(tabs.spans.back(), std::pair(size_t{199'999}, size_t{200'000}));
  }
  EXPECT_EQ(flat(text, with("\t", "lstrip").encode(text)),
            (std::vector<uint32_t>{0, 1, 1, 3, 3, 4, 4, 6, 6, 7}));
  EXPECT_THAT(with("\t", "lstrip", "rstrip").encode(text).ids, testing::ElementsAre(1, 5, 1));
  EXPECT_THAT(with("\t", "rstrip").encode("#\t\ta").ids, testing::ElementsAre(6, 5, 5, 1));
  EXPECT_THAT(with("\t", "lstrip", "rstrip").encode("#\t\ta").ids, testing::ElementsAre(6, 1));
  EXPECT_NO_THROW(with("\t", "lstrip").encode("#\t\ta"));  // the package panics
}

// Expected: the ids of the tokenizers package 0.22; 0.23 draws one of the tokens at random.
TEST(TextPipeline, OfAddedTokensWrittenAlikeTheFirstIsMatched) {
  const auto added = [](int id, const char* content, bool special) {
    return Json{{"id", id}, {"content", content}, {"special", special}, {"normalized", true}};
  };
  const auto ids = [](const Json& first, const Json& second) {
    return small_pipeline({{"added_tokens", {first, second}}, {"normalizer", {{"type", "Lowercase"}}}})
        .encode("<x>")
        .ids;
  };
  EXPECT_THAT(ids(added(5, "<X>", false), added(6, "<x>", false)), testing::ElementsAre(5));
  EXPECT_THAT(ids(added(5, "<x>", false), added(6, "<X>", false)), testing::ElementsAre(5));
  EXPECT_THAT(ids(added(5, "<X>", false), added(6, "<x>", true)), testing::ElementsAre(6));
}

TEST(TextPipeline, BytesOfAPrefixAndSuffixHaveNoSpan) {
  Json vocabulary;
  for (int byte = 0; byte < 256; ++byte) vocabulary[fmt::format("<0x{:02X}>", byte)] = byte;
  const std::string prefix(40, '#'), suffix(30, '$');
  const Json bpe{{"type", "BPE"},
                 {"vocab", vocabulary},
                 {"merges", Json::array()},
                 {"byte_fallback", true},
                 {"continuing_subword_prefix", prefix},
                 {"end_of_word_suffix", suffix}};
  const Json post_processor{
      {"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", false}};
  const std::string text = "aéb", written = "a" + prefix + "é" + prefix + "b" + suffix;
  const Encoding encoding = small_pipeline({{"model", bpe}, {"post_processor", post_processor}}).encode(text);
  ASSERT_EQ(encoding.size(), written.size());
  std::string read;
  for (size_t n = 0; n < encoding.size(); ++n) {
    EXPECT_EQ(encoding.ids[n], static_cast<unsigned char>(written[n])) << n;
    const auto [begin, end] = encoding.spans[n];
    ASSERT_TRUE(begin <= end && end <= text.size()) << n;
    const bool inserted = written[n] == '#' || written[n] == '$';
    EXPECT_TRUE(!inserted || begin == end) << n;
    if (!inserted) read += text.substr(begin, end - begin);
  }
  EXPECT_EQ(read, "aééb");  // both bytes of a character have its span
}

TEST(TextPipeline, ThreadsTokenizeAlike) {
  const Json bpe{{"type", "BPE"},
                 {"vocab", {{"a", 0}, {"b", 1}, {"ab", 2}, {"Ġ", 3}}},
                 {"merges", Json::array({Json::array({"a", "b"})})}};
  const TextPipeline pipeline = small_pipeline(
      {{"model", bpe}, {"pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", false}}}});
  const Ids expected = pipeline.encode("a b ab").ids;
  EXPECT_THAT(expected, testing::ElementsAre(0, 3, 1, 3, 2));
  std::vector<std::thread> threads;
  std::vector<int> wrong(4);
  for (int& count : wrong) {
    threads.emplace_back([&] {
      for (int n = 0; n < 200; ++n) count += pipeline.encode("a b ab").ids != expected;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(wrong, testing::Each(0));
}

Json replace_step(const Json& pattern, const std::string& by) {
  return {{"type", "Replace"}, {"pattern", pattern}, {"content", by}};
}

TEST(TextPipeline, StepsThatWriteTooMuchAreNamed) {
  const Json doubled = replace_step({{"String", "a"}}, "aa");
  const Json tenfold = replace_step({{"Regex", "."}}, std::string(10, 'a'));
  const Json prepended{{"type", "Prepend"}, {"prepend", std::string(10'000, 'a')}};
  const Json huge = replace_step({{"Regex", "."}}, std::string(100'000, 'a'));
  const auto refused = [](const std::vector<Json>& steps, const std::string& where) {
    const TextPipeline pipeline = small_pipeline({{"normalizer", sequence("normalizers", steps)}});
    expect_error(ErrorKind::kText, "normalizer writes more than 65536 bytes",
                 [&] { pipeline.encode("aaa"); });
    expect_error(ErrorKind::kText, where, [&] { pipeline.encode("aaa"); });
  };
  refused(std::vector<Json>(40, doubled), "step 15 of 40");
  refused(std::vector<Json>(12, tenfold), "step 5 of 12");
  refused(std::vector<Json>(2000, prepended), "step 7 of 2000");
  refused({tenfold, huge}, "step 2 of 2");  // before it is written

  const TextPipeline few = small_pipeline({{"normalizer", sequence("normalizers", {doubled, tenfold})}});
  EXPECT_EQ(few.encode("aaa").ids.size(), 1u);  // growth is no error by itself
}

TEST(TextPipeline, GrowthIsBoundedForAllStretchesOfAText) {
  const Json end{{"id", 5}, {"content", "</s>"}, {"special", true}, {"normalized", false}};
  const Json grown = replace_step({{"String", "a"}}, std::string(30'000, 'a'));
  const TextPipeline pipeline = small_pipeline({{"normalizer", grown}, {"added_tokens", Json::array({end})}});
  EXPECT_EQ(pipeline.encode("a</s>a").ids.size(), 3u);
  expect_error(ErrorKind::kText, "step 1 of 1", [&] { pipeline.encode("a</s>a</s>a"); });
}

TEST(TextPipeline, PreTokenizersAndDecodersThatWriteTooMuchAreNamed) {
  const Json bytes{{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}};
  const TextPipeline cuts =
      small_pipeline({{"pre_tokenizer", sequence("pretokenizers", std::vector<Json>(40, bytes))}});
  expect_error(ErrorKind::kText, "pre_tokenizer writes more than", [&] { cuts.encode("é"); });

  const Json doubled = replace_step({{"String", "a"}}, "aa");
  const TextPipeline decodes =
      small_pipeline({{"decoder", sequence("decoders", std::vector<Json>(40, doubled))}});
  expect_error(ErrorKind::kText, "decoder writes more than 65536 bytes",
               [&] { decodes.decode(Ids{1}, false); });
  EXPECT_FALSE(decodes.bytes(1));
  EXPECT_EQ(decodes.bytes(2), "b");
}

TEST(TextPipeline, AddedTokensThatNormalizersLengthenAreRefused) {
  Json added = Json::array();
  for (int n = 0; n < 100; ++n) {
    added.push_back({{"id", 5 + n}, {"content", "a" + std::to_string(n)}, {"normalized", true}});
  }
  expect_error(ErrorKind::kText, "normalizer writes more than", [&] {
    small_pipeline(
        {{"added_tokens", added}, {"normalizer", replace_step({{"String", "a"}}, std::string(30'000, 'a'))}});
  });
}

TEST(TextPipeline, TooManyAddedTokensAreRefused) {
  Json added = Json::array();
  for (int n = 0; n < 100'001; ++n) added.push_back(Json::object());  // refused before they are looked at
  expect_error(ErrorKind::kFormat, "'added_tokens' has more than 100000 elements", [&] {
    small_pipeline({{"added_tokens", added}});
  });
}

Json split_by(const std::string& expression) {
  return {
      {"type", "Split"}, {"pattern", {{"Regex", expression}}}, {"behavior", "Isolated"}, {"invert", false}};
}

TEST(TextPipeline, RegularExpressionsHaveABudgetForEachText) {
  // Each match is tried in some n^2 steps, below the library's limit, at n positions: 5e9 steps in all.
  const TextPipeline cubic = small_pipeline({{"pre_tokenizer", split_by("\\p{L}*\\p{L}*\\d")}});
  const std::string letters(3000, 'a');
  expect_error(ErrorKind::kText, "takes too many steps in this text", [&] { cubic.encode(letters); });
  EXPECT_EQ(cubic.encode("ab1 ab2").ids.size(), 3u);
  EXPECT_THROW(cubic.encode(letters), Error);  // as before
  EXPECT_EQ(cubic.encode("ab1 ab2").ids.size(), 3u);

  // Also with pieces that are each within the budget.
  std::string pieces;
  for (int n = 0; n < 1000; ++n) pieces += std::string(200, 'a') + ' ';
  const TextPipeline each = small_pipeline(
      {{"pre_tokenizer",
        sequence("pretokenizers", {{{"type", "WhitespaceSplit"}}, split_by("\\p{L}*\\p{L}*\\d")})}});
  EXPECT_NO_THROW(each.encode(pieces.substr(0, 201)));
  expect_error(ErrorKind::kText, "takes too many steps in this text", [&] { each.encode(pieces); });

  // Long texts take many steps rightly.
  const TextPipeline words =
      small_pipeline({{"pre_tokenizer", split_by("'s|'t| ?\\p{L}+| ?\\p{N}+|\\s+(?!\\S)|\\s+")}});
  std::string text;
  for (int n = 0; n < 50'000; ++n) text += "ab's 12   é\n\n";
  EXPECT_GT(words.encode(text).ids.size(), 100'000u);
  EXPECT_NO_THROW(words.encode(std::string(500'000, ' ')));
  EXPECT_NO_THROW(small_pipeline({{"pre_tokenizer", split_by("[^a]\\d")}}).encode(std::string(500'000, 'b')));
}

TEST(TextPipeline, StopsOnRequest) {
  const TextPipeline pipeline = small_pipeline(Json::object());
  std::atomic<bool> flag = false;
  const StopScope scope{Stop(&flag)};
  EXPECT_NO_THROW(pipeline.encode("a"));
  flag = true;
  EXPECT_THROW(pipeline.encode("a"), Cancelled);
  const StopScope inner{Stop()};
  EXPECT_NO_THROW(pipeline.encode("a"));
}

TEST(TextPipeline, UnknownComponentsAndSettingsAreNamed) {
  const auto refused = [](const char* part, const Json& step, const std::string& why) {
    expect_error(ErrorKind::kFormat, why, [&] { small_pipeline({{part, step}}); });
    expect_error(ErrorKind::kFormat, "tokenizer.json", [&] { small_pipeline({{part, step}}); });
  };
  for (const char* part : {"normalizer", "pre_tokenizer", "post_processor", "decoder"}) {
    refused(part, {{"type", "Perhaps"}},
            std::string("the ") + part + R"( {"type":"Perhaps"} is not supported)");
  }
  refused("normalizer", {{"type", "NFC"}, {"form", 3}}, "does not know its setting \"form\"");
  refused("normalizer", {{"type", "Precompiled"}, {"precompiled_charsmap", "!"}}, "its map is not base64");
  refused("normalizer", {{"type", "Precompiled"}, {"precompiled_charsmap", "AAAA"}},
          "is damaged: it is truncated");
  refused("normalizer", {{"type", "Replace"}, {"pattern", {{"Regex", "(a"}}}, {"content", ""}},
          "the regular expression '(a' is invalid");
  refused("pre_tokenizer", {{"type", "UnicodeScripts"}, {"n", 1}}, "does not know its setting \"n\"");
  refused("pre_tokenizer", {{"type", "Punctuation"}, {"behavior", "Kept"}}, "behavior");
  refused("post_processor", {{"type", "BertProcessing"}, {"cls", {"[UNK]", 9}}, {"sep", {"[UNK]", 0}}},
          "\"cls\" is not a token and its id");
}

}  // namespace
}  // namespace heed
