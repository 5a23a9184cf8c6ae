// Change it: heads that give nothing, another target, a forced beginning; and which heads matter.

import {attend, createLatest} from "../api.js";
import {choice, element} from "../dom.js";
import {kindOf, outcomeOf} from "../outcome.js";
import {numberTable} from "../picture.js";
import {parseHeads, parseWords, writeHeads} from "../state.js";
import {strings} from "../strings.js";

const same = (one, other) =>
    one.stack === other.stack && one.layer === other.layer && one.head === other.head;

/// The words of `text`, with those that are not in the longest common subsequence with `other` marked.
function markChanges(text, other) {
  const words = text.split(/(\s+)/), others = other.split(/(\s+)/);
  const table = Array.from({length: words.length + 1}, () => new Uint16Array(others.length + 1));
  for (let i = words.length - 1; i >= 0; --i) {
    for (let j = others.length - 1; j >= 0; --j) {
      table[i][j] =
          words[i] === others[j] ? table[i + 1][j + 1] + 1 : Math.max(table[i + 1][j], table[i][j + 1]);
    }
  }
  const parts = [];
  for (let i = 0, j = 0; i < words.length;) {
    if (j < others.length && words[i] === others[j]) {
      parts.push(words[i]);
      ++i;
      ++j;
    } else if (j < others.length && table[i][j + 1] >= table[i + 1][j]) {
      ++j;
    } else {
      parts.push(words[i].trim() ? element("mark", {}, words[i]) : words[i]);
      ++i;
    }
  }
  return parts;
}

