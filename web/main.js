// The explorer: connects the sentence, the controls and the views. It shows traces of a server (heed serve),
// or those inside of the file that it is (heed attend --output page.html).

import {addModel, attend, chainOf, classify, createLatest, lacksLanguage, listModels, modelOf, passThrough, readFile} from "./connection/api.js";
import {isSite} from "./connection/connection.js";
import {createModelOpener} from "./connection/model_opener.js";
import {createPlaceControls, createSettings} from "./page/controls.js";
import {element, fadeEdges, hasFocus, messageOf} from "./page/dom.js";
import {examplesOf} from "./page/examples.js";
import {hasKey, keysOf} from "./page/keys.js";
import {kindOf} from "./page/outcome.js";
import {createSentence} from "./page/sentence.js";
import {createTour, tourSentence} from "./page/tour.js";
import {readColours} from "./picture/colours.js";
import {createExport} from "./picture/export.js";
import {Trace} from "./picture/trace.js";
import {createMarks, createStore, kNoChoices, parseHeads, parseSpot, writeSpot} from "./state.js";
import {strings} from "./strings.js";
import {createAllHeads} from "./views/all_heads.js";
import {createChange} from "./views/change.js";
import {createCompare} from "./views/compare.js";
import {createLayers} from "./views/layers.js";
import {createLines} from "./views/lines.js";
import {createNext} from "./views/next.js";
import {createOneHead} from "./views/one_head.js";
import {createOneQuery} from "./views/one_query.js";
import {createPatch} from "./views/patching/view.js";
import {createSearch} from "./views/search.js";
import {createWholeModel} from "./views/whole_model/view.js";
import {createWhy} from "./views/why.js";

const file = readFile();
const store = createStore(file !== null, {words: file?.words ?? false});
/** @type {(Trace | null)[]} */
const traces = file ? file.traces.map(() => null) : [];  // read when they are shown
/** @type {Model[]} */
let models = [];  // of the server
/** @type {Trace | null} */
let current = null;
/** @type {Passed | null} */
let passed = null;  // where the sentence passes through several models: there is no trace then
let colours = readColours();

/// Asks the server for the trace of what is shown; a request for an earlier state is dropped.
const latest = createLatest();
function askServer() {
  const state = store.get();
  const changes = {
    ...(state.target ? {target: state.target} : {}),
    ...(state.off ? {ablate: parseHeads(state.off)} : {})
  };
  return latest((signal) => attend(state, changes, signal));
}

// An address with only a step of the tour.
if (!file && store.get().tour > 0 && !store.get().text) store.set({text: tourSentence(store.get())}, true);

// The first request is under way while the page is made. Where the address has a pair, it waits until it is
// known whether one model translates it, and with options of the search, whether the model translates at all.
/** @param {State} state */
const waits = ({pair, model, beam, penalty}) => Boolean((pair && !model) || beam > 0 || penalty !== "");
let first = !file && store.get().text.trim() && !waits(store.get()) ? askServer() : null;

const marks = createMarks();

/// Those that are worth a word.
/** @param {{weight: number, text: string}[]} weights */
function largest(weights) {
  return weights.sort((a, b) => b.weight - a.weight).slice(0, 4).filter(({weight}) => weight >= 0.01);
}

/// Says why a directory that the user has dropped or chosen cannot be opened.
/** @param {string} name @param {unknown} error */
function sayNotOpened(name, error) { sentence.status(strings.notOpened(name, messageOf(error)), true); }

/// A directory that the user has dropped or chosen, on a site.
/** @param {string} name @param {Map<string, Uint8Array>} files */
async function openModel(name, files) {
  sentence.status(strings.opening(name));
  try {
    await addModel(name, files);
  } catch (error) {
    return sayNotOpened(name, error);
  }
  models = await listModels();
  store.set({...kNoChoices, model: name, pair: "", from: "", to: "", precision: ""});
}

