// Sentences for who has typed none, in the language that the model reads.

import {languagesOf, modelOf} from "../connection/api.js";
import {strings} from "../strings.js";

import {hasKey} from "./keys.js";


/// The language of the examples for the model of a state.
/** @param {State} state @returns {keyof typeof strings.examples} */
function languageOf(state) {
  const language = (languagesOf(state).from || state.pair.split("-")[0]).slice(0, 2);
  return hasKey(strings.examples, language) ? language : "en";
}

/** @param {State} state */
function continuesText(state) { return modelOf(state)?.task === "text"; }

/// Examples for the model of a state, the first of which is shown on a page that is opened without a text.
/** @param {State} state */
export function examplesOf(state) {
  return continuesText(state) ? strings.examplesOfText : strings.examples[languageOf(state)];
}

/// Whether a text is an example of any language, which another model replaces by one of its own.
/** @param {string} text */
export function isExample(text) {
  return [...Object.values(strings.examples), strings.examplesOfText].some((texts) => texts.includes(text));
}

/// A sentence that differs from an example, or from that of the tour, in a word; from another text, the same:
/// it is for the reader to change.
/** @param {string} text */
export function differingFrom(text) {
  return hasKey(strings.differing, text) ? strings.differing[text] : text;
}

/// A sentence to compare that of a state with.
/** @param {State} state */
export function otherExample(state) {
  const example = examplesOf(state)[0], other = differingFrom(example);
  return other === state.text ? example : other;
}
