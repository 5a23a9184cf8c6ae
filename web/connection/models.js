// Which of several models a request is for, as the server chooses (src/serve/routes/translating.cc).

/// {from, to} of "de-en", if a model has these languages.
/** @param {Model} model @param {string} pair @returns {{from: string, to: string} | null} */
export function languagesOfPair(model, pair) {
  const from = model.sources.find(
      (each) => pair.startsWith(`${each}-`) && model.targets.includes(pair.slice(each.length + 1)));
  return from ? {from, to: pair.slice(from.length + 1)} : null;
}

/// The one that is named, or the one that a request without a name is for: the first that translates between
/// the languages, else the first for the task, else the first. Null where there is none.
/**
 * @param {Model[]} models
 * @param {{model: string, pair: string, from: string, to: string}} wanted
 * @param {string} [task]
 * @returns {Model | null}
 */
export function chooseModel(models, wanted, task = "translation") {
  if (wanted.model) return models.find((model) => model.id === wanted.model) ?? null;
  if (wanted.pair) {
    return models.find((model) => model.pair === wanted.pair) ??
        models.find((model) => languagesOfPair(model, wanted.pair)) ?? null;
  }
  /** @param {Model} model */
  const suits = (model) => model.sources.includes(wanted.from) && model.targets.includes(wanted.to);
  return models.find(suits) ?? models.find((model) => model.task === task) ?? models[0] ?? null;
}

/// A model as the server describes it, with what it leaves out.
/** @param {ModelJson} model @returns {Model} */
export function readModel(model) {
  return {
    id: model.id,
    pair: model.pair ?? "",
    sources: model.source_languages ?? (model.source ? [model.source] : []),
    targets: model.target_languages ?? (model.target ? [model.target] : []),
    source: model.source ?? "",
    target: model.target ?? "",
    task: model.task ?? "translation",
    type: model.type ?? "",
    path: model.path ?? "",
    precisions: model.precisions ?? []
  };
}
