// Recurrent networks against PyTorch: cells, bidirectional layers over sentences of different lengths, the
// three attention scores, and Bahdanau's encoder-decoder with its loss; outputs, attention weights and all
// gradients.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "models/stacks/rnn_seq2seq.h"
#include "nn/recurrent/recurrent_attention.h"
#include "nn/recurrent/recurrent_layer.h"
#include "ops/columns.h"
#include "ops/embedding.h"
#include "ops/linear.h"
#include "ops/recurrent/test_recurrent_cells.h"
#include "reference.h"

namespace heed {
namespace {

const std::vector<DType> kPrecisions{DType::kFloat32, DType::kFloat64};

std::vector<int32_t> offsets_of(const std::vector<int64_t>& lengths) {
  std::vector<int32_t> offsets{0};
  for (const int64_t length : lengths) offsets.push_back(offsets.back() + static_cast<int32_t>(length));
  return offsets;
}

/// Offsets of sentences without padding.
std::vector<int64_t> same_lengths(const Tensor& padded) {
  return std::vector<int64_t>(static_cast<size_t>(padded.dim(0)), padded.dim(1));
}

/// (B, T, width) -> (N, width), without padding.
Tensor pack(const Tensor& padded, const std::vector<int64_t>& lengths) {
  const int64_t steps = padded.dim(1), width = padded.dim(2);
  const auto from = padded.to_vector<double>();
  std::vector<double> rows;
  for (size_t b = 0; b < lengths.size(); ++b) {
    const auto first = from.begin() + static_cast<int64_t>(b) * steps * width;
    rows.insert(rows.end(), first, first + lengths[b] * width);
  }
  return Tensor::from(rows, {static_cast<int64_t>(rows.size()) / width, width}).to(padded.dtype());
}

/// (N, width) -> (B, T, width), with 0 for padding.
Tensor unpack(const Tensor& packed, const std::vector<int64_t>& lengths, int64_t steps) {
  const int64_t width = packed.dim(1), batch = static_cast<int64_t>(lengths.size());
  const auto from = packed.to_vector<double>();
  std::vector<double> all(static_cast<size_t>(batch * steps * width));
  auto row = from.begin();
  for (int64_t b = 0; b < batch; ++b) {
    std::copy_n(row, lengths[b] * width, all.begin() + b * steps * width);
    row += lengths[b] * width;
  }
  return Tensor::from(all, {batch, steps, width}).to(packed.dtype());
}

/// Weights of a packed batch in the order (sentence, query, key) -> (B, Tq, Tk), with 0 for padding.
Tensor unpack_weights(const Tensor& flat, const ops::AttentionLayout& layout, int64_t queries, int64_t keys) {
  const auto from = flat.to_vector<double>();
  const auto batch = static_cast<int64_t>(layout.spans.size());
  std::vector<double> all(static_cast<size_t>(batch * queries * keys));
  for (int64_t b = 0; b < batch; ++b) {
    const AttentionSpan& span = layout.spans[b];
    for (int64_t q = 0; q < span.queries(); ++q) {
      std::copy_n(from.begin() + span.pairs_begin + q * span.keys(), span.keys(),
                  all.begin() + (b * queries + q) * keys);
    }
  }
  return Tensor::from(all, {batch, queries, keys}).to(flat.dtype());
}

/// A case in one precision: its tensors and expected results.
class RnnCaseRun {
 public:
  RnnCaseRun(const ReferenceCase& reference, DType dtype) : reference_(reference), dtype_(dtype) {}
  DType dtype() const { return dtype_; }
  Tensor tensor(const std::string& name) const { return reference_.tensor(name, dtype_); }
  void expect(const std::string& name, const Tensor& actual) const {
    expect_close(actual, reference_.tensor(name), reference_.tolerance(name, dtype_),
                 reference_.name() + " " + name + " in " + name_of(dtype_));
  }

