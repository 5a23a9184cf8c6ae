// Probabilities under a temperature and top-p.
//
//   p_i = exp(l_i / T) / sum of exp(l_j / T);  top-p keeps the fewest likeliest tokens whose sum reaches p

import {element} from "../page/dom.js";

/// A slider for one of them.
/** @param {App} app @param {"temperature" | "top"} name @param {string} label @param {number} max */
export function createSlider(app, name, label, max) {
  const input = element("input", {
    type: "range",
    min: "0.05",
    max: String(max),
    step: "0.05",
    "aria-label": label,
    oninput: () => {
      app.store.set({[name]: Number(input.value)}, true);
    }
  });
  const value = element("output", {});
  return {
    element: element("span", {class: "field slider"}, element("span", {}, label), input, value),
    update() {
      const now = app.store.get()[name];
      input.value = String(now);
      value.textContent = now.toFixed(2);
    },
  };
}

/// [{token, probability, kept}] of the likeliest tokens, and of all others together where `token` is null.
/** @param {Record<string, number>} logProbabilities @param {number} temperature @param {number} top */
export function reshape(logProbabilities, temperature, top) {
  const entries = Object.entries(logProbabilities).sort((a, b) => b[1] - a[1]);
  const known = entries.reduce((sum, [, value]) => sum + Math.exp(value), 0);
  const others = Math.max(0, 1 - known);
  const powers = entries.map(([token, value]) => ({token, power: Math.exp(value / temperature)}));
  const sum = powers.reduce((total, {power}) => total + power, 0) + others ** (1 / temperature);
  let before = 0;
  /** @type {{token: string | null, probability: number, kept: boolean}[]} */
  const shown = powers.map(({token, power}) => {
    const probability = power / sum, kept = top >= 1 || before < top;
    before += probability;
    return {token, probability, kept};
  });
  // A small vocabulary has no others.
  if (others > 1e-6)
    shown.push({token: null, probability: Math.max(0, 1 - before), kept: top >= 1 || before < top});
  return shown;
}
