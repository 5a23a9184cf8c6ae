// Where traces come from: the server that the page was loaded from, or the file that the page is.

import {strings} from "./strings.js";
import {Trace} from "./trace.js";

class RequestFailed extends Error {}

/// The traces inside of a page from `heed attend --output page.html`, or null.
export function readFile() {
  const script = document.getElementById("traces");
  return script ? JSON.parse(script.textContent) : null;
}

/// A key for servers that want one: kept until the tab is closed, and never in the address.
const kKeyName = "heed-api-key";

export function readKey() { return sessionStorage.getItem(kKeyName) ?? ""; }

export function keepKey(key) { sessionStorage.setItem(kKeyName, key); }

async function request(path, body, signal) {
  const headers = readKey() ? {"Authorization": `Bearer ${readKey()}`} : {};
  const post = {method: "POST", body: JSON.stringify(body)};
  if (body !== undefined) headers["Content-Type"] = "application/json";
  let answer;
  try {
    answer = await fetch(path, {...(body === undefined ? {} : post), headers, signal});
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new RequestFailed(strings.unreachable);
  }
  const json = await answer.json().catch(() => ({}));
  if (!answer.ok)
    throw new RequestFailed(strings.failed(json.error?.message ?? json.error ?? answer.statusText));
  return json;
}

/// What a request says of the state: model, options, and what was changed by hand.
function options(state) {
  const body = {};
  if (state.model)
    body.model = state.model;
  else if (state.pair)
    body.pair = state.pair;
  if (state.beam > 0) body.beam = state.beam;
  if (state.penalty !== "") body.length_penalty = Number(state.penalty);
  if (state.precision) body.precision = state.precision;
  return body;
}

/// A trace of the server. `changes`: {target, ablate, model, ...} instead of the state's.
export async function attend(state, changes, signal) {
  const prefix = state.prefix && !changes.target ? {prefix: state.prefix} : {};
  const body = {text: state.text, ...options(state), ...prefix, packed: true, details: true, ...changes};
  return Trace.fromJson(await request("v1/attend", body, signal));
}

export async function searchTree(state, signal) {
  return request(
      "v1/search", {text: state.text, ...options(state), ...(state.prefix ? {prefix: state.prefix} : {})},
      signal);
}

export async function nextTokens(state, signal) {
  return request(
      "v1/completions", {
        ...(state.model ? {model: state.model} : {}),
        prompt: state.text,
        max_tokens: 1,
        logprobs: 20,
        temperature: 0,
      },
      signal);
}

/// {label: probability} of a classifier.
export async function classify(state, signal) {
  const body = {text: state.text, ...(state.model ? {model: state.model} : {})};
  return (await request("v1/classify", body, signal)).results[0].probabilities;
}

/// [{id, pair, task}] of the models that the server has.
export async function listModels() {
  const {data} = await request("v1/models");
  return data.map((model) => ({
                    id: model.id,
                    pair: model.pair ?? "",
                    task: model.task ?? "translation",
                    precisions: model.precisions ?? []
                  }));
}

/// Runs the newest of many requests: a newer one drops the one in flight.
export function createLatest() {
  let controller = null;
  return async (work) => {
    controller?.abort();
    const own = controller = new AbortController();
    try {
      const result = await work(own.signal);
      return own === controller ? {result} : null;
    } catch (error) {
      if (error.name === "AbortError" || own !== controller) return null;
      if (error instanceof RequestFailed) return {failure: error.message};
      throw error;
    }
  };
}
