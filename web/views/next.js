// Language models: what the last token looks at, and the probabilities of the next one, with temperature and
// top-p drawn on them; the text grows by a click on a token, or by itself.

import {continuationOf, createQuestion, nextTokens} from "../connection/api.js";
import {element} from "../page/dom.js";
import {visibleText} from "../picture/labels.js";
import {strings} from "../strings.js";

import {createSlider, createTemperature, drawToken, isWritable, kTemperatures, reshape} from "./temperature.js";

/// The request for the next token.
/** @param {State} state */
function bodyOf(state) { return {...continuationOf(state), temperatures: kTemperatures}; }

/** @param {App} app */
export function createNext(app) {
  const question = createQuestion(nextTokens);
  const temperature = createTemperature(app, strings.temperature);
  const top = createSlider(app, "top", strings.top, 1);
  const list = element("div", {class: "next", role: "list"});
  const looking = element("div", {class: "tokens looking"});
  const lookingName = element("p", {class: "note-line"}), note = element("p", {class: "note-line"});
  /** @type {LogprobsJson | null} */
  let known = null;
  let knownOf = "";  // the request

  /// The next tokens at the chosen temperature.
  /** @param {LogprobsJson} of */
  const rowsOf = ({top_logprobs: [likeliest], log_sums: [sums]}) => reshape(likeliest, sums, app.store.get());

  /// Writing on: a token every half second, as long as the view is shown.
  const kPause = 500, kMostTokens = 40;
  let left = 0, timer = 0;
  let written = "";  // the text that is written on
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
    written = app.store.get().text;
    write.textContent = strings.writeStop;
    writeOne();
  };
  const writeOne = () => {
    timer = 0;
    const state = app.store.get();
    if (left === 0 || !list.checkVisibility()) return stop();
    if (!known || knownOf !== JSON.stringify(bodyOf(state)))
      return;  // goes on when the probabilities have arrived
    const token = drawToken(rowsOf(known), Math.random());
    if (!token) return stop();
    --left;
    written = state.text + token;
    app.store.set({text: written, token: ""}, true);
    if (left === 0) stop();
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
    if (!known) return;
    list.replaceChildren(...rowsOf(known).map(({token, probability, kept}) => {
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
          token === null || !isWritable(token) ?
              content :
              [element(
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
        element("div", {class: "row above"}, temperature.element, top.element, write), note, list),
    picture: null,
    mark() {
      const trace = app.shown(), key = trace.keyAt(app.place().stack, app.marks.get());
      [...looking.children].forEach((cell, n) => cell.classList.toggle("here", n === key));
    },
    /// Another view is shown, or another text is read than the one that is written on.
    leave() {
      const {view, text} = app.store.get();
      if (view !== "next" || text !== written) stop();
    },
    async update() {
      const state = app.store.get();
      temperature.update();
      top.update();
      if (app.file) return list.replaceChildren(app.needsModel());
      if (app.trace().sourceTokens.length > 0)
        return list.replaceChildren(element("p", {class: "needs"}, strings.notLanguageModel));
      look();
      note.textContent = state.off ? strings.nextWithAllHeads : "";
      const body = bodyOf(state), answering = question.ask(body);
      draw();  // in another temperature, as long as there is no answer
      const answer = await answering;
      if (!answer) return;
      if (answer.failure !== undefined) {
        stop();
        known = null;
        return list.replaceChildren(element("p", {class: "needs"}, answer.failure));
      }
      const next = answer.result.choices[0].logprobs;
      if (next === known) return;
      known = next;
      knownOf = JSON.stringify(body);
      draw();
    },
  };
}
