// A site's connection to its workers (web/connection/site_connection.js), with workers that are none: run with node.

import assert from "node:assert/strict";
import {test} from "node:test";

const kModel = {
  id: "de-en",
  pair: "de-en",
  source: "de",
  target: "en",
  task: "translation",
  type: "marian",
  precisions: ["int8"]
};
const encode = (value) => new TextEncoder().encode(JSON.stringify(value));

let isOffline = false;

/// A worker that says which one it is, the first being 1, and which models it has; offline, its script does not load.
class StandIn {
  static made = 0;
  number = ++StandIn.made;
  models = [];
  isDead = false;
  listeners = {};

  constructor() {
    if (!isOffline) return;
    this.isDead = true;
    setTimeout(() => this.listeners.error({message: ""}));
  }
  addEventListener(name, listener) { this.listeners[name] = listener; }
  terminate() { this.isDead = true; }
  postMessage({number, fields}) {
    if (this.isDead) return;
    if (fields.open) this.models.push(fields.open.name);
    const answer = {status: 200, headers: {}, body: encode({worker: this.number, models: this.models})};
    setTimeout(() => this.isDead || this.listeners.message({data: {number, answer}}));
  }
}

globalThis.Worker = StandIn;
globalThis.fetch = async () => new Response(encode({object: "list", data: [kModel]}));
const {connectToModule} = await import("../../web/connection/site_connection.js");

const connect = (offline = false) => {
  isOffline = offline;
  StandIn.made = 0;
  return connectToModule("http://localhost/models/models.json");
};
const ask = async (connection, path) => {
  const {signal} = new AbortController();
  const answer = await connection.ask(path, {method: "POST", body: JSON.stringify({text: "Hallo"}), signal});
  return {status: answer.status, ...await answer.json()};
};

test("a worker that cannot be loaded is tried again", {timeout: 60000}, async () => {
  const connection = await connect(true);
  for (let n = 0; n < 3; ++n) {
    const {status, error} = await ask(connection, "v1/attend");
    assert.deepEqual([status, error], [500, "heed/worker.js cannot be loaded"]);
  }
  isOffline = false;
  const {status, models} = await ask(connection, "v1/attend");
  assert.deepEqual([status, models], [200, ["de-en"]]);
});

test("without a second worker the first one answers long questions", {timeout: 60000}, async () => {
  const connection = await connect();
  assert.equal((await ask(connection, "v1/attend")).worker, 1);
  isOffline = true;
  for (let n = 0; n < 3; ++n) assert.equal((await ask(connection, "v1/attribute")).worker, 1);
  assert.equal((await ask(connection, "v1/attend")).worker, 1);
  isOffline = false;
  const {worker, models} = await ask(connection, "v1/attribute");
  assert.notEqual(worker, 1);
  assert.deepEqual(models, ["de-en"]);
});
