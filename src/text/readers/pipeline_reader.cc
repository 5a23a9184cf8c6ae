#include "text/readers/pipeline_reader.h"

#include <algorithm>

#include "base/check.h"
#include "text/pipeline/normalization/charsmap_check.h"
#include "text/unicode/utf8.h"

namespace heed {
namespace {

using Settings = std::vector<std::string>;

std::optional<std::string> decode_base64(std::string_view text) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  while (text.ends_with('=')) text.remove_suffix(1);
  std::string bytes;
  uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const size_t digit = kDigits.find(c);
    if (digit == std::string_view::npos) return std::nullopt;
    bits = bits << 6 | static_cast<uint32_t>(digit);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes.push_back(static_cast<char>(bits >> count & 0xFF));
  }
  return bytes;
}

std::string precompiled_charsmap(const TokenizerJson& json, const TokenizerStep& step) {
  const auto charsmap = decode_base64(step.settings.string("precompiled_charsmap"));
  if (!charsmap) refuse_step(json, step, "is damaged: its map is not base64");
  const std::string fault = find_charsmap_fault(*charsmap);
  if (!fault.empty()) refuse_step(json, step, fmt::format("is damaged: {}", fault));
  return *charsmap;
}

CutBehavior read_behavior(const TokenizerStep& step, std::optional<CutBehavior> otherwise = {}) {
  return step.settings.word<CutBehavior>("behavior",
                                         {{"Removed", CutBehavior::kRemoved},
                                          {"Isolated", CutBehavior::kIsolated},
                                          {"MergedWithPrevious", CutBehavior::kMergedWithPrevious},
                                          {"MergedWithNext", CutBehavior::kMergedWithNext},
                                          {"Contiguous", CutBehavior::kContiguous}},
                                         otherwise);
}

MetaspaceOptions read_metaspace(const TokenizerJson& json, const TokenizerStep& step) {
  using Prepend = MetaspaceOptions::Prepend;
  allow_settings(json, step, {"replacement", "prepend_scheme", "split", "add_prefix_space", "str_rep"});
  MetaspaceOptions options;
  options.replacement = read_character(json, step, "replacement");
  options.prepend = step.settings.word<Prepend>(
      "prepend_scheme",
      {{"first", Prepend::kFirst}, {"always", Prepend::kAlways}, {"never", Prepend::kNever}},
      Prepend::kAlways);
  // Older files have only this.
  if (!step.settings.boolean("add_prefix_space", true)) {
    if (step.settings.has("prepend_scheme") && options.prepend != Prepend::kNever) {
      refuse_step(json, step, "contradicts itself: \"add_prefix_space\" and \"prepend_scheme\"");
    }
    options.prepend = Prepend::kNever;
  }
  options.cuts = step.settings.boolean("split", true);
  return options;
}

}  // namespace

Pattern read_pattern(const TokenizerJson& json, const TokenizerStep& step) {
  const JsonObject pattern = step.settings.object("pattern");
  for (const char* kind : {"String", "Regex"}) {
    if (!pattern.has(kind)) continue;
    const std::string text = pattern.string(kind);
    if (text.empty()) refuse_step(json, step, "is not supported: its pattern is empty");
    if (std::string_view(kind) == "String") return Pattern::literal(text);
    try {
      return Pattern::regex(text);
    } catch (const Error& error) {
      refuse_step(json, step, fmt::format("cannot be used: {}", error.what()));
    }
  }
  refuse_step(json, step, "is not supported: its pattern is neither \"String\" nor \"Regex\"");
}

char32_t read_character(const TokenizerJson& json, const TokenizerStep& step, const std::string& key) {
  const std::u32string text = utf8_to_utf32(step.settings.string(key));
  if (text.size() != 1)
    refuse_step(json, step, fmt::format("is not supported: \"{}\" must be one character", key));
  return text[0];
}

std::unique_ptr<const Normalizer> read_normalizer(const TokenizerJson& json, const TokenizerStep& step) {
  const std::string& type = step.type;
  const auto allow = [&](const Settings& known) { allow_settings(json, step, known); };
  if (type == "BertNormalizer") {
    allow({"clean_text", "handle_chinese_chars", "strip_accents", "lowercase"});
    BertNormalizerOptions options;
    options.clean_text = step.settings.boolean("clean_text");
    options.chinese_apart = step.settings.boolean("handle_chinese_chars");
    options.lowercase = step.settings.boolean("lowercase");
    options.strip_accents = step.settings.boolean("strip_accents", options.lowercase);
    return bert_normalizer(options);
  }
  if (type == "Strip") {
    allow({"strip_left", "strip_right"});
    return strip_normalizer(step.settings.boolean("strip_left"), step.settings.boolean("strip_right"));
  }
  if (type == "Replace") {
    allow({"pattern", "content"});
    return replace_normalizer(read_pattern(json, step), step.settings.string("content"));
  }
  if (type == "Prepend") {
    allow({"prepend"});
    return prepend_normalizer(step.settings.string("prepend"));
  }
  if (type == "Precompiled") {
    allow({"precompiled_charsmap"});
    return precompiled_normalizer(precompiled_charsmap(json, step));
  }
  allow({});
  if (type == "NFC") return unicode_normalizer(UnicodeForm::kNfc);
  if (type == "NFD") return unicode_normalizer(UnicodeForm::kNfd);
  if (type == "NFKC") return unicode_normalizer(UnicodeForm::kNfkc);
  if (type == "NFKD") return unicode_normalizer(UnicodeForm::kNfkd);
  if (type == "Lowercase") return lowercase_normalizer();
  if (type == "StripAccents") return strip_accents_normalizer();
  if (type == "Nmt") return nmt_normalizer();
  if (type == "ByteLevel") return byte_level_normalizer();
  refuse_step(
      json, step,
      "is not supported: normalizers are NFC, NFD, NFKC, NFKD, Lowercase, Strip, StripAccents, Replace, "
      "Prepend, BertNormalizer, Precompiled, Nmt, ByteLevel and Sequence");
}

