// Of embedding models: the vector of the sentence, and how similar it is to those of other sentences.

import {createQuestion, embed, embeddingOf} from "../connection/api.js";
import {largestOf, strip} from "../picture/vectors.js";
import {parseHeads} from "../state.js";
import {strings} from "../strings.js";

import {element, showValue} from "./dom.js";
import {cosine} from "./outcome.js";

const kMostLines = 60;

/// The lines that hold a sentence.
/** @param {string} text */
function linesOf(text) {
  return text.split("\n").map((line) => line.trim()).filter((line) => line).slice(0, kMostLines);
}

/** @param {App} app */
export function createSimilarities(app) {
  const question = createQuestion(embed);
  const others = element("textarea", {
    id: "others",
    class: "small",
    rows: "3",
    spellcheck: "false",
    oninput: () => {
      app.store.set({others: others.value}, true);
    }
  });
  const list = element("dl", {class: "classes"}), vector = element("p", {});
  const box = element(
      "div", {class: "similarities", hidden: true}, vector,
      element("label", {class: "name", "for": "others"}, strings.others), others, list);

  /** @param {string[]} lines @param {number[]} own @param {number[][]} vectors */
  const show = (lines, own, vectors) => {
    list.replaceChildren(...vectors.map((each, n) => ({similarity: cosine(own, each), line: lines[n]}))
                             .sort((a, b) => b.similarity - a.similarity)
                             .flatMap(({similarity, line}) => {
                               const fill = element("span", {class: "bar-fill"});
                               fill.style.width = `${100 * Math.max(0, similarity)}%`;
                               return [
                                 element("dt", {}, line),
                                 element(
                                     "dd", {}, element("span", {class: "bar-track"}, fill),
                                     element("span", {class: "bar-text"}, similarity.toFixed(3)))
                               ];
                             }));
    vector.replaceChildren(
        strip(own, largestOf(own), app.colours(), 18),
        element("span", {class: "note"}, strings.numbers(own.length)));
  };

  return {
    element: box,
    /// `shown`: whether the model of the trace that is shown makes vectors.
    /** @param {boolean} shown */
    async update(shown) {
      box.hidden = !shown || app.file !== null;
      if (box.hidden) return;
      const state = app.store.get(), text = state.others || strings.examplesOfSimilar.join("\n");
      showValue(others, text);
      const lines = linesOf(text);
      const ablate = state.off ? {ablate: parseHeads(state.off)} : {};
      const answer = await question.ask(embeddingOf(state, [state.text, ...lines], ablate));
      if (answer?.failure) {
        list.replaceChildren(element("dd", {class: "needs"}, answer.failure));
        vector.replaceChildren();
      }
      if (answer?.result) show(lines, answer.result[0], answer.result.slice(1));
    },
  };
}
