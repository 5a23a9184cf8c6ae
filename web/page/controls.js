// What is looked at: stack, layer and head; tokens or words; and the options of the search.

import {keepKey, modelOf, readKey} from "../connection/api.js";
import {isSite} from "../connection/connection.js";
import {headColour} from "../picture/colours.js";
import {kStacks} from "../picture/trace.js";
import {parseHeads} from "../state.js";
import {strings} from "../strings.js";

import {choice, element, select, setAttribute, showValue} from "./dom.js";


/// Stack, layer and head of the views of one trace.
/** @param {App} app */
export function createPlaceControls(app) {
  const stack = choice(
      strings.stackLabel, kStacks.map((name) => [name, strings.stacks[name], strings.stackTitles[name]]),
      (value) => app.store.set({stack: value, layer: 0, head: app.store.get().head}));
  const layers = element("span", {}), heads = element("span", {});
  let made = "";
  /** @type {Choice<number> | null} */
  let layer = null;
  /** @type {Choice<number> | null} */
  let head = null;
  return {
    element: element(
        "div", {class: "row place"},
        element("span", {class: "field"}, element("span", {}, strings.stackLabel), stack.element),
        element("span", {class: "field"}, element("span", {}, strings.layerLabel), layers),
        element("span", {class: "field"}, element("span", {}, strings.headLabel), heads)),
    update() {
      const trace = app.shown(), place = app.place(), state = app.store.get();
      const {view} = place;
      const layerCount = trace.layers(place.stack), headCount = trace.heads(place.stack, place.layer);
      const withMean = view !== "query" && !trace.averaged && headCount > 1;
      const wanted = `${layerCount} ${headCount} ${withMean} ${view === "lines"}`;
      if (made !== wanted || !layer || !head) {
        made = wanted;
        /** @param {string} name @returns {[number, string][]} */
        const all = (name) => [[0, name]];
        /** @param {number} count @returns {[number, string][]} */
        const numbers = (count) => Array.from({length: count}, (_, n) => [n + 1, String(n + 1)]);
        layer = choice(strings.layerLabel, numbers(layerCount), (value) => app.store.set({layer: value}));
        head = choice(
            strings.headLabel,
            [
              ...(withMean ? all(view === "lines" ? strings.all : strings.mean) : []),
              ...(trace.averaged ? all(strings.mean) : numbers(headCount))
            ],
            (value) => app.store.set({head: value}));
        layers.replaceChildren(layer.element);
        heads.replaceChildren(head.element);
      }
      const colours = app.colours(), off = parseHeads(state.off);
      for (const [number, button] of head.buttons) {
        button.style.setProperty("--head", headColour(colours, number));
        button.classList.toggle("coloured", view === "lines" && number > 0);
        button.classList.toggle(
            "off",
            off.some(
                (each) => each.stack === place.stack && each.layer === place.layer && each.head === number));
      }
      for (const [name, button] of stack.buttons)
        setAttribute(button, "disabled", !trace.stackNames.includes(name));
      stack.show(place.stack);
      layer.show(place.layer);
      head.show(headCount === 1 && !trace.averaged ? 1 : place.head);
    },
  };
}

/// Tokens or words, and the options of the search, which need the server.
/** @param {App} app */
export function createSettings(app) {
  const unit = choice(
      strings.unit, [[false, strings.tokens], [true, strings.words]],
      (value) => app.store.set({words: value}));
  const beam = element("input", {
    type: "number",
    min: "0",
    max: "64",
    step: "1",
    onchange: () => {
      app.store.set({beam: Number(beam.value), target: ""});
    }
  });
  const penalty = element("input", {
    type: "number",
    min: "0",
    max: "5",
    step: "0.1",
    placeholder: strings.byDefault,
    onchange: () => {
      app.store.set({penalty: penalty.value, target: ""});
    }
  });
  const key = element("input", {
    type: "password",
    autocomplete: "off",
    onchange: () => {
      keepKey(key.value);
      app.askAgain();
    }
  });
  const precision = select(strings.precision, (value) => app.store.set({precision: value}));
  const unsure = select(strings.unsure, (value) => app.store.set({unsure: value}));
  const more = element(
      "details", {class: "settings"}, element("summary", {}, strings.settings),
      element(
          "div", {class: "panel"},
          element("label", {class: "field"}, element("span", {}, strings.beam), beam),
          element("label", {class: "field"}, element("span", {}, strings.penalty), penalty),
          precision.element, app.file ? null : unsure.element,
          app.file || isSite ? null :
                               element("label", {class: "field"}, element("span", {}, strings.apiKey), key),
          isSite ? app.modelOpener : null, app.file ? app.needsModel() : null));
  if (app.file)
    for (const input of [beam, penalty, precision.box]) input.disabled = true;
  return {
    element: element("div", {class: "row"}, unit.element, more),
    update() {
      const state = app.store.get();
      unit.show(state.words);
      if (!app.file) showValue(key, readKey());
      showValue(beam, state.beam ? String(state.beam) : "");
      beam.placeholder = strings.byDefault;
      showValue(penalty, state.penalty);
      unsure.show(Object.entries(strings.unsureOptions), state.unsure);
      precision.element.hidden = !app.file && !app.models().some((model) => model.precisions?.length > 1);
      // Of a pair through other languages: what any model has.
      const offered = modelOf(state)?.precisions ?? app.models().flatMap((model) => model.precisions);
      const names = new Set([...offered, ...(state.precision ? [state.precision] : [])]);
      /** @type {[string, string][]} */
      const options = [...names].map((each) => [each, each]);
      precision.show([["", strings.byDefault], ...options], state.precision);
    },
  };
}
