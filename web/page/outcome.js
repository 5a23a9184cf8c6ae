// What a model makes of a text with some heads switched off, and one number by which that is compared with
// what it makes of it with all heads:
//
//   translation     log-probability of the original translation
//   text            log-probability of the text and the token that is predicted after it
//   classification  log-probability of the original class
//   vectors         cosine of the vector with the original one

import {attend, classify, embed, embeddingOf} from "../connection/api.js";
import {strings} from "../strings.js";

/// What the model of a trace makes.
/** @param {Trace} trace @returns {"translation" | "text" | "classification" | "vectors"} */
export function kindOf(trace) {
  if (trace.sourceTokens.length === 0) return "text";
  if (trace.targetTokens.length > 0) return "translation";
  return trace.target ? "classification" : "vectors";
}

/// The cosine of two vectors.
/** @param {number[]} one @param {number[]} other */
export function cosine(one, other) {
  /** @param {number[]} a @param {number[]} b */
  const dot = (a, b) => a.reduce((sum, number, n) => sum + number * b[n], 0);
  return dot(one, other) / Math.sqrt(dot(one, one) * dot(other, other) || 1);
}

/// What is made, and the number. `original` is an earlier outcome of the same text with all heads, or null
/// for this one. `state.off` does not count: `heads` are what is changed.
/**
 * @param {Trace} trace
 * @param {State} state
 * @param {Head[]} heads
 * @param {Original | null} original
 * @param {AbortSignal} signal
 * @returns {Promise<Outcome>}
 */
export async function outcomeOf(trace, state, heads, original, signal) {
  const ablate = heads.length > 0 ? {ablate: heads} : {};
  switch (kindOf(trace)) {
    case "classification": {
      const probabilities = await classify(state, signal, ablate);
      const [[best, probability]] = Object.entries(probabilities).sort((a, b) => b[1] - a[1]);
      const made = original?.made ?? best;
      return {text: strings.classAndShare(best, probability), made, number: Math.log(probabilities[made])};
    }
    case "vectors": {
      const [vector] = await embed(embeddingOf(state, [state.text], ablate), signal);
      const first = original?.vector;
      const number = first ? cosine(vector, first) : 1;
      return {
        text: first ? strings.cosineWithOriginal(number) : strings.vectorOf(vector.length),
        vector: first ?? vector,
        number
      };
    }
    default: {
      const isText = kindOf(trace) === "text";
      const made = await attend(
          state, {...(isText ? {} : {target: original?.made ?? trace.target}), ...ablate, details: false},
          signal);
      return {
        text: isText ? strings.predicted(made.targetLabels[made.targetLabels.length - 1].text) : made.target,
        made: made.target,
        number: made.score ?? NaN,
        trace: made
      };
    }
  }
}
