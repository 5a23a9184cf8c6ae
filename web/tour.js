// The guided tour: each step is a state of the page (tour_steps.js) and a few sentences (strings.tour).

import {languagesOf} from "./api.js";
import {element} from "./dom.js";
import {hasKey} from "./keys.js";
import {strings} from "./strings.js";
import {kTourSteps, tourState} from "./tour_steps.js";

/// A sentence for who has typed none, in the language of the pair.
/** @param {State} state */
export function tourSentence(state) {
  const from = languagesOf(state).from || state.pair.split("-")[0];
  return hasKey(strings.tourSentences, from) ? strings.tourSentences[from] : strings.tourSentences.de;
}

/// What no step has changed.
const kPlain = {
  layer: 0,
  head: 0,
  token: "",
  words: false,
  sort: "place",
  least: "",
  off: "",
  target: ""
};

/** @param {App} app */
export function createTour(app) {
  /// The last step is about the RNN, where the server has it; the others about a Transformer.
  const findRnn = () => app.models().find((model) => model.type === "heed_rnn");
  /** @param {number} step */
  const modelAt = (step) => {
    const rnn = findRnn();
    if (step === kTourSteps) return rnn ? {model: rnn.id, pair: ""} : {};
    if (!rnn || app.store.get().model !== rnn.id) return {};
    return {model: "", pair: app.models().find((model) => model.pair && model !== rnn)?.pair ?? ""};
  };
  const title = element("h2", {id: "tour-title"}), text = element("p", {}),
        number = element("span", {class: "note"});
  /** @param {number} step */
  const go = (step) => {
    if (step < 1 || step > kTourSteps) return app.store.set({tour: 0});
    app.store.set({
      ...kPlain,
      ...tourState(step),
      ...(app.file ? {} : {text: app.store.get().text || tourSentence(app.store.get()), ...modelAt(step)}),
      tour: step
    });
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
  return {
    element: element(
        "aside", {class: "tour", "aria-label": strings.tourLabel, hidden: true}, title, text,
        element("div", {class: "row"}, back, next, number, leave)),
    /// The model that the step of an address without a model is about; null: the server's first.
    model: () => (app.store.get().tour === kTourSteps ? modelAt(kTourSteps).model ?? null : null),
    start: element("button", {type: "button", class: "start", onclick: () => go(1)}, strings.tourStart),
    update() {
      const step = app.store.get().tour;
      this.element.hidden = step < 1 || step > kTourSteps;
      document.body.classList.toggle("touring", !this.element.hidden);
      if (this.element.hidden) return;
      const [heading, words] = strings.tour[step - 1];
      title.textContent = heading;
      const ofRnn = step === kTourSteps && findRnn()?.id === app.store.get().model;
      text.textContent = ofRnn ? strings.tourRnn : words;
      number.textContent = strings.tourOf(step, kTourSteps);
      back.disabled = step === 1;
      next.textContent = step === kTourSteps ? strings.tourDone : strings.tourNext;
    },
  };
}
