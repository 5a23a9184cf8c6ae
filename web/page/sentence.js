// The top of the page: the sentence, its translation, and both as tokens that can be pointed at.

import {chainOf, languagesOf, listedChains, modelOf} from "../connection/api.js";
import {kNoChoices} from "../state.js";
import {strings} from "../strings.js";

import {element, hasFocus, select} from "./dom.js";
import {examplesOf, isExample} from "./examples.js";
import {kindOf} from "./outcome.js";
import {createSimilarities} from "./similarities.js";
import {createTranslation} from "./translation.js";


/// The tokens of one side, as buttons in one tab stop: arrow keys move, Enter pins.
/** @param {App} app @param {Side} side */
function createTokens(app, side) {
  const list = element("div", {class: "tokens", role: "toolbar"});
  /** @type {HTMLButtonElement[]} */
  let buttons = [];
  list.addEventListener("keydown", (event) => {
    const at = buttons.findIndex(hasFocus);
    const next = {ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: buttons.length - 1}[event.key];
    if (event.key === "Escape") app.pin(null);
    if (next === undefined || !buttons[next]) return;
    event.preventDefault();
    buttons[next].focus();
  });
  return {
    element: list,
    /** @param {Label[]} labels @param {string} name */
    show(labels, name) {
      list.setAttribute("aria-label", name);
      const text = labels.map((label) => label.text + label.begins).join("\n");
      if (list.dataset.text === text) return;
      list.dataset.text = text;
      buttons = labels.map(
          (label, index) => element(
              "button", {
                type: "button",
                class: `token${label.special ? " special" : ""}${labels[index + 1]?.begins ? " last" : ""}`,
                tabindex: index === 0 ? "0" : "-1",
                "aria-pressed": "false",
                lang: "",
                onpointerenter: () => app.marks.hover({side, index}),
                onpointerleave: () => app.marks.hover(null),
                onfocus: () => {
                  buttons.forEach((button, n) => {
                    button.tabIndex = n === index ? 0 : -1;
                  });
                  if (buttons[index].matches(":focus-visible")) app.marks.hover({side, index});
                },
                onblur: () => app.marks.hover(null),
                onclick: () => app.pin({side, index}),
              },
              label.text));
      list.replaceChildren(...buttons);
    },
    /// `weightOf(index)`: how strongly a token is tinted.
    /** @param {Spot | null} spot @param {Spot | null} pinned @param {(index: number) => number} weightOf */
    mark(spot, pinned, weightOf) {
      buttons.forEach((button, index) => {
        button.classList.toggle("here", spot?.side === side && spot.index === index);
        button.setAttribute("aria-pressed", String(pinned?.side === side && pinned.index === index));
        const weight = `${Math.round(62 * weightOf(index))}%`;
        if (button.style.getPropertyValue("--weight") !== weight)
          button.style.setProperty("--weight", weight);
      });
    },
  };
}