std::unique_ptr<const PreTokenizer> read_pre_tokenizer(const TokenizerJson& json, const TokenizerStep& step) {
  const std::string& type = step.type;
  const auto allow = [&](const Settings& known) { allow_settings(json, step, known); };
  if (type == "ByteLevel") {
    allow({"add_prefix_space", "trim_offsets", "use_regex"});
    return byte_level_pre_tokenizer(step.settings.boolean("add_prefix_space"),
                                    step.settings.boolean("use_regex", true));
  }
  if (type == "Split") {
    allow({"pattern", "behavior", "invert"});
    return split_pre_tokenizer(read_pattern(json, step), read_behavior(step),
                               step.settings.boolean("invert"));
  }
  if (type == "Metaspace") return metaspace_pre_tokenizer(read_metaspace(json, step));
  if (type == "Digits") {
    allow({"individual_digits"});
    return digits_pre_tokenizer(step.settings.boolean("individual_digits"));
  }
  if (type == "Punctuation") {
    allow({"behavior"});
    return punctuation_pre_tokenizer(read_behavior(step, CutBehavior::kIsolated));
  }
  if (type == "CharDelimiterSplit") {
    allow({"delimiter"});
    return delimiter_pre_tokenizer(read_character(json, step, "delimiter"));
  }
  if (type == "FixedLength") {
    allow({"length"});
    return fixed_length_pre_tokenizer(
        static_cast<size_t>(step.settings.integer("length", {.minimum = 1}, 5)));
  }
  allow({});
  if (type == "BertPreTokenizer") return bert_pre_tokenizer();
  if (type == "Whitespace") return word_pre_tokenizer();
  if (type == "WhitespaceSplit") return white_space_pre_tokenizer();
  if (type == "UnicodeScripts") return script_pre_tokenizer();
  refuse_step(
      json, step,
      "is not supported: pre_tokenizers are ByteLevel, Split, Metaspace, Digits, Punctuation, "
      "BertPreTokenizer, Whitespace, WhitespaceSplit, UnicodeScripts, CharDelimiterSplit, FixedLength and "
      "Sequence");
}

std::unique_ptr<const DecoderStep> read_decoder(const TokenizerJson& json, const TokenizerStep& step) {
  const std::string& type = step.type;
  const auto allow = [&](const Settings& known) { allow_settings(json, step, known); };
  const auto filled = [&](const std::string& key) {
    std::string text = step.settings.string(key);
    if (text.empty()) refuse_step(json, step, fmt::format("is not supported: \"{}\" is empty", key));
    return text;
  };
  if (type == "ByteLevel") {
    allow({"add_prefix_space", "trim_offsets", "use_regex"});
    return byte_level_decoder();
  }
  if (type == "Metaspace") {
    const MetaspaceOptions options = read_metaspace(json, step);
    return metaspace_decoder(options.replacement, options.prepend != MetaspaceOptions::Prepend::kNever);
  }
  if (type == "WordPiece") {
    allow({"prefix", "cleanup"});
    return word_piece_decoder(step.settings.string("prefix"), step.settings.boolean("cleanup"));
  }
  if (type == "BPEDecoder") {
    allow({"suffix"});
    return bpe_decoder(filled("suffix"));
  }
  if (type == "Replace") {
    allow({"pattern", "content"});
    return replace_decoder(read_pattern(json, step), step.settings.string("content"));
  }
  if (type == "Strip") {
    allow({"content", "start", "stop"});
    const auto count = [&](const char* key) {
      return static_cast<size_t>(step.settings.integer(key, {.minimum = 0}));
    };
    return strip_decoder(read_character(json, step, "content"), count("start"), count("stop"));
  }
  if (type == "CTC") {
    allow({"pad_token", "word_delimiter_token", "cleanup"});
    return ctc_decoder(
        {filled("pad_token"), filled("word_delimiter_token"), step.settings.boolean("cleanup")});
  }
  allow({});
  if (type == "Fuse") return fuse_decoder();
  if (type == "ByteFallback") return byte_fallback_decoder();
  refuse_step(
      json, step,
      "is not supported: decoders are ByteLevel, Metaspace, WordPiece, BPEDecoder, Replace, Fuse, Strip, "
      "ByteFallback, CTC and Sequence");
}

TextPipeline read_text_pipeline(const TokenizerJson& json) {
  PipelineParts parts;
  parts.path = json.path;
  parts.pieces = json.model_pieces;
  for (const TokenizerStep& step : json.normalizer) parts.normalizers.push_back(read_normalizer(json, step));
  for (const TokenizerStep& step : json.pre_tokenizer)
    parts.pre_tokenizers.push_back(read_pre_tokenizer(json, step));
  parts.added = AddedVocabulary(json.added, parts.normalizers);
  parts.model = read_model(json, parts.pieces);
  std::vector<PostProcessorStep> steps;
  const TokenizerStep* framed = nullptr;
  for (const TokenizerStep& step : json.post_processor) {
    steps.push_back(read_post_processor(json, step));
    if (steps.back().single.empty()) continue;
    if (framed != nullptr) refuse_step(json, step, "is not supported after another that adds tokens");
    framed = &step;
  }
  parts.post_processor = PostProcessor(std::move(steps));
  if (!json.decoder.empty()) parts.decoder.emplace();
  for (const TokenizerStep& step : json.decoder) parts.decoder->push_back(read_decoder(json, step));
  return {std::move(parts), static_cast<int32_t>(json.pieces.size())};
}

}  // namespace heed
