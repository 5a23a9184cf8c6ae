// Language models: what the last token looks at, and the probabilities of the next one, with temperature and
// top-p drawn on them; the text grows by a click on a token, or by itself.
//
//   p_i = exp(l_i / T) / sum of exp(l_j / T);  top-p keeps the fewest likeliest tokens whose sum reaches p

import {createLatest, nextTokens} from "../api.js";
import {element} from "../dom.js";
import {isSpecial, visibleText} from "../labels.js";
import {strings} from "../strings.js";

/// [{token, probability, kept}] of the likeliest tokens, and of all others together where `token` is null.
/** @param {Record<string, number>} logProbabilities @param {number} temperature @param {number} top */
function reshape(logProbabilities, temperature, top) {
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

/** @param {App} app */
export function createNext(app) {
  const latest = createLatest();
  /** @param {"temperature" | "top"} name @param {string} label @param {string} max */
  const slider = (name, label, max) => {
    const input = element("input", {
      type: "range",
      min: "0.05",
      max,
      step: "0.05",
      "aria-label": label,
      oninput: () => {
        app.store.set({[name]: Number(input.value)}, true);
      }
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
  const looking = element("div", {class: "tokens looking"});
  const lookingName = element("p", {class: "note-line"});
  /** @type {Record<string, number> | null} */
  let known = null;
  let knownOf = "", asked = "";

  /// Writing on: a token every half second, as long as the view is shown.
  const kPause = 500, kMostTokens = 40;
  let left = 0, timer = 0;
  const write = element(
      "button", {type: "button", title: strings.writeHint, onclick: () => (left > 0 ? stop() : begin())},
      strings.write);
  const stop = () => {
    left = 0;
    clearTimeout(timer);
    timer = 0;
    write.textContent = strings.write;
  };
  const begin = () => {
    left = kMostTokens;
    write.textContent = strings.writeStop;
    writeOne();
  };
  const writeOne = () => {
    timer = 0;
    const state = app.store.get();
    if (left-- <= 0 || !list.checkVisibility()) return stop();
    if (!known || knownOf !== state.text) return;  // goes on when the probabilities have arrived
    const rows = reshape(known, state.temperature, state.top).filter((row) => row.kept && row.token);
    let draw = Math.random() * rows.reduce((sum, row) => sum + row.probability, 0);
    const drawn = rows.find((row) => (draw -= row.probability) < 0) ?? rows[0];
    if (!drawn?.token || isSpecial(drawn.token)) return stop();  // the end of the text
    app.store.set({text: state.text + drawn.token, token: ""}, true);
  };

  /// The tokens read, tinted by the weights of the last one.
  const look = () => {
    const trace = app.shown(), {stack, layer, head} = app.place();
    const matrix = trace.matrix(stack, layer, head), labels = trace.keyLabels(stack);
    if (!matrix || trace.sourceTokens.length > 0) return;
    lookingName.textContent = strings.nextLooksAt(labels[labels.length - 1].text);
    looking.replaceChildren(...labels.map((label, key) => {
      const weight = matrix.at(matrix.queries - 1, key);
      const cell = element(
          "span", {
            class: "token",
            onpointerenter: () => app.marks.hover(trace.keySpot(stack, key)),
            onpointerleave: () => app.marks.hover(null)
          },
          label.text, element("small", {}, `${Math.round(100 * weight)} %`));
      cell.style.setProperty("--weight", `${Math.round(62 * weight)}%`);
      return cell;
    }));
  };

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
            token === null ? strings.otherTokens : visibleText(token).replace(/^ /, "␣")),
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
    if (left > 0 && !timer) timer = setTimeout(writeOne, kPause);
  };

  return {
    element: element(
        "div", {}, lookingName, looking,
        element("div", {class: "row above"}, temperature.element, top.element, write), list),
    picture: null,
    mark() {
      const trace = app.shown(), key = trace.keyAt(app.place().stack, app.marks.get());
      [...looking.children].forEach((cell, n) => cell.classList.toggle("here", n === key));
    },
    async update() {
      const state = app.store.get();
      temperature.input.value = String(state.temperature);
      temperature.value.textContent = state.temperature.toFixed(2);
      top.input.value = String(state.top);
      top.value.textContent = state.top.toFixed(2);
      if (app.file) return list.replaceChildren(app.needsModel());
      if (app.trace().sourceTokens.length > 0)
        return list.replaceChildren(element("p", {class: "needs"}, strings.notLanguageModel));
      look();
      const wanted = JSON.stringify([state.model, state.text]);
      draw();
      if (wanted === asked) return;
      asked = wanted;
      const answer = await latest((signal) => nextTokens(state, signal));
      if (!answer) return;
      if (answer.failure !== undefined) {
        stop();
        return list.replaceChildren(element("p", {class: "needs"}, answer.failure));
      }
      known = answer.result.choices[0].logprobs.top_logprobs[0];
      knownOf = state.text;
      draw();
    },
  };
}