/** @param {App} app @param {HTMLElement} settings */
export function createSentence(app, settings) {
  const offline = app.file !== null;
  const source = element("textarea", {
    id: "source",
    rows: "1",
    dir: "auto",
    spellcheck: "false",
    placeholder: strings.sourceHint,
    readonly: offline,
    oninput: () => {
      app.store.set({text: source.value, target: "", token: ""}, true);
    },
    onkeydown: (event) => {
      if (event.key === "Enter" && !event.isComposing) event.preventDefault();  // it is one sentence
    },
  });
  const translation = createTranslation();
  // What a translation through other languages says there, and the way to the attention of each step.
  const steps = element("div", {id: "steps", class: "note-line", hidden: true});
  /** @param {Passed | null} passed @param {string} source */
  const showSteps = (passed, source) => {
    steps.hidden = !passed;
    if (!passed) return;
    const {chain, intermediate} = passed;
    const languages = [chain.source, ...chain.through, chain.target], texts = [source, ...intermediate];
    /** @param {number} n */
    const open = (n) => app.store.set({
      ...kNoChoices,
      pair: `${languages[n]}-${languages[n + 1]}`,
      text: texts[n],
    });
    steps.replaceChildren(
        ...intermediate.map((text, n) => element("p", {}, strings.intermediate(chain.through[n], text))),
        element(
            "p", {class: "row"}, strings.lookAt,
            ...texts.map(
                (_, n) => element(
                    "button", {type: "button", class: "example", onclick: () => open(n)},
                    strings.pairName(languages[n], languages[n + 1])))));
  };
  const targetName = element("span", {class: "name"}, strings.target);
  const sourceName = element("label", {class: "name", "for": "source"}, strings.source);
  const status = element("span", {class: "status", role: "status"});
  const pair = select(strings.pair, (value) => {
    const colon = value.indexOf(":"), {text} = app.store.get();
    const chosen = {pair: "", model: "", from: "", to: "", [value.slice(0, colon)]: value.slice(colon + 1)};
    const example = isExample(text) ? {text: examplesOf({...app.store.get(), ...chosen})[0]} : {};
    app.store.set({...kNoChoices, ...chosen, ...example});
  });
  // Shown for models with several languages.
  /** @param {"from" | "to"} side @param {"from" | "to"} other @param {"sources" | "targets"} ofOther */
  const chooseLanguage = (side, other, ofOther) => (/** @type {string} */ value) => {
    const model = modelOf(app.store.get());
    if (!model) return;
    const now = languagesOf(app.store.get());
    const swapped = {[other]: value === now[other] ? now[side] : now[other]};
    const {off, layer, head} = app.store.get();  // the model is the same
    app.store.set({
      ...kNoChoices,
      off,
      layer,
      head,
      pair: "",
      model: model.id,
      [side]: value,
      ...(model[ofOther].length > 1 ? swapped : {})
    });
  };
  const from = select(strings.from, chooseLanguage("from", "to", "targets"), {id: "from-language"});
  const to = select(strings.to, chooseLanguage("to", "from", "sources"), {id: "to-language"});
  from.element.hidden = to.element.hidden = true;
  /** @param {string[]} codes @returns {[string, string][]} */
  const named = (codes) => {
    /** @type {[string, string][]} */
    const options = codes.map((code) => [code, strings.languageName(code)]);
    return options.sort((one, other) => one[1].localeCompare(other[1], "en"));
  };
  /** @param {State} state */
  const showLanguages = (state) => {
    const model = modelOf(state), chosen = languagesOf(state);
    /** @param {typeof from} box @param {string[]} codes @param {string} code */
    const show = (box, codes, code) => {
      box.element.hidden = codes.length < 2;
      if (codes.length >= 2) box.show(named(codes), code);
    };
    show(from, model?.sources ?? [], chosen.from);
    show(to, model?.targets ?? [], chosen.to);
  };
  const sentences = select(
      strings.sentences, (value) => app.store.set({sentence: Number(value), token: "", layer: 0, head: 0}));
  const sourceTokens = createTokens(app, "source"), targetTokens = createTokens(app, "target");

  const examples = element("div", {class: "row examples"});
  /** @param {State} state */
  const showExamples = (state) => {
    const texts = offline || state.text || !(modelOf(state) || chainOf(state)) ? [] : examplesOf(state);
    examples.hidden = texts.length === 0;
    examples.replaceChildren(
        ...(texts.length ? [element("span", {class: "note-line"}, strings.try)] : []),
        ...texts.map(
            (text) => element(
                "button", {
                  type: "button",
                  class: "example",
                  onclick: () => app.store.set({text, target: "", token: ""})
                },
                text)));
  };

  const classes = element("dl", {class: "classes"}), similarities = createSimilarities(app);

  const grow = () => {
    source.style.height = "auto";
    source.style.height = `${source.scrollHeight}px`;
    source.style.overflowY = source.scrollHeight > source.clientHeight + 2 ? "auto" : "hidden";
  };

  return {
    element: element(
        "section", {class: "sentence", "aria-label": strings.source},
        element(
            "div", {class: "row top"}, offline ? sentences.element : [pair.element, from.element, to.element],
            settings, status),
        element(
            "div", {class: "pair"},
            element("div", {class: "side"}, sourceName, source, examples, sourceTokens.element),
            element(
                "div", {class: "side"}, targetName, ...translation.elements, steps, classes,
                similarities.element, targetTokens.element))),
    source,
    /** @param {string} text */
    status: (text, failed = false) => {
      status.textContent = text;
      status.classList.toggle("failed", failed);
    },
    /// {label: probability}, or nothing.
    /** @param {Record<string, number> | null} probabilities */
    showClasses(probabilities) {
      classes.hidden = !probabilities;
      const sorted = Object.entries(probabilities ?? {}).sort((a, b) => b[1] - a[1]);
      classes.replaceChildren(...sorted.slice(0, 8).flatMap(([label, probability]) => {
        const fill = element("span", {class: "bar-fill"});
        fill.style.width = `${100 * probability}%`;
        return [
          element("dt", {}, label),
          element(
              "dd", {}, element("span", {class: "bar-track"}, fill),
              element("span", {class: "bar-text"}, `${(100 * probability).toFixed(1)} %`))
        ];
      }));
    },
    /** @param {Model[]} models @param {State} state */
    showModels(models, state) {
      // Of several models for a pair, the first serves the pair; the others have a name.
      /** @param {Model} model */
      const serves = (model) => model.pair && models.find((each) => each.pair === model.pair) === model;
      /** @param {Model} model */
      const valueOf = (model) => (serves(model) ? `pair:${model.pair}` : `model:${model.id}`);
      /** @type {[string, string][]} */
      const options = models.map((model) => [valueOf(model), strings.modelName(model)]);
      for (const chain of listedChains()) options.push([`pair:${chain.pair}`, strings.chainName(chain)]);
      pair.name.textContent = models.every(serves) ? strings.pair : strings.model;
      const shown = modelOf(state), chain = chainOf(state);
      pair.show(options, shown ? valueOf(shown) : chain ? `pair:${chain.pair}` : "");
      showLanguages(state);
    },
    update() {
      const state = app.store.get(), trace = app.shown();
      if (app.file) {
        sentences.show(
            app.file.traces.map((each, n) => [String(n + 1), `${n + 1}  ${each.source || each.target}`]),
            String(state.sentence));
        sentences.element.hidden = app.file.traces.length < 2;
        source.value = app.trace().source || app.trace().target;
      } else if (source.value !== state.text) {
        source.value = state.text;
      }
      grow();
      showExamples(state);
      document.title = source.value ? `${source.value.slice(0, 60)} – ${strings.title}` :
                                      `${strings.title}: ${strings.subtitle}`;
      similarities.update(trace !== null && kindOf(trace) === "vectors");
      const passed = trace ? null : app.passed(), marksUnsure = state.unsure !== "plain";
      showSteps(passed, state.text);
      if (!trace) {
        translation.show(passed?.translation ?? "", passed && marksUnsure ? passed.word_confidence : null);
        translation.hide(false);
        targetName.textContent = strings.target;
        translation.warn(passed?.warnings ?? []);
        targetTokens.show([], strings.targetTokens);
        sourceTokens.show([], strings.sourceTokens);
        return;
      }
      const classifies = trace.targetTokens.length === 0, continues = trace.sourceTokens.length === 0;
      targetName.textContent = kindOf(trace) === "vectors" ? strings.vectorTarget :
          classifies                                       ? strings.classTarget :
          continues                                        ? strings.textTokens :
                                                             strings.target;
      sourceName.textContent = continues ? strings.text : strings.source;
      // Of a language model the target is the text itself.
      translation.show(continues ? "" : trace.target, marksUnsure ? trace.wordConfidence : null);
      translation.hide(kindOf(trace) === "vectors");
      translation.warn(trace.warnings);
      sourceTokens.element.hidden = continues;
      targetTokens.element.hidden = classifies;
      sourceTokens.show(trace.sourceLabels, classifies ? strings.textTokens : strings.sourceTokens);
      targetTokens.show(trace.queryLabels("decoder"), continues ? strings.textTokens : strings.targetTokens);
    },
    /// Tints each token by the attention between it and the marked one, at the chosen place.
    mark() {
      const trace = app.shown();
      if (!trace) return;
      const spot = app.marks.get(), {stack, layer, head} = app.place();
      const matrix = trace.matrix(stack, layer, head);
      const query = trace.queryAt(stack, spot), key = trace.keyAt(stack, spot);
      const isQuery = matrix && query >= 0 && query < matrix.queries,
            isKey = matrix && key >= 0 && key < matrix.keys;
      /** @param {Side} side */
      const weightOf = (side) => (/** @type {number} */ index) => {
        const other = {side, index};
        if (isQuery && trace.keyAt(stack, other) >= 0 && trace.keyAt(stack, other) < matrix.keys)
          return matrix.at(query, trace.keyAt(stack, other));
        if (!isQuery && isKey && trace.queryAt(stack, other) >= 0)
          return matrix.at(trace.queryAt(stack, other), key);
        return 0;
      };
      sourceTokens.mark(spot, app.pinned(), weightOf("source"));
      targetTokens.mark(spot, app.pinned(), weightOf("target"));
    },
  };
}
