// Which heads matter: what the result loses when one head after the other gives nothing.

import {createLatest} from "../connection/api.js";
import {element} from "../page/dom.js";
import {kindOf, outcomeOf} from "../page/outcome.js";
import {numberTable} from "../picture/picture.js";
import {parseHeads, sentenceKey, writeHeads} from "../state.js";
import {strings} from "../strings.js";

const kRequests = 4;  // at a time
const kShownRows = 12;

/// Every head of a trace.
/** @param {Trace} trace @returns {Head[]} */
function headsOf(trace) {
  return trace.stackNames.flatMap(
      (stack) => Array
                     .from(
                         {length: trace.layers(stack)},
                         (_, layer) => Array.from(
                             {length: trace.heads(stack, layer + 1)},
                             (_, head) => ({stack, layer: layer + 1, head: head + 1})))
                     .flat());
}

/// The heads without which most is lost.
/** @param {Map<string, number>} losses @param {string} caption */
function lossTable(losses, caption) {
  const sorted = [...losses].sort((a, b) => a[1] - b[1]).slice(0, kShownRows);
  return numberTable(caption, [strings.head, strings.lossColumn], sorted.map(([name, loss]) => {
    const [{stack, layer, head}] = parseHeads(name);
    return [strings.headName(stack, layer, head), loss.toFixed(3)];
  }));
}

/// `original()`: the trace of the translation without changes, if it is known; `changed()` is called when
/// there are losses to show.
/** @param {App} app @param {() => Trace | null} original @param {() => void} changed */
export function createLosses(app, original, changed) {
  /** @type {Map<string, number>} */
  let losses = new Map();
  let lossesOf = "";  // the sentence
  let wantedOf = "";  // that of which losses were asked for before its trace was there
  const lead = element("p", {class: "note-line"}), shown = element("div", {});
  const latest = createLatest();
  let can = true, running = false;
  const run = element("button", {type: "button", onclick: () => runAll()}, strings.matterRun);

  /// Switches every head off in turn, with the original translation as target, as long as its sentence is
  /// shown. Whether all of `own` was measured.
  /** @param {Map<string, number>} own @param {AbortSignal} signal */
  const measure = async (own, signal) => {
    const state = app.store.get(), trace = app.trace(), heads = headsOf(trace), queue = [...heads];
    const of = kindOf(trace) === "translation" ? {made: original()?.target ?? trace.target} : null;
    const base = await outcomeOf(trace, state, [], of, signal);
    const work = async () => {
      while (lossesOf === sentenceKey(app.store.get())) {
        const head = queue.shift();
        if (!head) return;
        const outcome = await outcomeOf(trace, state, [head], base, signal);
        signal.throwIfAborted();
        own.set(writeHeads([head]), outcome.number - base.number);
        shown.textContent = strings.matterProgress(own.size, heads.length);
      }
    };
    await Promise.all(Array.from({length: kRequests}, work));
    return own.size === heads.length;
  };
  const runAll = async () => {
    running = run.disabled = true;
    const sentence = sentenceKey(app.store.get());
    if (app.isWaiting()) {
      wantedOf = sentence;
      return;
    }
    const own = losses = new Map();
    lossesOf = sentence;
    const answer = await latest((signal) => measure(own, signal));
    if (!answer) return;  // dropped
    if (answer.result === false) return drop();
    stop();
    if (answer.failure !== undefined) {
      shown.textContent = answer.failure;
    } else {
      shown.replaceChildren(lossTable(own, strings.matterLead[kindOf(app.trace())]));
      changed();
    }
  };
  /// Asks for nothing more.
  const stop = () => {
    latest(() => null);
    running = false;
    run.disabled = !can;
  };
  /// Forgets the losses, which are of another sentence.
  const drop = () => {
    stop();
    losses = new Map();
    lossesOf = "";
    shown.replaceChildren();
  };

  return {
    element: [lead, run, shown],
    get: () => losses,
    /** @param {boolean} canSwitch whether heads can be switched off */
    enable(canSwitch) {
      can = canSwitch;
      run.disabled = running || !can;
    },
    update() {
      lead.textContent = strings.matterLead[kindOf(app.trace())];
      const sentence = sentenceKey(app.store.get());
      if (lossesOf !== sentence) drop();
      if (wantedOf === "" || app.isWaiting()) return;
      const isWanted = wantedOf === sentence;
      wantedOf = "";
      if (isWanted)
        runAll();
      else
        stop();
    },
  };
}
