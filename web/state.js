// What the page shows, and the address that says so: every choice is a parameter of the address, so that a
// link shows the same, and back and forward work. Parameters with their default value are left out; in the
// tour, the defaults are what the step shows.
//
// Beside a server the parameters are the query (`/?pair=de-en&text=...`); in a file they are the fragment. In
// a frame without an address (srcdoc, as in notebooks) they are kept in memory only.

import {hasKey, keysOf} from "./page/keys.js";
import {tourState} from "./page/tour_steps.js";

export const kDefaults = {
  pair: "",       // such as de-en; empty: the first that there is
  model: "",      // where a model is not chosen by its pair
  from: "",       // of a model with several languages, that of the source; empty: languagesOf()
  to: "",         // that of the target
  text: "",       // the source
  target: "",     // a translation written by hand; empty: the model's
  sentence: 1,    // which trace of a file that holds several
  words: false,   // words instead of tokens
  beam: 0,        // 0: the model's default
  penalty: "",    // length penalty; empty: the model's default
  unsure: "",     // words that the model is unsure of: plain; empty: underlined
  precision: "",  // float32, int8 or bfloat16; empty: as stored
  view: "lines",  // of strings.views
  stack: /** @type {Stack} */ ("cross"),
  layer: 0,              // from 1; 0: Trace.defaultLayer()
  head: 0,               // from 1; 0: the mean, or all
  token: "",             // the pinned token: s3 the third of the source, t2 the second of the target
  show: "predictions",   // layers: predictions, expected, norms, added
  method: "integrated",  // why: integrated, gradient, rollout, leave-out
  instead: "",           // why, patch: the alternative, a token
  beside: "",            // patch: the sentence that differs from `text`; empty: differingFrom()
  part: "heads",         // patch: heads, layers, positions
  open: "output",        // model: the parts that are open: encoder.1,decoder.3.feed-forward
  sort: "place",         // of the heads
  least: "",             // filter of the heads: entropy>1.5
  others: "",  // of embedding models: sentences to compare that of `text` with, one per line; empty: examples
  off: "",     // heads that are switched off: cross:3:5,encoder:1:2
  prefix: "",  // what the translation has to begin with
  require: "",     // what it has to contain: words or phrases, separated by commas
  forbid: "",      // what it must not contain, in the same way
  other: "",       // compare: text:SENTENCE, target:TRANSLATION, model:NAME, precision:int8
  temperature: 1,  // language models
  top: 1,          // top-p
  tour: 0,         // step of the tour; 0: none
};

/// Without the choices that are of one model's tokens, heads and languages: another one begins with this.
/** @type {Partial<State>} */
export const kNoChoices = {
  target: "",
  token: "",
  instead: "",
  off: "",
  prefix: "",
  require: "",
  forbid: "",
  layer: 0,
  head: 0
};

/// What a parameter is that the address leaves out. `first`: what the page begins with, outside of the tour.
/** @param {number} tour @param {Partial<State>} first @returns {State} */
function defaultsAt(tour, first) { return {...kDefaults, ...(tour > 0 ? tourState(tour) : first)}; }

/// The numbers that need not be whole; all others count something.
/** @type {(keyof State)[]} */
const kFractions = ["temperature", "top"];

/// What the text of a parameter stands for: of the type of its default, which is meant by what is no such
/// value.
/** @param {keyof State} name @param {string} text */
function parseValue(name, text) {
  const usual = kDefaults[name];
  if (typeof usual === "boolean") return text === "1";
  if (name === "penalty") return Number.isFinite(Number(text)) ? text : usual;  // a number or nothing
  if (typeof usual !== "number") return text;
  const number = Number(text), isOne = kFractions.includes(name) ? Number.isFinite : Number.isInteger;
  return isOne(number) ? number : usual;
}

/** @param {string} text @param {Partial<State>} first @returns {State} */
function parse(text, first) {
  const parameters = new URLSearchParams(text);
  /** @type {Record<string, string | number | boolean>} */
  const given = {};
  for (const [name, value] of parameters) {
    if (hasKey(kDefaults, name)) given[name] = parseValue(name, value);
  }
  return {...defaultsAt(Number(parameters.get("tour")), first), ...given};
}

/** @param {State} state @param {Partial<State>} first */
function write(state, first) {
  const parameters = new URLSearchParams(), defaults = defaultsAt(state.tour, first);
  for (const name of keysOf(state)) {
    const value = state[name];
    if (value !== defaults[name])
      parameters.set(name, String(typeof value === "boolean" ? Number(value) : value));
  }
  return parameters.toString();
}

/// Milliseconds until the address is written that a browser has refused: Safari takes 100 in 30 seconds.
const kRefusedPause = 10000;