export function createChange(app) {
  const offline = app.file !== null;
  const latestOriginal = createLatest(), latestScore = createLatest();
  const grid = element("div", {class: "head-grid"});
  const result = element("div", {class: "versus", "aria-live": "polite"});
  const matter = element("div", {});
  /// An input for one field of the state; what the model is to do and a target by hand exclude each other.
  const steer = (name) => {
    const input = element("input", {
      type: "text",
      disabled: offline,
      onchange: () => app.store.set({[name]: input.value.trim(), target: ""})
    });
    return input;
  };
  const prefix = steer("prefix"), required = steer("require"), forbidden = steer("forbid");
  const target = element("input", {
    type: "text",
    disabled: offline,
    onchange: () => app.store.set({target: target.value, prefix: "", require: "", forbid: ""})
  });
  const reset = element(
      "button", {
        type: "button",
        disabled: offline,
        onclick: () => app.store.set({target: "", prefix: "", require: "", forbid: "", off: ""})
      },
      strings.reset);
  const run =
      element("button", {type: "button", disabled: offline, onclick: () => runAll()}, strings.matterRun);
  const reach =
      choice(strings.switching, [["one", strings.switchOne], ["others", strings.offOthers]], (value) => {
        reaches = value;
        reach.show(reaches);
      });
  let reaches = "one";  // what a click switches off: the head, or all others of its layer
  reach.show(reaches);
  for (const button of reach.buttons.values()) button.disabled = offline;
  const scale = element("input", {
    type: "number",
    min: "0",
    max: "10",
    step: "0.25",
    value: "0",
    disabled: offline,
  });
  const refused = element("p", {class: "needs"}), matterLead = element("p", {class: "note-line"});
  const steering = element(
      "div", {}, element("h3", {}, strings.constraints),
      element(
          "div", {class: "steering"},
          [
            [strings.forced, prefix], [strings.required, required], [strings.forbidden, forbidden],
            [strings.ownTarget, target]
          ].map(([label, input]) => element("label", {}, element("span", {}, label), input))),
      element("p", {class: "note-line"}, strings.constraintsHint), reset);
  let canSwitch = offline ? false : null;  // null: not known yet
  let probed = "";                         // the model that it is known of
  let original = null, originalOf = "", losses = new Map(), lossesOf = "";

  let shown = {};  // what showResult has last drawn, and for which trace
  const sentenceKey = (state) => JSON.stringify([
    state.pair, state.model, state.from, state.to, state.text, state.beam, state.penalty, state.precision
  ]);
  const off = () => parseHeads(app.store.get().off);
  const setOff = (heads) => app.store.set({off: writeHeads(heads)});
  /// What a click makes of a head: nothing, or its output times a number.
  const change = (head) => {
    const factor = Math.max(0, Math.min(10, Number(scale.value) || 0));
    return factor === 0 ? head : {...head, scale: factor};
  };
  const toggle = (head) => {
    const now = off();
    setOff(
        now.some((each) => same(each, head)) ? now.filter((each) => !same(each, head)) :
                                               [...now, change(head)]);
  };

  /// A switch for each head, made once for a model and changed from then on, so that none goes from under a
  /// click.
  let switches = [], made = "";
  const makeGrid = (trace) => {
    switches = [];
    const rows = [];
    for (const stack of trace.stackNames) {
      for (let layer = 1; layer <= trace.layers(stack); ++layer) {
        const heads =
            Array.from({length: trace.heads(stack, layer)}, (_, n) => ({stack, layer, head: n + 1}));
        const buttons = heads.map(
            (head) =>
                element("button", {type: "button", class: "head-switch", onclick: () => click(head, heads)}));
        const whole = element(
            "button", {type: "button", class: "quiet", onclick: () => toggleLayer(heads)}, strings.offLayer);
        heads.forEach((head, n) => switches.push({head, button: buttons[n], whole}));
        rows.push(element(
            "div", {class: "head-row"},
            element("span", {class: "head-name"}, `${strings.stacks[stack]} ${layer}`), buttons, whole));
      }
    }
    grid.replaceChildren(...rows, allOn);
  };
  const allOn = element("button", {type: "button", onclick: () => setOff([])}, strings.onAll);

  const without = (heads) => off().filter((each) => !heads.some((head) => same(each, head)));
  const click = (head, heads) => {
    if (reaches === "one") return toggle(head);
    setOff([...without(heads), ...heads.filter((each) => !same(each, head)).map(change)]);
  };
  const toggleLayer = (heads) => {
    const others = without(heads), allOff = off().length - others.length === heads.length;
    setOff(allOff ? others : [...others, ...heads.map(change)]);
  };

  const showGrid = () => {
    const trace = app.trace(), now = off(), colours = app.colours();
    const shape =
        JSON.stringify(trace.stackNames.map((stack) => [stack, trace.layers(stack), trace.heads(stack, 1)]));
    if (made !== shape) makeGrid(trace);
    made = shape;
    const most = Math.max(0.01, ...[...losses.values()].map(Math.abs));
    for (const {head, button, whole} of switches) {
      const changed = now.find((each) => same(each, head)), loss = losses.get(writeHeads([head]));
      const name = strings.headName(head.stack, head.layer, head.head);
      button.textContent = changed?.scale ? `×${changed.scale}` : String(head.head);
      button.setAttribute("aria-pressed", String(changed !== undefined));
      button.setAttribute("aria-label", `${changed ? strings.switchOn : strings.switchOff}: ${name}`);
      button.title = loss === undefined ? "" : `${name}: ${loss.toFixed(3)}`;
      button.classList.toggle("scaled", Boolean(changed?.scale));
      button.style.background = loss === undefined ? "" : colours.signed(-loss, 1.7 * most);
      button.disabled = whole.disabled = canSwitch === false;
    }
    run.disabled = canSwitch === false;
    allOn.hidden = now.length === 0;
    allOn.disabled = canSwitch === false;
  };

  /// Whether the server can switch heads off is found out once.
  const probe = async () => {
    const state = app.store.get(), model = `${state.pair} ${state.model}`;
    if (offline || probed === model) return;
    probed = model;
    canSwitch = true;
    refused.textContent = "";
    const trace = app.trace(), stack = trace.stackNames[0];
    const target = kindOf(trace) === "translation" ? {target: trace.target} : {};
    try {
      await attend(
          {...state, off: ""}, {...target, ablate: [{stack, layer: 1, head: 1}]},
          new AbortController().signal);
    } catch (error) {
      canSwitch = false;
      refused.textContent = error.message;
      showGrid();
    }
  };

  /// Token by token: log-probability before and after, where both have the same target.
  const tokenTable = (before, after) => {
    if (!before.logProbabilities || !after.logProbabilities) return null;
    // What a text is followed by is no token of it.
    const given = (trace) => kindOf(trace) === "text" ? trace.targetTokens.slice(0, -1) : trace.targetTokens;
    const sameTarget = given(before).join("\n") === given(after).join("\n");
    if (!sameTarget) {
      return numberTable(
          strings.perToken, [strings.token, strings.logProbability],
          after.targetLabels.map((label, n) => [label.text, after.logProbabilities[n].toFixed(3)]));
    }
    const colours = app.colours(),
          changes = given(after).map((_, n) => after.logProbabilities[n] - before.logProbabilities[n]);
    const most = Math.max(0.5, ...changes.map(Math.abs));
    return element(
        "div", {class: "token-changes", role: "list", "aria-label": strings.perToken}, changes.map((_, n) => {
          const label = after.targetLabels[n];
          const cell = element(
              "span", {role: "listitem", class: "token-change"}, element("span", {}, label.text),
              element("small", {}, `${changes[n] >= 0 ? "+" : "−"}${Math.abs(changes[n]).toFixed(2)}`));
          cell.style.background = colours.signed(-changes[n], 1.7 * most);
          return cell;
        }));
  };

  /// The words of the original: a click forbids one, another allows it again.
  const wordSwitches = (text) => {
    const now = parseWords(app.store.get().forbid);
    return text.split(/(\s+)/).map((word) => {
      const bare = word.replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, "").toLowerCase();
      if (!bare) return word;
      // Of longer words, the other forms too: without "dog", the model might write "dogs".
      const pattern = bare.length > 2 ? `${bare}*` : bare, off = now.includes(pattern);
      const toggled = off ? now.filter((each) => each !== pattern) : [...now, pattern];
      return element(
          "button", {
            type: "button",
            class: "word-switch",
            "aria-pressed": String(off),
            title: strings.forbidWord(bare),
            onclick: () => app.store.set({forbid: toggled.join(","), target: ""})
          },
          word);
    });
  };

  /// The marked token of the translation, where the original has the same one.
  const mark = () => {
    const spot = app.marks.get();
    const label = spot?.side === "target" ? app.shown()?.targetLabels[spot.index]?.text : undefined;
    [...result.querySelectorAll(".token-change")].forEach((cell, n) => {
      cell.classList.toggle("marked", n === spot?.index && cell.firstChild.textContent === label);
    });
  };

  /// What models make that do not translate: before the change and after it.
  const showOutcome = async () => {
    const state = app.store.get(), trace = app.trace();
    if (offline) return result.replaceChildren(app.needsModel());
    const wanted = JSON.stringify([sentenceKey(state), state.off, app.colours().ink]);
    if (shown.wanted === wanted) return;
    shown = {wanted};
    const answer = await latestOriginal(async (signal) => {
      const before = await outcomeOf(trace, state, [], null, signal);
      return {before, after: state.off ? await outcomeOf(trace, state, off(), before, signal) : null};
    });
    if (!answer) return;
    if (answer.failure) {
      shown = {};
      return result.replaceChildren(element("p", {class: "needs"}, answer.failure));
    }
    const {before, after} = answer.result;
    const side = (title, outcome) => element(
        "div", {}, element("p", {class: "name"}, title), element("p", {class: "translation"}, outcome.text));
    result.replaceChildren(side(strings.original, before));
    if (!after) return;
    const difference = `${strings.differenceOf[kindOf(trace)]}: ${(after.number - before.number).toFixed(3)}`;
    result.append(side(strings.changed, after), element("p", {class: "difference"}, difference));
    const table = after.trace && tokenTable(before.trace, after.trace);
    if (table) result.append(table);
    mark();
  };

  const showResult = async () => {
    const state = app.store.get(), now = app.trace();
    if (kindOf(now) !== "translation") return showOutcome();
    const changed = [state.off, state.target, state.prefix, state.require, state.forbid].some((each) => each);
    if (offline) return result.replaceChildren(app.needsModel());
    const wanted = JSON.stringify([
      sentenceKey(state), state.off, state.target, state.prefix, state.require, state.forbid,
      app.colours().ink
    ]);
    if (shown.trace === now && shown.wanted === wanted) return;
    shown = {trace: now, wanted};
    if (originalOf !== sentenceKey(state)) {
      original = null;
      if (!changed) {
        original = now;
        originalOf = sentenceKey(state);
      } else {
        const answer = await latestOriginal(
            (signal) => attend({...state, prefix: "", require: "", forbid: ""}, {}, signal));
        if (!answer || answer.failure) {
          shown = {};
          return;
        }
        original = answer.result;
        originalOf = sentenceKey(state);
      }
    }
    const side = (title, trace, other) => element(
        "div", {}, element("p", {class: "name"}, title),
        element(
            "p", {class: "translation"},
            other ? markChanges(trace.target, other.target) : wordSwitches(trace.target)),
        element("p", {class: "note-line"}, trace.score === null ? "" : strings.score(trace.score)),
        other ? null : element("p", {class: "note-line"}, strings.forbidHint));
    const parts = [side(strings.original, original, null)];
    if (changed) {
      parts.push(side(strings.changed, now, original));
      if (now.score !== null && original.score !== null) {
        parts.push(element(
            "p", {class: "difference"}, `${strings.difference}: ${(now.score - original.score).toFixed(3)}`));
      }
    }
    result.replaceChildren(...parts);
    if (!changed) return;
    // The original translation under the same change says what each of its words has lost.
    const answer = await latestScore(
        (signal) => attend(
            state, {target: state.target || original.target, ...(state.off ? {ablate: off()} : {})}, signal));
    const table = answer?.result && tokenTable(original, answer.result);
    if (table) result.append(table);
    mark();
  };

  /// Every head off in turn, with the original translation as target.
  const runAll = async () => {
    const state = app.store.get();
    run.disabled = true;
    losses = new Map();
    lossesOf = sentenceKey(state);
    const heads = app.trace()
                      .stackNames
                      .flatMap(
                          (stack) => Array.from(
                              {length: app.trace().layers(stack)},
                              (_, layer) => Array.from(
                                  {length: app.trace().heads(stack, layer + 1)},
                                  (_, head) => ({stack, layer: layer + 1, head: head + 1}))))
                      .flat();
    const signal = new AbortController().signal;
    try {
      const trace = app.trace(), of = original?.target ?? trace.target;
      const base = await outcomeOf(trace, state, [], kindOf(trace) === "translation" ? {of} : null, signal);
      const queue = [...heads];
      const worker = async () => {
        while (queue.length > 0 && lossesOf === sentenceKey(app.store.get())) {
          const head = queue.shift();
          const changed = await outcomeOf(trace, state, [head], base, signal);
          losses.set(writeHeads([head]), changed.number - base.number);
          matter.textContent = strings.matterProgress(losses.size, heads.length);
        }
      };
      await Promise.all([worker(), worker(), worker(), worker()]);
      showGrid();
      const sorted = [...losses].sort((a, b) => a[1] - b[1]);
      matter.replaceChildren(numberTable(
          strings.matterLead[kindOf(trace)], [strings.head, strings.lossColumn],
          sorted.slice(0, 12).map(([name, loss]) => {
            const [{stack, layer, head}] = parseHeads(name);
            return [strings.headName(stack, layer, head), loss.toFixed(3)];
          })));
    } catch (error) {
      matter.textContent = error.message;
    }
    run.disabled = false;
  };

  return {
    element: element(
        "div", {class: "change"},
        element(
            "div", {class: "change-heads"}, element("h3", {}, strings.off),
            element(
                "div", {class: "row above"},
                element("span", {class: "field"}, element("span", {}, strings.switching), reach.element),
                element("label", {class: "field"}, element("span", {}, strings.scale), scale)),
            grid, refused, element("h3", {}, strings.matter), matterLead, run, matter),
        element("div", {class: "change-result"}, result, steering)),
    picture: null,
    mark,
    update() {
      const state = app.store.get();
      if (lossesOf !== sentenceKey(state)) {
        losses = new Map();
        matter.replaceChildren();
      }
      prefix.value = state.prefix;
      required.value = state.require;
      forbidden.value = state.forbid;
      target.value = state.target;
      steering.hidden = kindOf(app.trace()) !== "translation";
      matterLead.textContent = strings.matterLead[kindOf(app.trace())];
      showGrid();
      showResult();
      probe();
    },
  };
}
