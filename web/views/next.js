// Language models: the probabilities of the next token, with temperature and top-p drawn on them.
//
//   p_i = exp(l_i / T) / sum of exp(l_j / T);  top-p keeps the fewest likeliest tokens whose sum reaches p

import {createLatest, nextTokens} from "../api.js";
import {element} from "../dom.js";
import {visibleText} from "../labels.js";
import {strings} from "../strings.js";

/// [{token, probability, kept}] of the likeliest tokens, and of all others together where `token` is null.
function reshape(logProbabilities, temperature, top) {
  const entries = Object.entries(logProbabilities).sort((a, b) => b[1] - a[1]);
  const known = entries.reduce((sum, [, value]) => sum + Math.exp(value), 0);
  const others = Math.max(0, 1 - known);
  const powers = entries.map(([token, value]) => [token, Math.exp(value / temperature)]);
  const sum = powers.reduce((total, [, power]) => total + power, 0) + others ** (1 / temperature);
  let before = 0;
  const shown = powers.map(([token, power]) => {
    const probability = power / sum, kept = before < top;
    before += probability;
    return {token, probability, kept};
  });
  shown.push({token: null, probability: Math.max(0, 1 - before), kept: before < top});
  return shown;
}

export function createNext(app) {
  const latest = createLatest();
  const slider = (name, label, max) => {
    const input = element("input", {
      type: "range",
      min: "0.05",
      max,
      step: "0.05",
      "aria-label": label,
      oninput: () => app.store.set({[name]: Number(input.value)}, true)
    });
    const value = element("output", {});
    return {
      input,
      value,
      element: element("span", {class: "field slider"}, element("span", {}, label), input, value)
    };
  };
  const temperature = slider("temperature", strings.temperature, "2"), top = slider("top", strings.top, "1");
  const list = element("div", {class: "next", role: "list"});
  let known = null, asked = "";

  const draw = () => {
    const state = app.store.get();
    if (!known) return;
    const rows = reshape(known, state.temperature, state.top);
    list.replaceChildren(...rows.map(({token, probability, kept}) => {
      const fill = element("span", {class: "bar-fill"});
      fill.style.width = `${100 * probability}%`;
      const content = [
        element(
            "span", {class: "next-token"},
            token === null ? strings.others : visibleText(token).replace(/^ /, "␣")),
        element("span", {class: "bar-track"}, fill),
        element("span", {class: "bar-text"}, `${(100 * probability).toFixed(1)} %`)
      ];
      return element(
          "div", {role: "listitem", class: kept ? "next-row" : "next-row cut"},
          token === null ? content : [element(
                                         "button", {
                                           type: "button",
                                           title: strings.append,
                                           onclick: () => app.store.set({text: app.store.get().text + token})
                                         },
                                         content)]);
    }));
  };

  return {
    element: element("div", {}, element("div", {class: "row above"}, temperature.element, top.element), list),
    picture: null,
    mark() {},
    async update() {
      const state = app.store.get();
      temperature.input.value = state.temperature;
      temperature.value.textContent = state.temperature.toFixed(2);
      top.input.value = state.top;
      top.value.textContent = state.top.toFixed(2);
      if (app.file) return list.replaceChildren(app.needsModel());
      if (app.trace().sourceTokens.length > 0)
        return list.replaceChildren(element("p", {class: "needs"}, strings.notLanguageModel));
      const wanted = JSON.stringify([state.model, state.text]);
      draw();
      if (wanted === asked) return;
      asked = wanted;
      const answer = await latest((signal) => nextTokens(state, signal));
      if (!answer) return;
      if (answer.failure) return list.replaceChildren(element("p", {class: "needs"}, answer.failure));
      known = answer.result.choices[0].logprobs.top_logprobs[0];
      draw();
    },
  };
}
