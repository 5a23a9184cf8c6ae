// Change it: heads that give nothing, another target, a forced beginning; and which heads matter.

import {element} from "../page/dom.js";
import {kindOf} from "../page/outcome.js";
import {strings} from "../strings.js";

import {createLosses} from "./head_losses.js";
import {createHeadSwitches} from "./head_switches.js";
import {createResult} from "./result.js";
import {createSteering} from "./steering.js";

/** @param {App} app @returns {View} */
export function createChange(app) {
  const result = createResult(app), steering = createSteering(app);
  const showHeads = () => {
    heads.update(losses.get());
    losses.enable(heads.canSwitch());
  };
  const heads = createHeadSwitches(app, showHeads);
  const losses = createLosses(app, result.original, showHeads);
  return {
    element: element(
        "div", {class: "change"},
        element(
            "div", {class: "change-heads"}, element("h3", {}, strings.off), heads.element,
            element("h3", {}, strings.matter), losses.element),
        element("div", {class: "change-result"}, result.element, steering.element)),
    picture: null,
    mark: result.mark,
    update() {
      steering.update();
      steering.element.hidden = kindOf(app.trace()) !== "translation";
      losses.update();
      heads.probe();
      showHeads();
      result.update();
    },
  };
}