 private:
  const ReferenceCase& reference_;
  DType dtype_;
};

/// Calls body(case, run) for each case of a name, in both precisions.
template <typename Body>
void for_each_run(const std::string& name, const Body& body) {
  const auto cases = fixture_cases(name);
  if (cases.empty()) GTEST_SKIP() << missing_fixtures();
  for (const std::string& each : cases) {
    const ReferenceCase reference(each);
    for (const DType dtype : kPrecisions) body(reference, RnnCaseRun(reference, dtype));
  }
}

/// Sets the parameters of a table from a case and compares their gradients. Some parameters are columns of a
/// matrix of the case.
class Parameters {
 public:
  struct Source {
    std::string name{};
    int64_t begin = 0, width = 0;  ///< columns; a width of 0: all of it
  };

  Parameters(const nn::ParameterTable& table, const RnnCaseRun& run,
             std::map<std::string, std::vector<Source>> names)
      : table_(table),
        run_(run),
        names_(std::move(names)),
        values_(table, run.dtype()),
        gradients_(table, run.dtype()) {
    for (int row = 0; row < table.size(); ++row) {
      std::vector<Var> parts;
      for (const Source& source : names_.at(table[row].name)) {
        const Tensor whole = run.tensor("parameter." + source.name);
        parts.push_back(source.width > 0 ? ops::columns(whole, source.begin, source.width) : Var(whole));
      }
      const Tensor value = parts.size() > 1 ? ops::concatenate(parts).value() : parts[0].value();
      EXPECT_EQ(value.shape().to_string(), table[row].shape.to_string()) << table[row].name;
      Tensor view = values_.view(table, {row, 1});
      std::memcpy(view.bytes(), value.bytes(), static_cast<size_t>(value.size()) * size_of(value.dtype()));
    }
  }

  nn::Context context(Tape* tape) {
    nn::Context context;
    context.table = &table_;
    context.values = &values_;
    context.tape = tape;
    context.gradients = &gradients_;
    return context;
  }

  void expect_gradients() const {
    std::map<std::string, std::map<int64_t, Tensor>> pieces;  // by name and first column
    for (int row = 0; row < table_.size(); ++row) {
      const Tensor gradient = gradients_.view(table_, {row, 1});
      int64_t at = 0;
      for (const Source& source : names_.at(table_[row].name)) {
        pieces[source.name][source.begin] =
            source.width > 0 ? ops::columns(gradient.clone(), at, source.width).value() : gradient.clone();
        at += source.width;
      }
    }
    for (const auto& [name, parts] : pieces) {
      std::vector<Var> line;
      for (const auto& [begin, part] : parts) line.emplace_back(part);
      run_.expect("gradient." + name, line.size() > 1 ? ops::concatenate(line).value() : line[0].value());
    }
  }