/** @type {App} */
const app = {
  file,
  modelOpener: isSite ? createModelOpener(openModel, sayNotOpened) : null,
  store,
  marks,
  models: () => models,
  colours: () => colours,
  trace: () => /** @type {Trace} */ (current),
  passed: () => passed,
  isWaiting: () => content.classList.contains("waiting"),
  /// The trace between tokens or words, as is chosen.
  shown: () => (current && store.get().words ? current.words() : app.trace()),
  /// Of a classifier, where nothing else is pinned, [CLS]: the token that decides.
  pinned: () => parseSpot(store.get().token) ??
      (current && current.targetTokens.length === 0 ? {side: "source", index: 0} : null),
  /** @param {Spot | null} spot */
  pin(spot) {
    const text = writeSpot(spot && spot.index >= 0 ? {side: spot.side, index: spot.index} : null);
    store.set({token: text === store.get().token ? "" : text});
  },
  /// View, stack, layer and head that are shown, as far as the trace has them. One query is that of one head:
  /// of the first where none is chosen.
  place() {
    const state = store.get(), trace = app.shown(), view = shownView();
    const there = trace.stackNames;
    const stack = there.includes(state.stack) ? state.stack : there[0];
    const layers = trace.layers(stack);
    let layer = state.layer >= 1 && state.layer <= layers ? state.layer : trace.defaultLayer(stack);
    while (layer > 1 && !trace.matrix(stack, layer, 0)) --layer;
    const usual = view === "query" && !trace.averaged ? 1 : 0;
    const head =
        state.head >= 1 && state.head <= trace.heads(stack, layer) && trace.matrix(stack, layer, state.head) ?
        state.head :
        usual;
    return {view, stack, layer, head};
  },
  view: () => made.get(shownView()) ?? null,
  /// Whether a view has something to say about the trace: the search is for translations, the next token for
  /// texts.
  suits(view) {
    if (!current) return view !== "next";
    if (view === "why" || view === "patch")
      return kindOf(current) !== "vectors" || modelOf(store.get())?.task === "masked";
    const translates = current.sourceTokens.length > 0 && current.targetTokens.length > 0;
    return view === "next" ? current.sourceTokens.length === 0 : translates || view !== "search";
  },
  /// Asks the server once more, with another key.
  askAgain: () => start(),
  /// Says that a view has drawn its picture later than it was shown.
  pictureChanged: () => exports.update(),
  /** @param {string} text */
  lead: (text) => {
    lead.textContent = text;
  },
  /** @param {string} what */
  describePicture(what) {
    const {stack, layer, head} = app.place();
    const {source, target} = app.trace();
    return strings.pictureOf(what ?? strings.headName(stack, layer, head), source, target);
  },
  /// What a query looks at, in words.
  describeQuery(matrix, query) {
    const {stack} = app.place(), trace = app.shown(), keys = trace.keyLabels(stack);
    const weights = keys.map(({text}, key) => ({weight: matrix.at(query, key), text}));
    return strings.looksAt(trace.queryLabels(stack)[query].text, largest(weights));
  },
  describeKey(matrix, key) {
    const {stack} = app.place(), trace = app.shown(), queries = trace.queryLabels(stack);
    const weights = queries.map(({text}, query) => ({weight: matrix.at(query, key), text}));
    return strings.isSeenBy(trace.keyLabels(stack)[key].text, largest(weights));
  },
  /// Arrow keys in a picture move the marked token along its sentence, or to the other one.
  moveMark(event) {
    /** @type {Spot} */
    const before = {side: "target", index: -1};
    const trace = app.shown(), now = marks.get() ?? before;
    const lengths = {source: trace.sourceLabels.length, target: trace.targetLabels.length};
    /** @type {Side} */
    const other = now.side === "source" ? "target" : "source";
    /** @type {Spot | null} */
    let next = null;
    if (event.key === "ArrowRight") next = {side: now.side, index: now.index + 1};
    if (event.key === "ArrowLeft") next = {side: now.side, index: now.index - 1};
    if ((event.key === "ArrowUp" || event.key === "ArrowDown") && lengths[other] > 0)
      next = {side: other, index: Math.max(0, Math.min(now.index, lengths[other] - 1))};
    if (event.key === "Enter") app.pin(now);
    if (event.key === "Escape") app.pin(null);
    if (next || event.key === "Enter") event.preventDefault();
    if (next && lengths[next.side] > 0)
      marks.hover({side: next.side, index: Math.max(0, Math.min(lengths[next.side] - 1, next.index))});
  },
  /// What to say where the page has no model to ask.
  /** @param {string} why */
  needsModel: (why) => element(
      "p", {class: "needs"}, why ? `${why} ` : null, `${strings.needsServer} `,
      element("code", {}, file?.command || "heed serve"), ` ${strings.needsServerAfter}`),
};

// ---- The page ---------------------------------------------------------------------------------------------

