// Heed's own routes that look deeper than attention: the states of layers, attribution, and patching.
#include "inspect/attribution/attribution.h"
#include "inspect/json/attribution_json.h"
#include "inspect/json/lens_json.h"
#include "inspect/json/patching_json.h"
#include "inspect/lens/lens.h"
#include "inspect/patching/patching.h"
#include "serve/service.h"
#include "text/unicode/whitespace.h"

namespace heed::serve {
namespace {

/// The model of a request, as the library looks into it; `chosen` must outlive the result.
InspectedModel inspected(const ServedModel& model, const std::optional<ChosenTranslation>& chosen) {
  InspectedModel view{.loaded = model.loaded()};
  if (chosen) {
    view.translation = &chosen->tokenizer;
    view.search = chosen->options.search;
  } else {
    view.tokenizer = model.encoder ? &model.encoder->tokenizer : &model.language_model->tokenizer;
  }
  return view;
}

/// Throws 400 for a text or target that is too long to look into.
void require_few_tokens_of(const Exchange& exchange, const Reading& reading, size_t most) {
  for (const auto& [name, tokens] :
       {std::pair("text", reading.source_tokens().size()), std::pair("target", reading.target_ids.size())}) {
    if (tokens > most) {
      refuse(400, "'{}' has {} tokens, and this server takes {} here: shorten it", name, tokens, most);
    }
  }
  require_present(exchange);
}

/// Reads the text and the target of a request and writes the answer, on a thread of the engine.
template <typename Write>
void inspect(const Exchange& exchange, size_t most_tokens, const Write& write) {
  const std::string text = required_sentence(exchange);
  const std::string target = exchange.fields.text_or("target", "");
  require_length(exchange.service.limits, target, "target");
  const ServedModel& model = model_for(exchange, task_to_look_into(exchange));
  std::optional<ChosenTranslation> chosen;
  if (model.translation) chosen.emplace(translation_for(exchange));
  std::string answer;
  compute(exchange, [&] {
    const InspectedModel view = inspected(model, chosen);
    const Reading reading = read_text(view, text, target);
    require_few_tokens_of(exchange, reading, most_tokens);
    ThreadPool pool(1);  // the engine's threads serve other requests
    answer = write(view, reading, pool);
  });
  send_text(exchange, std::move(answer), "application/json");
}

}  // namespace

void route_v1_lens(const Exchange& exchange) {
  const Fields& fields = exchange.fields;
  require_known(fields,
                {"text", "target", "top", "details", "encoder_position", "decoder_position", "temperatures"},
                {});
  const auto top = static_cast<int>(fields.integer("top", 0, 100).value_or(5));
  const auto position = [&](const char* name) {
    return static_cast<int>(fields.integer(name, 1, 1'000'000).value_or(0));
  };
  LensJsonOptions options{.details = fields.flag("details"),
                          .encoder_position = position("encoder_position"),
                          .decoder_position = position("decoder_position")};
  const bool parts = options.encoder_position + options.decoder_position > 0;
  const std::vector<double> temperatures = temperatures_of(fields);
  if (!temperatures.empty() && !parts) {
    refuse(400,
           "'temperatures' needs 'decoder_position', or 'encoder_position' of a model without a decoder");
  }
  inspect(exchange, exchange.service.limits.detail_tokens,
          [&](const InspectedModel& model, const Reading& reading, ThreadPool& pool) {
            const Lens lens = look_through(model, reading, top, pool, parts);
            const int predicting =
                reading.has_decoder() ? options.decoder_position : options.encoder_position;
            options.log_sums = log_sums_at(temperatures, model, lens, predicting);
            return lens_to_json(lens, options);
          });
}

void route_v1_attribute(const Exchange& exchange) {
  const Fields& fields = exchange.fields;
  require_known(fields, {"text", "target", "token", "instead", "method", "baseline", "tolerance"}, {});
  AttributionOptions options;
  options.token = fields.text_or_integer("token").value_or(options.token);
  options.instead = fields.text_or("instead", "");
  options.method = attribution_method_named(fields.choice("method", names_in(kAttributionMethods)));
  options.baseline = fields.text_or("baseline", "");
  options.tolerance = fields.number("tolerance", 1e-3, 1).value_or(options.tolerance);
  inspect(exchange, exchange.service.limits.attributed_tokens,
          [&](const InspectedModel& model, const Reading& reading, ThreadPool& pool) {
            return attribution_to_json(attribute(model, reading, options, pool));
          });
}

void route_v1_patch(const Exchange& exchange) {
  const Fields& fields = exchange.fields;
  require_known(fields, {"text", "other", "target", "token", "instead", "what"}, {});
  const std::string other = required_sentence(exchange, "other");
  PatchOptions options;
  options.token = fields.text_or_integer("token").value_or(options.token);
  options.instead = fields.text_or("instead", "");
  options.what = patched_part_named(fields.choice("what", names_in(kPatchedParts)));
  const size_t most = exchange.service.limits.attributed_tokens;
  inspect(exchange, most, [&](const InspectedModel& model, const Reading& clean, ThreadPool& pool) {
    const Reading corrupted = read_another(model, other, clean);
    require_few_tokens_of(exchange, corrupted, most);
    return patching_to_json(patch(model, clean, corrupted, options, pool));
  });
}

}  // namespace heed::serve
