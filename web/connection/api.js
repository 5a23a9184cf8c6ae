// Where traces come from: the server or the module (connection.js), or the file that the page is.

import {Trace} from "../picture/trace.js";
import {parseHeads, parseWords} from "../state.js";
import {strings} from "../strings.js";

import {connection, isSite} from "./connection.js";
import {chooseModel, languagesOfPair, readModel} from "./models.js";

/// `isFinal`: whether the same request will never be answered otherwise.
class RequestFailed extends Error {
  /** @param {string} message */
  constructor(message, isFinal = false) {
    super(message);
    this.isFinal = isFinal;
  }
}

/// Whether an error says that the same request will never be answered otherwise.
/** @param {unknown} error */
export function isFinal(error) { return error instanceof RequestFailed && error.isFinal; }

/// The traces inside of a page from `heed attend --output page.html`, or null.
/** @returns {TraceFile | null} */
export function readFile() {
  const script = document.getElementById("traces");
  return script ? JSON.parse(script.textContent ?? "") : null;
}

/// A key for servers that want one: kept until the tab is closed, and never in the address.
const kKeyName = "heed-api-key";

let heldKey = "";  // of this page, where the browser keeps nothing for it

export function readKey() {
  try {
    return sessionStorage.getItem(kKeyName) ?? "";
  } catch {
    return heldKey;
  }
}

/** @param {string} key */
export function keepKey(key) {
  heldKey = key;
  try {
    sessionStorage.setItem(kKeyName, key);
  } catch { /* it is kept until the page is left */
  }
}

/** @param {unknown} error */
function isAbort(error) { return error instanceof DOMException && error.name === "AbortError"; }

/// What comes of the connection, unless that breaks off.
/** @template Result @param {Promise<Result>} coming @returns {Promise<Result>} */
async function orUnreachable(coming) {
  try {
    return await coming;
  } catch (error) {
    if (isAbort(error)) throw error;
    throw new RequestFailed(isSite ? strings.notLoaded(String(error)) : strings.unreachable);
  }
}

/** @param {string} path @param {object} [body] @param {AbortSignal} [signal] */
async function send(path, body, signal) {
  /** @type {Record<string, string>} */
  const headers = readKey() ? {"Authorization": `Bearer ${readKey()}`} : {};
  const post = {method: "POST", body: JSON.stringify(body)};
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const answer = await orUnreachable(
      (async () => (await connection).ask(path, {...(body === undefined ? {} : post), headers, signal}))());
  if (answer.ok) return answer;
  if (answer.headers.has("X-Max-Tokens")) {
    const [tokens, most] = ["X-Tokens", "X-Max-Tokens"].map((name) => answer.headers.get(name));
    throw new RequestFailed(strings.tooLong(tokens ?? "", most ?? ""));
  }
  /** @type {ErrorJson} */
  const {error} = await answer.json().catch(() => ({}));
  const message = typeof error === "object" ? error.message : error ?? answer.statusText;
  throw new RequestFailed((isSite ? strings.refused : strings.failed)(message), answer.status === 400);
}

/// The JSON of an answer: of the form that routes.d.ts says of the path.
/** @param {string} path @param {object} [body] @param {AbortSignal} [signal] */
async function request(path, body, signal) {
  const answer = await send(path, body, signal);
  return orUnreachable(answer.json());
}

/** @type {Model[]} */
let known = [];  // the server's models
/** @type {ChainJson[]} */
let chains = [];  // the pairs for which a text passes through several of them

/// The model that a state names, or the one that the server takes without a name. Null before the models are
/// known.
/** @param {State} state @returns {Model | null} */
export function modelOf(state) { return chooseModel(known, state); }

export function listedChains() { return chains; }

/// The chain of models that a state names by its pair, or null.
/** @param {State} state @returns {ChainJson | null} */
export function chainOf(state) {
  if (state.model || modelOf(state)) return null;
  return chains.find((chain) => chain.pair === state.pair) ?? null;
}

/// The languages between which the model of a state translates, {from, to}: those of the state where the
/// model has several, else its own. Without a choice: what the model takes by itself, else English, else
/// Spanish, else the first: another than the source.
/** @param {State} state @returns {{from: string, to: string}} */
export function languagesOf(state) {
  const model = modelOf(state);
  if (!model) return {from: state.from, to: state.to};
  /** @param {string} wanted @param {string[]} own @param {string} usual @param {string} other */
  const choose = (wanted, own, usual, other) => own.length < 2 ?
      own[0] ?? "" :
      wanted || usual || (["en", "es", ...own].find((each) => own.includes(each) && each !== other) ?? "");
  const wanted = languagesOfPair(model, state.pair) ?? state;
  const from = choose(wanted.from, model.sources, model.source, "");
  return {from, to: choose(wanted.to, model.targets, model.target, from)};
}

