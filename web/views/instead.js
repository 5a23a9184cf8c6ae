// The choice of a token, or a class, that could be written in place of another one.

import {classify, createQuestion, lens, readingOf} from "../connection/api.js";
import {element, showValue} from "../page/dom.js";
import {kindOf} from "../page/outcome.js";
import {tokenLabels} from "../picture/labels.js";
import {strings} from "../strings.js";

const kAlternatives = 5;

/// What could be written instead: {value, name} of tokens or classes, and a field for others.
/** @param {App} app @param {string} label */
export function createInstead(app, label) {
  const tokens = createQuestion(lens);
  const classes = createQuestion((_, signal) => classify(app.store.get(), signal));
  const field = element("input", {type: "text", placeholder: strings.insteadHint});
  field.addEventListener("change", () => app.store.set({instead: field.value.trim()}));
  const list = element("span", {class: "row alternatives"});
  /** @type {number | null} */
  let chosen = null;  // the token; an answer is the same for all of a sentence
  /** @param {{token: string, name: string, probability: number}[]} found */
  const show = (found) => {
    const {instead} = app.store.get();
    /** @param {string} value @param {string} text */
    const button = (value, text) => element(
        "button", {
          type: "button",
          class: "example",
          "aria-pressed": String(instead === value),
          onclick: () => app.store.set({instead: value})
        },
        text);
    list.replaceChildren(
        button("", strings.noInstead),
        ...found.map(
            ({token, name, probability}) => button(token, `${name} ${strings.percent(probability)}`)));
  };
  return {
    element: element(
        "div", {class: "row above"}, element("label", {class: "field"}, element("span", {}, label), field),
        list),
    /// Shows what is the likeliest in place of a target token, counted from 0; null: there is nothing to
    /// choose.
    /** @param {number | null} token */
    async update(token) {
      const state = app.store.get(), trace = app.trace(), kind = kindOf(trace);
      chosen = token;
      this.element.hidden = token === null;
      showValue(field, state.instead);
      if (token === null) return;
      if (kind === "classification") {
        const answer = await classes.ask(readingOf(state, trace));
        const others =
            Object.entries(answer?.result ?? {}).sort((a, b) => b[1] - a[1]).slice(1, 1 + kAlternatives);
        if (answer) show(others.map(([name, probability]) => ({token: name, name, probability})));
        return;
      }
      if (kind === "vectors") return show([]);  // masks: any of several
      const answer = await tokens.ask({...readingOf(state, trace), top: kAlternatives + 1});
      if (!answer?.result || chosen === null) return;
      const last = answer.result.states.decoder.at(-1);
      const at = kind === "translation" ? chosen : (last?.predictions?.length ?? 1) - 1;
      const written = answer.result.expected_tokens[at];
      show((last?.predictions?.[at] ?? [])
               .filter((each) => each.token !== written)
               .slice(0, kAlternatives)
               .map(({token, probability}) => ({token, name: tokenLabels([token])[0].text, probability})));
    },
  };
}
