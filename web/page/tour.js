// The guided tour: each step is a state of the page (tour_steps.js) and a few sentences (strings.tour).

import {languagesOf, modelOf} from "../connection/api.js";
import {strings} from "../strings.js";

import {choice, element} from "./dom.js";
import {hasKey} from "./keys.js";
import {kRnnStep, kTourParts, kTrainingStep, tourState} from "./tour_steps.js";


/// A sentence for who has typed none, in the language of the pair.
/** @param {State} state */
export function tourSentence(state) {
  const from = languagesOf(state).from || state.pair.split("-")[0];
  return hasKey(strings.tourSentences, from) ? strings.tourSentences[from] : strings.tourSentences.de;
}

/// What no step has changed.
/** @type {Partial<State>} */
const kPlain = {
  stack: "cross",
  layer: 0,
  head: 0,
  token: "",
  words: false,
  sort: "place",
  least: "",
  off: "",
  target: "",
  show: "predictions",
  method: "integrated",
  instead: "",
  beside: "",
  part: "heads",
  open: "output",
  temperature: 1
};

/// The updates after which a checkpoint of the tour was taken, as its name says; 0: another model.
/** @param {Model} model */
function updatesOf(model) { return Number(/^step-(\d+)$/.exec(model.id)?.[1] ?? 0); }

/** @param {App} app */
export function createTour(app) {
  /// Where the page has no model to ask, there is the first part alone.
  const parts = app.file ? kTourParts.slice(0, 1) : kTourParts;
  const last = parts[parts.length - 1].last;
  /** @param {number} step */
  const partOf = (step) => parts.findIndex(({first, last: end}) => step >= first && step <= end);
  const findRnn = () => app.models().find((model) => model.type === "heed_rnn");
  /// Checkpoints of one training, the earliest first.
  const checkpoints = () =>
      app.models().filter(updatesOf).sort((one, other) => updatesOf(one) - updatesOf(other));
  /// The models that single steps are about, if the page has them; the other steps are about a Transformer.
  /** @param {number} step */
  const modelsOf = (step) => {
    const rnn = findRnn();
    if (step === kRnnStep) return rnn ? [rnn] : [];
    return step === kTrainingStep ? checkpoints() : [];
  };
  /// What a step changes of the model and the sentence.
  /** @param {number} step @returns {Partial<State>} */
  const modelAt = (step) => {
    const state = app.store.get(), own = modelsOf(step), now = modelOf(state);
    const special = [...modelsOf(kRnnStep), ...modelsOf(kTrainingStep)];
    const text = state.text || tourSentence(state);
    if (own.length > 0) {
      const understood = !now || now.source === own[0].source;
      return {model: own[0].id, pair: "", text: understood ? text : strings.tourSentences.de};
    }
    if (!now || !special.includes(now)) return {text};
    return {
      model: "",
      pair: app.models().find((each) => each.pair && !special.includes(each))?.pair ?? "",
      text
    };
  };
  const title = element("h2", {id: "tour-title"}), text = element("p", {}),
        number = element("span", {class: "note"});
  /** @param {number} step */
  const go = (step) => {
    if (step < 1 || step > last) return app.store.set({tour: 0});
    app.store.set({...kPlain, ...tourState(step), ...(app.file ? {} : modelAt(step)), tour: step});
    title.focus();
  };
  const back =
      element("button", {type: "button", onclick: () => go(app.store.get().tour - 1)}, strings.tourBack);
  const next = element(
      "button", {type: "button", class: "primary", onclick: () => go(app.store.get().tour + 1)},
      strings.tourNext);
  const leave = element(
      "button", {type: "button", class: "quiet", onclick: () => app.store.set({tour: 0})}, strings.tourEnd);
  title.tabIndex = -1;
  const part = choice(
      strings.tourPart, parts.map(({first}, n) => [first, strings.tourParts[n]]), (first) => go(first));
  part.element.hidden = parts.length < 2;
  part.show(parts[0].first);
  const training = element("div", {class: "row checkpoints", hidden: true});
  const updateTraining = () => {
    const {tour: step, model} = app.store.get(), found = step === kTrainingStep ? checkpoints() : [];
    training.hidden = found.length === 0;
    if (training.hidden) return training.replaceChildren();
    const chosen = choice(
        strings.checkpoint,
        found.map((each) => /** @type {[string, string]} */ ([each.id, strings.count(updatesOf(each))])),
        (id) => app.store.set({model: id, pair: "", target: "", token: ""}));
    chosen.show(model);
    const focused = training.contains(document.activeElement);
    training.replaceChildren(strings.afterUpdates, chosen.element, strings.updates);
    if (focused) chosen.buttons.get(model)?.focus();
  };
  /** @param {number} step */
  const textOf = (step) => {
    if (step === kRnnStep && findRnn()?.id === app.store.get().model) return strings.tourRnn;
    if (step === kTrainingStep && checkpoints().length > 0) return strings.tourCheckpoints;
    return strings.tour[step - 1][1];
  };
  return {
    element: element(
        "aside", {class: "tour", "aria-label": strings.tourLabel, hidden: true},
        element("div", {class: "row heading"}, title, part.element), element("div", {}, training, text),
        element("div", {class: "row"}, back, next, number, leave)),
    /// The model that the step of an address without a model is about; null: the server's first.
    model: () => modelsOf(app.store.get().tour)[0]?.id ?? null,
    start: element("button", {type: "button", class: "start", onclick: () => go(1)}, strings.tourStart),
    update() {
      const step = app.store.get().tour;
      this.element.hidden = step < 1 || step > last;
      document.body.classList.toggle("touring", !this.element.hidden);
      if (this.element.hidden) return;
      const {first, last: end} = parts[partOf(step)];
      part.show(first);
      title.textContent = strings.tour[step - 1][0];
      text.textContent = textOf(step);
      updateTraining();
      number.textContent = strings.tourOf(step - first + 1, end - first + 1);
      back.disabled = step === 1;
      next.textContent = step === last ? strings.tourDone :
          step === end                 ? strings.tourNextPart :
                                         strings.tourNext;
    },
  };
}