/// Whether the model of a state takes no language by itself, and the state names none either.
/** @param {State} state */
export function lacksLanguage(state) {
  const model = modelOf(state);
  if (!model || state.pair) return false;
  /** @param {string[]} own @param {string} usual @param {string} wanted */
  const lacks = (own, usual, wanted) => own.length > 1 && !usual && !wanted;
  return lacks(model.sources, model.source, state.from) || lacks(model.targets, model.target, state.to);
}

/// Which languages a request for a state names, as its fields: those of which the model has several.
/** @param {State} state @returns {{source_language?: string, target_language?: string}} */
export function chosenLanguages(state) {
  if (state.pair) return {};
  const model = modelOf(state), {from, to} = languagesOf(state);
  /** @param {"sources" | "targets"} side */
  const several = (side) => !model || model[side].length > 1;
  return {
    ...(from && several("sources") ? {source_language: from} : {}),
    ...(to && several("targets") ? {target_language: to} : {})
  };
}

/// The model of a request, in the chosen languages and precision.
/** @param {State} state */
function modelOptions(state) {
  /** @type {Record<string, string | number>} */
  const body = {};
  if (state.model)
    body.model = state.model;
  else if (state.pair)
    body.pair = state.pair;
  Object.assign(body, chosenLanguages(state));
  if (state.precision) body.precision = state.precision;
  return body;
}

/// What a request says of the state: model, and options of the search if the model translates. `target`: a
/// translation that need not be searched for.
/** @param {State} state @param {string} [target] */
function options(state, target) {
  const body = modelOptions(state), model = modelOf(state);
  if (model && model.task !== "translation") return body;
  if (state.beam > 0 && !target) body.beam = state.beam;
  if (state.penalty !== "") body.length_penalty = Number(state.penalty);
  return body;
}

/// What the translation has to begin with, to contain and to avoid.
/** @param {State} state */
function constraints(state) {
  /** @type {{prefix?: string, require?: string[], forbid?: string[]}} */
  const body = {};
  if (state.prefix) body.prefix = state.prefix;
  if (state.require) body.require = parseWords(state.require);
  if (state.forbid) body.forbid = parseWords(state.forbid);
  return body;
}

/// What a request for attention says.
/** @param {State} state @param {AttendChanges} changes */
function attention(state, changes) {
  const {target} = changes;
  return {text: state.text, ...options(state, target), ...(target ? {} : constraints(state)), ...changes};
}

/// A translation through other languages, for the pair of a chain. It is one sentence: of a text in lines the
/// server says neither the steps nor the confidence.
/** @param {State} state @param {AbortSignal} signal @returns {Promise<PassedJson>} */
export async function passThrough(state, signal) {
  const text = state.text.replaceAll("\n", " ");
  const body = {text, confidence: true, ...options(state), ...constraints(state)};
  /** @type {TranslationsJson} */
  const {translations} = await request("v1/translate", body, signal);
  return translations[0];
}

/// The body of a request for a trace.
/** @param {State} state @param {AttendChanges} changes */
export function tracingOf(state, changes) {
  return {packed: true, details: true, ...attention(state, changes)};
}

/// A trace of the server. `body`: tracingOf().
/** @param {object} body @param {AbortSignal} signal */
export async function trace(body, signal) { return Trace.fromJson(await request("v1/attend", body, signal)); }

/** @param {State} state @param {AttendChanges} changes @param {AbortSignal} signal */
export async function attend(state, changes, signal) { return trace(tracingOf(state, changes), signal); }

/// The picture that the library draws.
/**
 * @param {State} state
 * @param {AttendChanges} changes
 * @param {{format: string, stack?: Stack, layer?: string, head?: string}} picture
 */
export async function attentionPicture(state, changes, picture) {
  const body = {...attention(state, changes), words: state.words, picture};
  const answer = await send("v1/attend", body);
  return orUnreachable(answer.blob());
}

/// The body of a request for the search, which a target that is written by hand does not change.
/** @param {State} state */
export function searchOf(state) {
  const off = parseHeads(state.off), ablate = off.length > 0 ? {ablate: off} : {};
  return {text: state.text, ...options(state), ...constraints(state), ...ablate};
}

/// `body`: searchOf().
/** @param {object} body @param {AbortSignal} signal @returns {Promise<SearchJson>} */
export async function searchTree(body, signal) { return request("v1/search", body, signal); }

/// Whether a translation is the one that the model gives without being told anything.
/** @param {State} state */
function isUnchanged({target, beam, penalty, prefix, require, forbid, off}) {
  return beam === 0 && [target, penalty, prefix, require, forbid, off].every((each) => each === "");
}

/// The body of a request that looks into the model while it reads the sentences of a trace.
/** @param {State} state @param {Trace} trace @returns {Record<string, string | number>} */
export function readingOf(state, trace) {
  const translates = trace.sourceTokens.length > 0 && trace.targetTokens.length > 0;
  return {
    text: state.text,
    ...modelOptions(state),
    ...(translates && !isUnchanged(state) ? {target: trace.target} : {})
  };
}

