// What becomes of the result under the changes of the view "Change it": the original and the changed one side
// by side, and what each token has gained or lost.

import {attend, createLatest} from "../connection/api.js";
import {element} from "../page/dom.js";
import {kindOf, outcomeOf} from "../page/outcome.js";
import {numberTable} from "../picture/picture.js";
import {parseHeads, parseWords, sentenceKey} from "../state.js";
import {strings} from "../strings.js";

/// lengths[i][j]: of the longest common subsequence of words[i...] and others[j...].
/** @param {string[]} words @param {string[]} others */
function commonLengths(words, others) {
  const lengths = Array.from({length: words.length + 1}, () => new Uint16Array(others.length + 1));
  for (let i = words.length - 1; i >= 0; --i) {
    for (let j = others.length - 1; j >= 0; --j) {
      lengths[i][j] =
          words[i] === others[j] ? lengths[i + 1][j + 1] + 1 : Math.max(lengths[i + 1][j], lengths[i][j + 1]);
    }
  }
  return lengths;
}

/// The words of `text`, with those that are not in the longest common subsequence with `other` marked.
/** @param {string} text @param {string} other */
function markChanges(text, other) {
  const words = text.split(/(\s+)/), others = other.split(/(\s+)/);
  const lengths = commonLengths(words, others), parts = [];
  for (let i = 0, j = 0; i < words.length;) {
    if (j < others.length && words[i] === others[j]) {
      parts.push(words[i]);
      ++i;
      ++j;
    } else if (j < others.length && lengths[i][j + 1] >= lengths[i + 1][j]) {
      ++j;
    } else {
      parts.push(words[i].trim() ? element("mark", {}, words[i]) : words[i]);
      ++i;
    }
  }
  return parts;
}

