// A switch for each head of the model: a click makes it give nothing, multiplies its output, or does so with
// the others of its layer.

import {attend, isFinal} from "../connection/api.js";
import {choice, element, messageOf} from "../page/dom.js";
import {kindOf} from "../page/outcome.js";
import {parseHeads, writeHeads} from "../state.js";
import {strings} from "../strings.js";

const kMostScale = 10;

/** @param {Head} one @param {Head} other */
function isSame(one, other) {
  return one.stack === other.stack && one.layer === other.layer && one.head === other.head;
}

/** @param {Head[]} heads @param {Head[]} without */
function minus(heads, without) { return heads.filter((each) => !without.some((head) => isSame(each, head))); }

/// What is changed, and how a click changes it.
/** @param {App} app */
function createChanges(app) {
  let ofOthers = false;  // whether a click changes the others of the head's layer instead of the head
  const reach =
      choice(strings.switching, [[false, strings.switchOne], [true, strings.offOthers]], (value) => {
        ofOthers = value;
        reach.show(ofOthers);
      });
  reach.show(ofOthers);
  const scale =
      element("input", {type: "number", min: "0", max: String(kMostScale), step: "0.25", value: "0"});
  for (const control of [...reach.buttons.values(), scale]) control.disabled = app.file !== null;

  /** @returns {Head[]} */
  const now = () => parseHeads(app.store.get().off);
  /** @param {Head[]} heads */
  const set = (heads) => app.store.set({off: writeHeads(heads)});
  /// A head that gives nothing, or whose output is multiplied by a number.
  /** @param {Head} head @returns {Head} */
  const changed = (head) => {
    const factor = Math.max(0, Math.min(kMostScale, Number(scale.value) || 0));
    return factor === 0 ? head : {...head, scale: factor};
  };
  /** @param {Head[]} heads */
  const toggle = (heads) => {
    const others = minus(now(), heads), all = now().length - others.length === heads.length;
    set(all ? others : [...others, ...heads.map(changed)]);
  };
  return {
    element: element(
        "div", {class: "row above"},
        element("span", {class: "field"}, element("span", {}, strings.switching), reach.element),
        element("label", {class: "field"}, element("span", {}, strings.scale), scale)),
    now,
    clear: () => set([]),
    /** @param {Head} head @param {Head[]} layer the heads of its layer */
    click(head, layer) {
      if (!ofOthers) return toggle([head]);
      set([...minus(now(), layer), ...minus(layer, [head]).map(changed)]);
    },
    toggle,
  };
}

/// Finds out, once for each model, whether the server can switch heads off, and tries again where it does not
/// answer. `refused(why)` is called if not.
/** @param {App} app @param {(why: string) => void} refused */
function createProbe(app, refused) {
  let asked = "", can = app.file === null;
  return {
    can: () => can,
    async run() {
      const state = app.store.get(), model = `${state.pair} ${state.model}`;
      if (app.file !== null || asked === model) return;
      asked = model;
      can = true;
      const trace = app.trace(), stack = trace.stackNames[0];
      const target = kindOf(trace) === "translation" ? {target: trace.target} : {};
      try {
        await attend(
            {...state, off: ""}, {...target, ablate: [{stack, layer: 1, head: 1}]},
            new AbortController().signal);
      } catch (error) {
        if (asked !== model) return;  // another one is shown
        if (!isFinal(error)) asked = "";
        can = false;
        refused(messageOf(error));
      }
    },
  };
}

/// `changed()` is called when it turns out that heads cannot be switched off.
/** @param {App} app @param {() => void} changed */
export function createHeadSwitches(app, changed) {
  const changes = createChanges(app);
  const grid = element("div", {class: "head-grid"}), refused = element("p", {class: "needs"});
  const allOn = element("button", {type: "button", onclick: changes.clear}, strings.onAll);
  const probe = createProbe(app, (why) => {
    refused.textContent = why;
    changed();
  });
  /** @type {{head: Head, button: HTMLButtonElement, whole: HTMLButtonElement}[]} */
  let switches = [];
  let made = "";  // the shape of the model that they are for

  /** @param {Stack} stack @param {number} layer @param {number} count */
  const makeRow = (stack, layer, count) => {
    /** @type {Head[]} */
    const heads = Array.from({length: count}, (_, n) => ({stack, layer, head: n + 1}));
    const buttons = heads.map(
        (head) => element(
            "button", {type: "button", class: "head-switch", onclick: () => changes.click(head, heads)}));
    const whole = element(
        "button", {type: "button", class: "quiet", onclick: () => changes.toggle(heads)}, strings.offLayer);
    heads.forEach((head, n) => switches.push({head, button: buttons[n], whole}));
    return element(
        "div", {class: "head-row"},
        element("span", {class: "head-name"}, `${strings.stacks[stack]} ${layer}`), buttons, whole);
  };

  /// The switches are made once for a model and changed from then on, so that none goes from under a click.
  const make = () => {
    const trace = app.trace();
    const shape =
        JSON.stringify(trace.stackNames.map((stack) => [stack, trace.layers(stack), trace.heads(stack, 1)]));
    if (made === shape) return;
    made = shape;
    switches = [];
    const rows = trace.stackNames.flatMap(
        (stack) => Array.from(
            {length: trace.layers(stack)},
            (_, layer) => makeRow(stack, layer + 1, trace.heads(stack, layer + 1))));
    grid.replaceChildren(...rows, allOn);
  };

  /// `loss`: by how much the result gets worse without the head, if that is known.
  /**
     @param {typeof switches[0]} of @param {Head | undefined} change @param {number | undefined} loss
      @param {number} most the largest loss
   */
  const showSwitch = ({head, button, whole}, change, loss, most) => {
    const name = strings.headName(head.stack, head.layer, head.head);
    button.textContent = change?.scale ? `×${change.scale}` : String(head.head);
    button.setAttribute("aria-pressed", String(change !== undefined));
    button.setAttribute("aria-label", `${change ? strings.switchOn : strings.switchOff}: ${name}`);
    button.title = loss === undefined ? "" : `${name}: ${loss.toFixed(3)}`;
    button.classList.toggle("scaled", Boolean(change?.scale));
    button.style.background = loss === undefined ? "" : app.colours().signed(-loss, 1.7 * most);
    button.disabled = whole.disabled = !probe.can();
  };

  return {
    element: [changes.element, grid, refused],
    canSwitch: probe.can,
    probe: probe.run,
    /** @param {Map<string, number>} losses of heads, by their names in the address */
    update(losses) {
      make();
      const now = changes.now(), most = Math.max(0.01, ...[...losses.values()].map(Math.abs));
      for (const each of switches) {
        const change = now.find((head) => isSame(head, each.head));
        showSwitch(each, change, losses.get(writeHeads([each.head])), most);
      }
      allOn.hidden = now.length === 0;
      allOn.disabled = !probe.can();
      if (probe.can()) refused.textContent = "";
    },
  };
}
