// Probabilities under a temperature and top-p, of the likeliest tokens.
//
//   q_i = p_i^(1/T) / sum of p_j^(1/T);  top-p keeps the fewest likeliest tokens whose sum reaches p
//
// The sum is over the whole vocabulary, of which the page has the likeliest tokens only: the server gives the
// logarithms of the sums, one for each step of the slider.

import {element} from "../page/dom.js";
import {isSpecial} from "../picture/labels.js";

const kStepsPerUnit = 20, kMost = 2;
/// The temperatures that there are: the steps of the slider.
export const kTemperatures = Array.from({length: kMost * kStepsPerUnit}, (_, n) => (n + 1) / kStepsPerUnit);

/// The step of the slider that is nearest to a temperature, from 0.
/** @param {number} temperature */
function stepOf(temperature) {
  return Math.max(0, Math.min(kTemperatures.length, Math.round(temperature * kStepsPerUnit)) - 1);
}

/// A slider for the temperature.
/** @param {App} app @param {string} label */
export function createTemperature(app, label) { return createSlider(app, "temperature", label, kMost); }

/// A slider for one of them.
/** @param {App} app @param {"temperature" | "top"} name @param {string} label @param {number} max */
export function createSlider(app, name, label, max) {
  const input = element("input", {
    type: "range",
    min: String(1 / kStepsPerUnit),
    max: String(max),
    step: String(1 / kStepsPerUnit),
    "aria-label": label,
    oninput: () => {
      app.store.set({[name]: Number(input.value)}, true);
    }
  });
  const value = element("output", {});
  return {
    element: element("span", {class: "field slider"}, element("span", {}, label), input, value),
    update() {
      const given = app.store.get()[name],
            now = name === "temperature" ? kTemperatures[stepOf(given)] : given;
      input.value = String(now);
      value.textContent = now.toFixed(2);
    },
  };
}

/// [{token, probability, kept}] of the likeliest tokens, and of all others together where `token` is null.
/// `logSums`: for each of kTemperatures, ln of the sum of p^(1/T) over the vocabulary.
/**
 * @param {Record<string, number>} logProbabilities @param {number[]} logSums
 * @param {{temperature: number, top: number}} choices
 */
export function reshape(logProbabilities, logSums, {temperature, top}) {
  const step = stepOf(temperature);
  const entries = Object.entries(logProbabilities).sort((a, b) => b[1] - a[1]);
  let before = 0;
  /** @type {{token: string | null, probability: number, kept: boolean}[]} */
  const shown = entries.map(([token, value]) => {
    const probability = Math.exp(value / kTemperatures[step] - logSums[step]),
          kept = top >= 1 || before < top;
    before += probability;
    return {token, probability, kept};
  });
  // A small vocabulary has no others.
  const others = 1 - before, known = entries.reduce((sum, [, value]) => sum + Math.exp(value), 0);
  if (Math.max(others, 1 - known) > 1e-5)
    shown.push({token: null, probability: Math.max(0, others), kept: top >= 1 || before < top});
  return shown;
}

/// Whether a token can be written after a text. The server names parts of a character U+FFFD.
/** @param {string} token */
export function isWritable(token) { return token !== "" && !token.includes("\ufffd"); }

/// Whether a text ends at a token, as of <|im_end|> or another template of a chat.
/** @param {string} token */
function endsText(token) { return isSpecial(token) || /^<\|.*\|>$|^<end_of_turn>$/.test(token); }

/// One of the tokens that are kept, by their probabilities; empty where the text ends. `random`: from 0 to 1.
/** @param {ReturnType<typeof reshape>} rows @param {number} random */
export function drawToken(rows, random) {
  const kept = rows.filter((row) => row.kept && row.token !== null && isWritable(row.token));
  let draw = random * kept.reduce((sum, row) => sum + row.probability, 0);
  const token = (kept.find((row) => (draw -= row.probability) < 0) ?? kept[0])?.token ?? "";
  return endsText(token) ? "" : token;
}
