// Inputs that steer a translation: how it begins, what it contains and avoids, or all of it.

import {element, showValue} from "../page/dom.js";
import {keysOf} from "../page/keys.js";
import {strings} from "../strings.js";

/// An input for a field of the state, with what a new value sets. What the model is to do and a target by
/// hand exclude each other.
/** @param {App} app @param {(value: string) => Partial<State>} changes */
function createInput(app, changes) {
  const input = element("input", {
    type: "text",
    disabled: app.file !== null,
    onchange: () => {
      app.store.set(changes(input.value));
    },
  });
  return input;
}

/** @param {App} app */
export function createSteering(app) {
  const inputs = {
    prefix: createInput(app, (text) => ({prefix: text.trim(), target: ""})),
    require: createInput(app, (text) => ({require: text.trim(), target: ""})),
    forbid: createInput(app, (text) => ({forbid: text.trim(), target: ""})),
    target: createInput(app, (text) => ({target: text, prefix: "", require: "", forbid: ""})),
  };
  const reset = element(
      "button", {
        type: "button",
        disabled: app.file !== null,
        onclick: () => app.store.set({target: "", prefix: "", require: "", forbid: "", off: ""})
      },
      strings.reset);
  const labels = {
    prefix: strings.forced,
    require: strings.required,
    forbid: strings.forbidden,
    target: strings.ownTarget
  };
  const names = keysOf(inputs);
  const fields = names.map((name) => element("label", {}, element("span", {}, labels[name]), inputs[name]));
  return {
    element: element(
        "div", {}, element("h3", {}, strings.constraints), element("div", {class: "steering"}, fields),
        element("p", {class: "note-line"}, strings.constraintsHint), reset),
    /// Shows the values of the state.
    update() {
      for (const name of names) showValue(inputs[name], app.store.get()[name]);
    },
  };
}