/** @type {Record<ViewName, (app: App) => View>} */
const makers = {
  lines: createLines,
  heads: createAllHeads,
  head: createOneHead,
  query: createOneQuery,
  layers: createLayers,
  why: createWhy,
  patch: createPatch,
  model: createWholeModel,
  change: createChange,
  search: createSearch,
  compare: createCompare,
  next: createNext,
};
/** @type {Map<ViewName, View>} */
const made = new Map();  // those that were shown

/// The view of the state, or that which every trace has.
function shownView() {
  const {view} = store.get();
  return hasKey(makers, view) && app.suits(view) ? view : "lines";
}

const settings = createSettings(app);
const sentence = createSentence(app, settings.element);
const placeControls = createPlaceControls(app);
const exports = createExport(app);
const tour = createTour(app);
const lead = element("p", {class: "lead"});
const panel = element("div", {id: "panel", role: "tabpanel", tabindex: "-1"});
const tabs = keysOf(makers).map(
    (name) => element(
        "button", {
          type: "button",
          role: "tab",
          id: `tab-${name}`,
          "aria-controls": "panel",
          "data-view": name,
          onclick: () => store.set({view: name}),
        },
        strings.views[name]));
const tabList =
    fadeEdges(element("div", {class: "tabs", role: "tablist", "aria-label": strings.viewLabel}, ...tabs));
tabList.addEventListener("keydown", (event) => {
  const all = tabs.filter((tab) => !tab.hidden), at = all.findIndex(hasFocus);
  const next = {
    ArrowRight: (at + 1) % all.length,
    ArrowLeft: (at + all.length - 1) % all.length,
    Home: 0,
    End: all.length - 1
  }[event.key];
  if (next === undefined) return;
  event.preventDefault();
  all[next].focus();
  all[next].click();
});

const content = element(
    "main", {id: "main"}, sentence.element, tour.element, tabList,
    element("div", {class: "stage"}, lead, placeControls.element, panel), exports.element);
document.body.prepend(
    element(
        "a", {
          class: "skip",
          href: "#panel",
          onclick: (event) => {
            event.preventDefault();
            panel.focus();
          }
        },
        strings.skip),
    element("header", {}, element("h1", {}, strings.title), element("p", {}, strings.subtitle), tour.start),
    content,
    element(
        "footer", {},
        file       ? strings.footerOfFile :
            isSite ? strings.footerOfSite :
                     strings.footer));

/// Drops what the view that is shown asks for.
let leaveView = () => {};

function showView() {
  const name = shownView();
  for (const tab of tabs) {
    const of = tab.dataset.view ?? "", chosen = of === name;
    tab.hidden = !app.suits(of);
    if (chosen)
      tabList.scrollLeft = tab.offsetLeft - tabList.offsetLeft - (tabList.clientWidth - tab.clientWidth) / 2;
    tab.setAttribute("aria-selected", String(chosen));
    tab.tabIndex = chosen ? 0 : -1;
  }
  panel.setAttribute("aria-labelledby", `tab-${name}`);
  content.classList.toggle("empty", !current);
  if (!current) return;
  const view = made.get(name) ?? makers[name](app);
  made.set(name, view);
  if (panel.firstChild !== view.element) {
    leaveView();
    leaveView = () => view.leave?.();
    panel.replaceChildren(view.element);
  }
  const translates = kindOf(current) === "translation";
  app.lead(name === "change" && !translates ? strings.leadSwitching : strings.lead[name]);
  placeControls.element.hidden =
      ["heads", "layers", "why", "patch", "model", "change", "search"].includes(name);
  placeControls.update();
  view.update();
}

let drawnWidth = 0;
/// Draws everything as the state says.
function update() {
  drawnWidth = content.clientWidth;
  marks.pin(app.pinned());
  settings.update();
  tour.update();
  sentence.update();
  showView();
  if (current) exports.update();
  showMarks();
}

let marking = false;
/// At most once a frame, however fast the pointer moves.
function showMarks() {
  if (marking) return;
  marking = true;
  requestAnimationFrame(() => {
    marking = false;
    sentence.mark();
    if (current) app.view()?.mark();
  });
}

// ---- Where traces come from -------------------------------------------------------------------------------

const latestClasses = createLatest();
/** @type {(keyof State)[]} */
const kAsked = [
  "pair", "model", "from", "to", "text", "target", "beam", "penalty", "precision", "prefix", "require",
  "forbid", "off"
];

