// What the explorer asks a server for (web/connection/api.js): run with node.

import assert from "node:assert/strict";
import {test} from "node:test";

globalThis.document = {getElementById: () => null};
globalThis.HTMLLinkElement = class {};
globalThis.sessionStorage = {getItem: () => null};
const kModels = [
  {id: "de-en", pair: "de-en", source: "de", target: "en", task: "translation"},
  {id: "text", task: "text"}
];
const asked = [];
globalThis.fetch = async (path, {headers, body} = {}) => {
  asked.push({path, headers, body: body && JSON.parse(body)});
  return new Response(JSON.stringify({object: "list", data: kModels, translations: [{translation: "b"}]}));
};
globalThis.location = {protocol: "http:", search: "", hash: ""};
const {keepKey, listModels, passThrough, readKey, searchOf, tracingOf} = await import("../../web/connection/api.js");
const {kDefaults} = await import("../../web/state.js");

/// The options of the search in a request for a trace.
const searched = (state, changes = {}) => {
  const {beam, length_penalty: penalty} = tracingOf({...kDefaults, text: "a", ...state}, changes);
  return [beam, penalty];
};

test("options of the search are those of translations", async () => {
  const options = {beam: 3, penalty: "0.5"};
  await listModels();
  assert.deepEqual(searched({model: "de-en", ...options}), [3, 0.5]);
  assert.deepEqual(searched(options), [3, 0.5]);
  assert.deepEqual(searched({model: "text", ...options}), [undefined, undefined]);
  assert.deepEqual(searched({model: "de-en", ...options}, {target: "b"}), [undefined, 0.5]);
});

test("the search has the same heads off as the translation", () => {
  const state = {...kDefaults, text: "a", off: "cross:1:2,encoder:1:1:0.5", target: "b"};
  const heads = [{stack: "cross", layer: 1, head: 2}, {stack: "encoder", layer: 1, head: 1, scale: 0.5}];
  assert.deepEqual(searchOf(state).ablate, heads);
  assert.equal("ablate" in searchOf({...state, off: ""}), false);
});

test("a text that passes through several models is one sentence", async () => {
  const {translation} = await passThrough({...kDefaults, text: "eins\nzwei\n\ndrei", pair: "de-es"});
  assert.equal(translation, "b");
  const {path, body} = asked.pop();
  assert.deepEqual([path, body.text, body.confidence], ["v1/translate", "eins zwei  drei", true]);
});

test("a browser that keeps nothing for the page", async () => {
  const refuse = () => {
    throw new DOMException("storage is blocked", "SecurityError");
  };
  const usual = Object.getOwnPropertyDescriptor(globalThis, "sessionStorage");
  Object.defineProperty(globalThis, "sessionStorage", {configurable: true, get: refuse});
  try {
    assert.equal((await listModels()).length, kModels.length);
    assert.equal("Authorization" in asked.pop().headers, false);
    keepKey("secret");
    assert.equal(readKey(), "secret");
    await listModels();
    assert.equal(asked.pop().headers.Authorization, "Bearer secret");
  } finally {
    Object.defineProperty(globalThis, "sessionStorage", usual);
  }
});