 private:
  const nn::ParameterTable& table_;
  const RnnCaseRun& run_;
  std::map<std::string, std::vector<Source>> names_;
  nn::ParameterArray values_, gradients_;
};

// ---- Cells -----------------------------------------------------------------------------------------------

using Leaves = std::map<std::string, Var>;

/// The inputs and parameters of a case as variables, by their names without prefix.
Leaves leaves_of(const ReferenceCase& reference, const RnnCaseRun& run, Tape& tape) {
  Leaves leaves;
  for (const std::string prefix : {"input.", "parameter."}) {
    for (const std::string& name : reference.tensor_names(prefix)) {
      if (reference.has("gradient." + name.substr(prefix.size()))) {
        leaves[name.substr(prefix.size())] = tape.leaf(run.tensor(name));
      }
    }
  }
  return leaves;
}

void expect_gradients(const RnnCaseRun& run, const Tape& tape, const Leaves& leaves) {
  EXPECT_FALSE(leaves.empty());
  for (const auto& [name, leaf] : leaves) run.expect("gradient." + name, tape.gradient(leaf));
}

TEST(RnnReference, GruCell) {
  for_each_run("rnn/gru_cell", [](const ReferenceCase& reference, const RnnCaseRun& run) {
    Tape tape;
    const Leaves x = leaves_of(reference, run, tape);
    const Var h = ops::gru_cell(ops::linear(x.at("x"), x.at("W_ih"), x.at("b_ih")),
                                ops::linear(x.at("h"), x.at("W_hh"), x.at("b_hh")), x.at("h"));
    run.expect("expected.h", h.value());
    tape.backward(h, run.tensor("upstream.h"));
    expect_gradients(run, tape, x);
  });
}

TEST(RnnReference, LstmCell) {
  for_each_run("rnn/lstm_cell", [](const ReferenceCase& reference, const RnnCaseRun& run) {
    Tape tape;
    const Leaves x = leaves_of(reference, run, tape);
    const Var both = ops::lstm_cell(ops::linear(x.at("x"), x.at("W_ih"), x.at("b_ih")),
                                    ops::linear(x.at("h"), x.at("W_hh"), x.at("b_hh")), x.at("c"));
    const int64_t width = x.at("c").dim(1);
    run.expect("expected.h", ops::columns(both.value(), 0, width).value());
    run.expect("expected.c", ops::columns(both.value(), width, width).value());
    tape.backward(both, ops::concatenate({run.tensor("upstream.h"), run.tensor("upstream.c")}).value());
    expect_gradients(run, tape, x);
  });
}

// ---- Layers ----------------------------------------------------------------------------------------------

/// Row `row` of each sentence, of the columns from `begin` on: (B, width).
Tensor pick(const Tensor& packed, const std::vector<int32_t>& rows, int64_t begin, int64_t width) {
  return ops::columns(ops::embedding(packed, Tensor::from(rows, {static_cast<int64_t>(rows.size())})), begin,
                      width)
      .value();
}

/// packed[rows[b], begin..] += what[b]
void add_to_rows(const Tensor& what, const std::vector<int32_t>& rows, int64_t begin, Tensor& packed) {
  const auto add = [&]<typename T>(T) {
    for (size_t b = 0; b < rows.size(); ++b) {
      T* row = packed.data<T>() + rows[b] * packed.dim(1) + begin;
      for (int64_t c = 0; c < what.dim(1); ++c)
        row[c] += what.data<T>()[static_cast<int64_t>(b) * what.dim(1) + c];
    }
  };
  if (packed.dtype() == DType::kFloat32) {
    add(float{});
  } else {
    add(double{});
  }
}

void check_bidirectional(const std::string& name, RecurrentCell cell) {
  for_each_run(name, [cell](const ReferenceCase& reference, const RnnCaseRun& run) {
    const auto& sizes = reference.hyperparameters();
    const int64_t width = sizes.at("S"), steps = sizes.at("T");
    const std::vector<int64_t> lengths = sizes.at("lengths");
    const std::vector<int32_t> offsets = offsets_of(lengths);
    nn::ParameterTable table;
    const nn::RecurrentLayer layer(
        table, "", {.cell = cell, .input_width = sizes.at("input"), .width = width, .bidirectional = true});
    std::map<std::string, std::vector<Parameters::Source>> names;
    for (const std::string direction : {"forward", "backward"}) {
      names[direction + ".input.weight"] = {{direction + ".W_ih"}};
      names[direction + ".input.bias"] = {{direction + ".b_ih"}};
      names[direction + ".hidden.weight"] = {{direction + ".W_hh"}};
      names[direction + ".hidden.bias"] = {{direction + ".b_hh"}};
    }
    Parameters parameters(table, run, names);
    Tape tape;
    nn::Context context = parameters.context(&tape);
    const Var x = tape.leaf(pack(run.tensor("input.x"), lengths));
    const ops::RecurrentStates result = layer.forward(context, x, offsets);
    run.expect("expected.annotations", unpack(result.states.value(), lengths, steps));
    std::vector<int32_t> first(offsets.begin(), offsets.end() - 1), last(offsets.begin() + 1, offsets.end());
    for (int32_t& row : last) --row;
    run.expect("expected.final_forward", pick(result.states.value(), last, 0, width));
    run.expect("expected.final_backward", pick(result.states.value(), first, width, width));
    if (cell == RecurrentCell::kLstm) {
      run.expect("expected.final_forward_c", pick(result.cells, last, 0, width));
      run.expect("expected.final_backward_c", pick(result.cells, first, width, width));
    }
    Tensor upstream = pack(run.tensor("upstream.annotations"), lengths);
    add_to_rows(run.tensor("upstream.final_forward"), last, 0, upstream);
    add_to_rows(run.tensor("upstream.final_backward"), first, width, upstream);
    tape.backward(result.states, upstream);
    run.expect("gradient.x", unpack(tape.gradient(x), lengths, steps));
    parameters.expect_gradients();
  });
}

TEST(RnnReference, BidirectionalGru) {
  check_bidirectional("rnn/gru_bidirectional", RecurrentCell::kGru);
}

TEST(RnnReference, BidirectionalLstm) {
  check_bidirectional("rnn/lstm_bidirectional", RecurrentCell::kLstm);
}

// ---- Attention -------------------------------------------------------------------------------------------

void check_attention(const std::string& name, nn::AttentionScore score) {
  for_each_run(name, [score](const ReferenceCase& reference, const RnnCaseRun& run) {
    const auto& sizes = reference.hyperparameters();
    const std::vector<int64_t> lengths = sizes.at("lengths");
    const int64_t queries = sizes.at("Tq"), keys = sizes.at("Tk");
    nn::ParameterTable table;
    const nn::RecurrentAttention attention(table, "",
                                           {.score = score,
                                            .state_width = sizes.at("state"),
                                            .annotation_width = sizes.at("annotation"),
                                            .width = sizes.value("attention", int64_t{1})});
    Parameters parameters(table, run,
                          {{"query.weight", {{"W_a"}}},
                           {"key.weight", {{score == nn::AttentionScore::kAdditive ? "U_a" : "W_a"}}},
                           {"score", {{"v_a"}}}});
    Tape tape;
    nn::Context context = parameters.context(&tape);
    const Tensor padded_states = run.tensor("input.states");
    const auto all = same_lengths(padded_states);
    const Var states = tape.leaf(pack(padded_states, all));
    const Var annotations = tape.leaf(pack(run.tensor("input.annotations"), lengths));
    const auto layout = ops::AttentionLayout::packed(offsets_of(all), offsets_of(lengths));
    const ops::RecurrentAttentionOutput result = attention.forward(context, states, annotations, layout);
    run.expect("expected.weights", unpack_weights(result.weights, layout, queries, keys));
    run.expect("expected.context", unpack(result.context.value(), all, queries));
    tape.backward(result.context, pack(run.tensor("upstream.context"), all));
    run.expect("gradient.states", unpack(tape.gradient(states), all, queries));
    run.expect("gradient.annotations", unpack(tape.gradient(annotations), lengths, keys));
    parameters.expect_gradients();
  });
}

TEST(RnnReference, AdditiveAttention) {
  check_attention("rnn/additive_attention", nn::AttentionScore::kAdditive);
}

TEST(RnnReference, DotAttention) {
  check_attention("rnn/dot_attention", nn::AttentionScore::kDot);
}

TEST(RnnReference, GeneralAttention) {
  check_attention("rnn/general_attention", nn::AttentionScore::kGeneral);
}

// ---- Encoder and decoder ---------------------------------------------------------------------------------

models::Sequences sequences_of(const Tensor& padded, const std::vector<int64_t>& lengths) {
  const auto ids = padded.to_vector<int64_t>();
  models::Sequences sequences;
  for (size_t b = 0; b < lengths.size(); ++b) {
    const auto first = ids.begin() + static_cast<int64_t>(b) * padded.dim(1);
    const std::vector<int32_t> sequence(first, first + lengths[b]);
    sequences.append(sequence);
  }
  return sequences;
}

TEST(RnnReference, EncoderDecoder) {
  for_each_run("rnn/encoder_decoder", [](const ReferenceCase& reference, const RnnCaseRun& run) {
    const auto& sizes = reference.hyperparameters();
    const int64_t embedding = sizes.at("embedding"), width = sizes.at("S");
    models::RnnConfig config;
    config.vocabulary = sizes.at("target_vocabulary");
    config.source_vocabulary = sizes.at("source_vocabulary");
    config.width = embedding;
    config.encoder_state_width = config.decoder_state_width = width;
    config.attention_width = sizes.at("attention");
    config.readout_width = 0;
    config.share_embeddings = config.tie_output = config.scale_embedding = false;
    config.dropout = 0;
    config.padding_id = sizes.at("padding_id");
    config.start_id = sizes.at("begin_id");
    config.end_id = sizes.at("end_id");
    const models::RnnSeq2Seq model(config);

    std::map<std::string, std::vector<Parameters::Source>> names{
        {"model.encoder.embed_tokens.weight", {{"source_embedding"}}},
        {"model.decoder.embed_tokens.weight", {{"target_embedding"}}},
        {"model.decoder.start.weight", {{"W_init"}}},
        {"model.decoder.start.bias", {{"b_init"}}},
        {"model.decoder.layers.0.input.weight", {{"decoder.W_ih", 0, embedding}}},
        {"model.decoder.layers.0.context.weight", {{"decoder.W_ih", embedding, 2 * width}}},
        {"model.decoder.layers.0.input.bias", {{"decoder.b_ih"}}},
        {"model.decoder.layers.0.hidden.weight", {{"decoder.W_hh"}}},
        {"model.decoder.layers.0.hidden.bias", {{"decoder.b_hh"}}},
        {"model.decoder.layers.0.attention.query.weight", {{"W_a"}}},
        {"model.decoder.layers.0.attention.key.weight", {{"U_a"}}},
        {"model.decoder.layers.0.attention.score", {{"v_a"}}},
        // [s; y; c] there, [s; c; y] here
        {"lm_head.weight",
         {{"W_out", 0, width}, {"W_out", width + embedding, 2 * width}, {"W_out", width, embedding}}},
        {"lm_head.bias", {{"b_out"}}}};
    for (const std::string direction : {"forward", "backward"}) {
      const std::string ours = "model.encoder.layers.0." + direction, theirs = "encoder." + direction;
      names[ours + ".input.weight"] = {{theirs + ".W_ih"}};
      names[ours + ".input.bias"] = {{theirs + ".b_ih"}};
      names[ours + ".hidden.weight"] = {{theirs + ".W_hh"}};
      names[ours + ".hidden.bias"] = {{theirs + ".b_hh"}};
    }
    Parameters parameters(model.table(), run, names);

    const std::vector<int64_t> source_lengths = sizes.at("source_lengths");
    const std::vector<int64_t> target_lengths = sizes.at("target_lengths");
    const auto source = sequences_of(reference.tensor("input.source"), source_lengths);
    const auto target = sequences_of(reference.tensor("input.target_input"), target_lengths);
    const std::vector<int32_t> labels =
        sequences_of(reference.tensor("input.target_output"), target_lengths).ids;
    const int64_t source_steps = reference.tensor("input.source").dim(1);
    const int64_t target_steps = reference.tensor("input.target_input").dim(1);

    nn::Context looking = parameters.context(nullptr);
    const auto encoded = model.encode(looking, source);
    run.expect("expected.annotations",
               unpack(encoded.memory.annotations.value(), source_lengths, source_steps));
    const auto layout = ops::AttentionLayout::packed(target.offsets, source.offsets);
    const auto decoded = model.decode(looking, target.ids, encoded.memory, layout, encoded.start);
    run.expect("expected.states", unpack(ops::columns(decoded.first.output.value(), 0, width).value(),
                                         target_lengths, target_steps));
    run.expect("expected.weights", unpack_weights(decoded.first.weights, layout, target_steps, source_steps));
    run.expect("expected.logits",
               unpack(model.logits(looking, source, target), target_lengths, target_steps));

    Tape tape;
    nn::Context context = parameters.context(&tape);
    const double scale = 1 / static_cast<double>(labels.size());
    const auto loss = model.loss(context, source, target, labels, {.scale = scale});
    run.expect("expected.loss", loss.loss.value());
    tape.backward(loss.loss);
    parameters.expect_gradients();
  });
}

}  // namespace
}  // namespace heed
