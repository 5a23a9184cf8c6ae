// The guided tour: each step is a state of the page and a few sentences (tour_steps in strings.js).

import {element} from "./dom.js";
import {strings} from "./strings.js";

/// What each step shows; what it says is in strings.tour, in the same order.
const kStates = [
  {view: "query", stack: "encoder", layer: 2, head: 6, token: "s2", words: false},
  {view: "query", stack: "cross", layer: 3, head: 5, token: "t2", words: false},
  {view: "head", stack: "decoder", layer: 2, head: 1, token: "", words: false},
  {view: "heads", stack: "cross", layer: 3, head: 0, token: "t2", words: false, sort: "place"},
  {view: "lines", stack: "cross", layer: 3, head: 0, token: "t2", words: true},
  {view: "heads", stack: "encoder", layer: 3, head: 0, token: "", words: false, sort: "ends"},
  {view: "change", stack: "cross", layer: 3, head: 1, token: "", words: false},
  {view: "head", stack: "cross", layer: 0, head: 0, token: "", words: false},
];

export function createTour(app) {
  const title = element("h2", {id: "tour-title"}), text = element("p", {}),
        number = element("span", {class: "note"});
  const go = (step) => {
    if (step < 1 || step > kStates.length) return app.store.set({tour: 0});
    // The RNN has one matrix: its model, where the server has it.
    const rnn =
        step === kStates.length && !app.file ? app.models().find((model) => /rnn/.test(model.id)) : null;
    const text = app.store.get().text || strings.tourSentence;
    const back = app.store.get().model && step < kStates.length ?
        {model: "", pair: app.models().find((model) => model.pair)?.pair ?? ""} :
        {};
    app.store.set({
      ...kStates[step - 1],
      ...(app.file ? {} : {text}),
      ...back,
      ...(rnn ? {model: rnn.id, pair: ""} : {}),
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
    start: element("button", {type: "button", class: "start", onclick: () => go(1)}, strings.tourStart),
    update() {
      const step = app.store.get().tour;
      this.element.hidden = step < 1 || step > kStates.length;
      document.body.classList.toggle("touring", !this.element.hidden);
      if (this.element.hidden) return;
      const [heading, words] = strings.tour[step - 1];
      title.textContent = heading;
      text.textContent = words;
      number.textContent = strings.tourOf(step, kStates.length);
      back.disabled = step === 1;
      next.textContent = step === kStates.length ? strings.tourDone : strings.tourNext;
    },
  };
}