/// `inFragment`: for pages from a disk.
/** @param {boolean} inFragment @param {Partial<State>} first what is shown where the address says nothing */
export function createStore(inFragment, first = {}) {
  const read = () => parse(inFragment ? location.hash.slice(1) : location.search.slice(1), first);
  const hasAddress = location.protocol !== "about:";
  let state = read();
  /** @type {((state: State, before: State) => void)[]} */
  const listeners = [];
  /** @param {State} before */
  const tell = (before) => listeners.forEach((listener) => listener(state, before));

  const follow = () => {
    clearTimeout(writing);
    const before = state;
    state = read();
    tell(before);
  };
  addEventListener("popstate", follow);

  /** @param {State} of */
  const address = (of) => {
    const text = write(of, first);
    if (inFragment) return location.pathname + location.search + (text ? "#" + text : "#");
    return text ? "?" + text : location.pathname;
  };

  let writing = 0;
  /// Browsers limit how often a page changes its address: one that is refused is written a while later, or
  /// with the next change, and until then only the address is an old one.
  /** @param {"replaceState" | "pushState"} how */
  const writeAddress = (how) => {
    clearTimeout(writing);
    try {
      history[how](null, "", address(state));
    } catch {
      writing = setTimeout(() => writeAddress("replaceState"), kRefusedPause);
    }
  };

  return {
    get: () => state,
    /// Changes some fields. `typing`: the address changes without a step in the history.
    /** @param {Partial<State>} changes @param {boolean} typing */
    set(changes, typing = false) {
      const before = state;
      // What differs in a word from one sentence does not from another one.
      const isOther = changes.text !== undefined && changes.text !== before.text;
      // The number of a word is not that of a token.
      const inOthers = changes.words !== undefined && changes.words !== before.words;
      state = {...state, ...(isOther ? {beside: ""} : {}), ...(inOthers ? {token: ""} : {}), ...changes};
      if (write(state, first) === write(before, first)) return;
      if (hasAddress) writeAddress(typing ? "replaceState" : "pushState");
      tell(before);
    },
    /** @param {(state: State, before: State) => void} listener */
    subscribe: (listener) => listeners.push(listener),
    /// A link to the same with some fields changed.
    /** @param {Partial<State>} changes */
    link: (changes = {}) =>
        hasAddress ? new URL(address({...state, ...changes}), location.href).href : location.href,
  };
}

/// The token under the pointer or the focus, else the pinned one: marked in every view. Not part of the
/// address.
export function createMarks() {
  /** @type {Spot | null} */
  let hovered = null;
  /** @type {Spot | null} */
  let pinned = null;
  /** @type {((spot: Spot | null) => void)[]} */
  const listeners = [];
  /** @param {Spot | null} [one] @param {Spot | null} [other] */
  const same = (one, other) => one?.side === other?.side && one?.index === other?.index &&
      one?.other?.index === other?.other?.index && one?.other?.side === other?.other?.side;
  /** @param {() => void} apply */
  const change = (apply) => {
    const before = hovered ?? pinned;
    apply();
    if (!same(before, hovered ?? pinned)) listeners.forEach((listener) => listener(hovered ?? pinned));
  };
  return {
    /// {side, index} of a query, `other`: {side, index} of a key that is pointed at with it; or null.
    get: () => hovered ?? pinned,
    /** @param {Spot | null} spot */
    /** @param {Spot | null} spot */
    hover: (spot) => change(() => {
      hovered = spot;
    }),
    /** @param {Spot | null} spot */
    /** @param {Spot | null} spot */
    pin: (spot) => change(() => {
      pinned = spot;
    }),
    /** @param {(spot: Spot | null) => void} listener */
    subscribe: (listener) => listeners.push(listener),
  };
}

/// What a result without changes by hand depends on, as a text to compare.
/** @param {State} state */
export function sentenceKey(state) {
  return JSON.stringify([
    state.pair, state.model, state.from, state.to, state.text, state.beam, state.penalty, state.precision
  ]);
}

/// "green,old house" -> ["green", "old house"]
/** @param {string} text */
export function parseWords(text) { return text.split(",").map((word) => word.trim()).filter((word) => word); }

/// "t3" -> {side: "target", index: 2}
/** @param {string} text @returns {Spot | null} */
export function parseSpot(text) {
  const match = /^([st])(\d+)$/.exec(text);
  return match ? {side: match[1] === "s" ? "source" : "target", index: Number(match[2]) - 1} : null;
}

/** @param {Spot | null} spot */
export function writeSpot(spot) { return spot ? spot.side[0] + (spot.index + 1) : ""; }

/// "cross:3:5,encoder:1:2:0.5" -> [{stack, layer, head}, {stack, layer, head, scale}]: heads that give
/// nothing, and heads whose output is multiplied by a number.
/** @param {string} text @returns {Head[]} */
export function parseHeads(text) {
  return text.split(",").flatMap((each) => {
    const match = /^(encoder|cross|decoder):(\d+):(\d+)(?::(\d+(?:\.\d+)?))?$/.exec(each);
    if (!match) return [];
    const stack = /** @type {Stack} */ (match[1]), scale = Number(match[4] ?? 0);
    return [{stack, layer: Number(match[2]), head: Number(match[3]), ...(scale === 0 ? {} : {scale})}];
  });
}

/** @param {Head[]} heads */
export function writeHeads(heads) {
  return heads.map(({stack, layer, head, scale}) => `${stack}:${layer}:${head}${scale ? `:${scale}` : ""}`)
      .join(",");
}