/// Shows a translation through other languages: what it says, without the attention of one model.
/** @param {ChainJson} chain */
async function askChain(chain) {
  first = null;
  content.classList.add("waiting");
  const answer = await latest((signal) => passThrough(store.get(), signal));
  if (!answer) return;
  content.classList.remove("waiting");
  current = null;
  passed = answer.result ? {...answer.result, chain} : null;
  sentence.status(answer.failure ?? "", answer.failure !== undefined);
  sentence.showClasses(null);
  update();
}

/// Shows the classes of a text, if the model of its trace has some.
/** @param {State} state @param {Trace} trace */
async function showClasses(state, trace) {
  if (kindOf(trace) !== "classification") return sentence.showClasses(null);
  const ablate = state.off ? {ablate: parseHeads(state.off)} : {};
  const answer = await latestClasses((signal) => classify(state, signal, ablate));
  if (answer) sentence.showClasses(answer.result ?? null);
}

/// Takes away what is shown, which is of another text.
function showNothing() {
  current = passed = null;
  sentence.showClasses(null);
  update();
}

async function ask() {
  const state = store.get();
  leaveView();
  latestClasses(() => null);  // classes of an earlier text are not wanted any more
  if (!state.text.trim()) {
    latest(() => null);  // drops a request in flight
    content.classList.remove("waiting");
    sentence.status("");
    return showNothing();
  }
  sentence.status(strings.working);
  const chain = chainOf(state);
  if (chain) return askChain(chain);
  const asked = first ?? askServer();
  first = null;
  content.classList.add("waiting");
  const answer = await asked;
  if (!answer) return;  // a newer one is on its way
  content.classList.remove("waiting");
  if (answer.failure !== undefined) {
    showNothing();
    return sentence.status(answer.failure, true);
  }
  passed = null;
  const trace = current = answer.result;
  if (!performance.getEntriesByName("first view").length)
    requestAnimationFrame(() => performance.mark("first view"));
  sentence.status(trace.score === null ? "" : strings.score(trace.score));
  update();
  showClasses(state, trace);
}

/** @param {TraceFile} from */
function read(from) {
  const number = Math.max(1, Math.min(traces.length, store.get().sentence));
  current = traces[number - 1] ??= Trace.fromJson(from.traces[number - 1]);
  update();
}

/// Whether a state only names the model that the server has taken without being told.
/** @param {State} state @param {State} before */
function onlyNamesTheFirst(state, before) {
  return !before.pair && !before.model && modelOf(state) === modelOf(before) &&
      kAsked.every((name) => ["pair", "model"].includes(name) || state[name] === before[name]);
}

store.subscribe((state, before) => {
  marks.pin(app.pinned());
  if (file) return read(file);
  if (kAsked.some((name) => state[name] !== before[name]) && !onlyNamesTheFirst(state, before)) {
    sentence.update();
    return ask();
  }
  update();
});
marks.subscribe(showMarks);

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  colours = readColours();
  update();
});
new ResizeObserver(() => {
  if (Math.abs(content.clientWidth - drawnWidth) >= 2) update();
}).observe(content);

let wantsExample = !file && !store.get().text;  // a page that is opened without a text

/// Asks the server for what is shown, and which models it has.
function start() {
  const waited = waits(store.get());
  if (!waited) ask();
  listModels()
      .then((found) => {
        models = found;
        if (!store.get().pair && !store.get().model) {
          const chosen = modelOf(store.get()), ofTour = tour.model();
          if (ofTour)
            store.set({model: ofTour}, true);
          else if (chosen)
            store.set(chosen.pair ? {pair: chosen.pair} : {model: chosen.id}, true);
        }
        if (wantsExample && !store.get().text) {
          store.set({text: examplesOf(store.get())[0]}, true);
          sentence.source.select();  // what is typed takes its place
        }
        wantsExample = false;
        sentence.showModels(models, store.get());
        update();  // settings and comparison list models too
        // The first request was sent before it was known what this model has to be told.
        if (waited || lacksLanguage(store.get())) ask();
      })
      .catch((error) => sentence.status(error.message, true));
}

marks.pin(app.pinned());
if (file) {
  read(file);
} else {
  store.subscribe((state) => sentence.showModels(models, state));
  if (!store.get().text) sentence.source.focus();
  update();
  start();
}