/// The states of the layers. `body`: readingOf(), `top` and `details`.
/** @param {object} body @param {AbortSignal} signal @returns {Promise<LensJson>} */
export async function lens(body, signal) { return request("v1/lens", body, signal); }

/// How much each token contributes to a prediction. `body`: readingOf(), `method`, `token` and `instead`.
/** @param {object} body @param {AbortSignal} signal @returns {Promise<AttributionJson>} */
export async function attribution(body, signal) { return request("v1/attribute", body, signal); }

/// How much of the difference between two texts each part of the model carries. `body`: readingOf(), `other`,
/// `what`, `token` and `instead`.
/** @param {object} body @param {AbortSignal} signal @returns {Promise<PatchingJson>} */
export async function patch(body, signal) { return request("v1/patch", body, signal); }

/// What a request to an encoder or a language model says of the state: model and precision.
/** @param {State} state */
function readerOptions(state) {
  return {
    ...(state.model ? {model: state.model} : {}),
    ...(state.precision ? {precision: state.precision} : {})
  };
}

/// The body of a request for the next token: with all heads, since the route switches none off.
/** @param {State} state */
export function continuationOf(state) {
  return {prompt: state.text, max_tokens: 1, logprobs: 20, temperature: 0, ...readerOptions(state)};
}

/// The probabilities of the next token. `body`: continuationOf().
/** @param {object} body @param {AbortSignal} signal @returns {Promise<CompletionsJson>} */
export async function nextTokens(body, signal) { return request("v1/completions", body, signal); }

/// {label: probability} of a classifier.
/**
 * @param {State} state
 * @param {AbortSignal} signal
 * @param {{ablate?: Head[]}} changes
 * @returns {Promise<Record<string, number>>}
 */
export async function classify(state, signal, changes = {}) {
  const body = {text: state.text, ...readerOptions(state), ...changes};
  /** @type {ClassesJson} */
  const {results} = await request("v1/classify", body, signal);
  return results[0].probabilities;
}

/// The body of a request for the vectors of texts.
/** @param {State} state @param {string[]} texts @param {{ablate?: Head[]}} changes */
export function embeddingOf(state, texts, changes = {}) {
  return {input: texts, ...readerOptions(state), ...changes};
}

/// The vectors of texts. `body`: embeddingOf().
/** @param {object} body @param {AbortSignal} signal @returns {Promise<number[][]>} */
export async function embed(body, signal) {
  /** @type {EmbeddingsJson} */
  const {data} = await request("v1/embeddings", body, signal);
  return data.map((each) => each.embedding);
}

/// The models that the server has.
/** @returns {Promise<Model[]>} */
export async function listModels() {
  /** @type {ModelsJson} */
  const {data, chains: listed} = await request("v1/models");
  chains = listed ?? [];
  known = data.map(readModel);
  return known;
}

/// Opens a model of files by their paths in its directory, on a site without a server. Rejects with the
/// reason if it cannot.
/** @param {string} name @param {Map<string, Uint8Array>} files */
export async function addModel(name, files) { await (await connection).add?.(name, files); }

/// Asks for what a view shows, and for the same only once.
/**
 * @template Result
 * @param {(body: object, signal: AbortSignal) => Promise<Result>} send
 */
export function createQuestion(send) {
  const latest = createLatest();
  let asked = "";
  /** @type {Answer<Result> | null} */
  let known = null;
  return {
    /// The answer to a request, or null where there is none yet: then it is on its way, and the call that
    /// has sent it gets it, if no other request was sent meanwhile.
    /** @param {object} body @returns {Promise<Answer<Result> | null>} */
    async ask(body) {
      const wanted = JSON.stringify(body);
      if (wanted === asked) return known;
      asked = wanted;
      known = null;
      const answer = await latest((signal) => send(body, signal));
      if (!answer) return null;
      if (answer.failure !== undefined) asked = "";  // it is tried again
      return known = answer;
    },
    /// Drops the request in flight.
    drop() {
      if (!known) asked = "";
      latest(() => null);
    },
  };
}

/// Runs the newest of many requests: a newer one drops the one in flight.
/**
 * @returns {<Result>(work: (signal: AbortSignal) => Result | Promise<Result>) => Promise<Answer<Result> |
 *     null>}
 */
export function createLatest() {
  /** @type {AbortController | null} */
  let controller = null;
  return async (work) => {
    controller?.abort();
    const own = controller = new AbortController();
    try {
      const result = await work(own.signal);
      return own === controller ? {result} : null;
    } catch (error) {
      if (isAbort(error) || own !== controller) return null;
      if (error instanceof RequestFailed) return {failure: error.message};
      throw error;
    }
  };
}