/// The words of a translation: a click forbids one, another allows it again.
/** @param {App} app @param {string} text */
function wordSwitches(app, text) {
  const now = parseWords(app.store.get().forbid);
  return text.split(/(\s+)/).map((word) => {
    const bare = word.replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, "").toLowerCase();
    // The words that are forbidden have commas between them.
    if (!bare || bare.includes(",")) return word;
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
}

/// The tokens that have a log-probability of their own: what a text is followed by is no token of it.
/** @param {Trace} trace */
function givenTokens(trace) {
  return kindOf(trace) === "text" ? trace.targetTokens.slice(0, -1) : trace.targetTokens;
}

/// Token by token: what the log-probability of the same target has become. Null where it is unknown.
/** @param {Trace} before @param {Trace} after @param {Colours} colours */
function tokenChanges(before, after, colours) {
  if (!before.logProbabilities || !after.logProbabilities) return null;
  if (givenTokens(before).join("\n") !== givenTokens(after).join("\n")) {
    const numbers = after.logProbabilities;
    return numberTable(
        strings.perToken, [strings.token, strings.logProbability],
        after.targetLabels.map((label, n) => [label.text, numbers[n].toFixed(3)]));
  }
  const [old, now] = [before.logProbabilities, after.logProbabilities];
  const changes = givenTokens(after).map((_, n) => now[n] - old[n]);
  const most = Math.max(0.5, ...changes.map(Math.abs));
  const cells = changes.map((change, n) => {
    const cell = element(
        "span", {role: "listitem", class: "token-change"}, element("span", {}, after.targetLabels[n].text),
        element("small", {}, `${change >= 0 ? "+" : "−"}${Math.abs(change).toFixed(2)}`));
    cell.style.background = colours.signed(-change, 1.7 * most);
    return cell;
  });
  return element("div", {class: "token-changes", role: "list", "aria-label": strings.perToken}, cells);
}

/** @param {string} title @param {Content[]} text @param {Content[]} notes */
function side(title, text, ...notes) {
  return element(
      "div", {}, element("p", {class: "name"}, title), element("p", {class: "translation"}, text),
      notes.map((note) => element("p", {class: "note-line"}, note)));
}

/** @param {string} name @param {number} before @param {number} after */
function difference(name, before, after) {
  return element("p", {class: "difference"}, `${name}: ${(after - before).toFixed(3)}`);
}

/** @param {Trace} trace */
function scoreOf(trace) { return trace.score === null ? "" : strings.score(trace.score); }

/// What models make that do not translate, before the change and after it, for kindOf(trace).
/**
 * @param {keyof typeof strings.differenceOf} kind @param {Outcome} before @param {Outcome | null} after
 * @param {Colours} colours
 */
function outcomeParts(kind, before, after, colours) {
  const parts = [side(strings.original, [before.text])];
  if (!after) return parts;
  parts.push(
      side(strings.changed, [after.text]),
      difference(strings.differenceOf[kind], before.number, after.number));
  const table = before.trace && after.trace && tokenChanges(before.trace, after.trace, colours);
  return table ? [...parts, table] : parts;
}

/// The original translation, and the changed one, if there is one.
/** @param {App} app @param {Trace} original @param {Trace | null} changed */
function translationParts(app, original, changed) {
  const parts =
      [side(strings.original, wordSwitches(app, original.target), scoreOf(original), strings.forbidHint)];
  if (!changed) return parts;
  parts.push(side(strings.changed, markChanges(changed.target, original.target), scoreOf(changed)));
  if (changed.score !== null && original.score !== null)
    parts.push(difference(strings.difference, original.score, changed.score));
  return parts;
}

/** @param {App} app */
export function createResult(app) {
  const box = element("div", {class: "versus", "aria-live": "polite"});
  const latestOriginal = createLatest(), latestScore = createLatest();
  /** @type {Trace | null} */
  let original = null;  // the trace of the translation without changes
  let originalOf = "";
  /** @type {{trace?: Trace | null, wanted?: string}} */
  let shown = {};  // what is drawn, or asked for

  /// Notes something as drawn, if something else is. Null where the same is; else whether it is still wanted,
  /// which whoever has waited for an answer has to ask.
  /** @param {Trace | null} trace @param {unknown[]} changes @returns {(() => boolean) | null} */
  const begin = (trace, changes) => {
    const state = app.store.get();
    const wanted = JSON.stringify([sentenceKey(state), state.off, app.colours().ink, ...changes]);
    if (shown.trace === trace && shown.wanted === wanted) return null;
    const own = shown = {trace, wanted};
    return () => own === shown;
  };

  /// The marked token of the translation or the text, where the original has the same one. Of a text, the
  /// first token has no change.
  const mark = () => {
    const trace = app.shown(), spot = app.marks.get();
    const index = spot?.side === "target" ? spot.index : -1;
    const label = trace?.queryLabels("decoder")[index]?.text, marked = trace?.readsText ? index - 1 : index;
    [...box.querySelectorAll(".token-change")].forEach((cell, n) => {
      cell.classList.toggle("marked", n === marked && cell.firstChild?.textContent === label);
    });
  };

  const showOutcome = async () => {
    const state = app.store.get(), trace = app.trace(), kind = kindOf(trace);
    if (kind === "translation") return;
    const isWanted = begin(null, []);
    if (!isWanted) return;
    const answer = await latestOriginal(async (signal) => {
      const before = await outcomeOf(trace, state, [], null, signal);
      const heads = parseHeads(state.off);
      return {before, after: state.off ? await outcomeOf(trace, state, heads, before, signal) : null};
    });
    if (!answer || !isWanted()) return;
    if (answer.failure !== undefined) {
      shown = {};
      return box.replaceChildren(element("p", {class: "needs"}, answer.failure));
    }
    const {before, after} = answer.result;
    box.replaceChildren(...outcomeParts(kind, before, after, app.colours()));
    mark();
  };

  /// Finds the translation without changes: `now`, if nothing is changed. Null if it is not known, or no
  /// longer wanted.
  /** @param {Trace} now @param {boolean} changed @param {() => boolean} isWanted */
  const findOriginal = async (now, changed, isWanted) => {
    const state = app.store.get(), key = sentenceKey(state);
    if (originalOf === key) return original;
    original = null;
    const answer = changed ?
        await latestOriginal(
            (signal) => attend({...state, prefix: "", require: "", forbid: ""}, {}, signal)) :
        {result: now};
    if (!answer || !isWanted()) return null;
    if (answer.failure !== undefined) {
      box.replaceChildren(element("p", {class: "needs"}, answer.failure));
      return null;
    }
    originalOf = key;
    return original = answer.result;
  };

  /// The original translation under the same change says what each of its words has lost.
  /** @param {Trace} of @param {() => boolean} isWanted */
  const showTokenChanges = async (of, isWanted) => {
    const state = app.store.get(), ablate = state.off ? {ablate: parseHeads(state.off)} : {};
    const answer =
        await latestScore((signal) => attend(state, {target: state.target || of.target, ...ablate}, signal));
    if (!isWanted()) return;
    const table = answer?.result && tokenChanges(of, answer.result, app.colours());
    if (table) box.append(table);
    mark();
  };

  const showTranslation = async () => {
    const state = app.store.get(), now = app.trace();
    const changes = [state.target, state.prefix, state.require, state.forbid];
    const changed = [state.off, ...changes].some((each) => each);
    const isWanted = begin(now, changes);
    if (!isWanted) return;
    const found = await findOriginal(now, changed, isWanted);
    if (!isWanted()) return;
    if (!found) {
      shown = {};
      return;
    }
    box.replaceChildren(...translationParts(app, found, changed ? now : null));
    if (changed) await showTokenChanges(found, isWanted);
  };

  return {
    element: box,
    /// The trace of the translation without changes, if it is known.
    original: () => originalOf === sentenceKey(app.store.get()) ? original : null,
    mark,
    update() {
      if (app.file !== null) return box.replaceChildren(app.needsModel());
      if (app.isWaiting()) return;  // an earlier trace would be taken for the original of this state
      if (kindOf(app.trace()) !== "translation") return showOutcome();
      return showTranslation();
    },
  };
}
