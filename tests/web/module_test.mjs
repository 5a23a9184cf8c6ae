// What calls heed.wasm (web/heed/), with a small module in its place that keeps everything above 2 GB: run with node.

import assert from "node:assert/strict";
import {cpSync, mkdtempSync, rmSync, writeFileSync} from "node:fs";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {after, test} from "node:test";
import {fileURLToPath, pathToFileURL} from "node:url";

const kRequest = 0x80000000, kAnswer = 0x80001000, kRandom = 0x80002000;  // addresses
const kPages = 0x8001;                                                    // of 64 KB: 2 GB and one more
const kRandomBytes = 32;
const answer = new TextEncoder().encode('{"status": 200, "headers": {}}\nHello');

/// LEB128 of a number of 32 bits.
const unsigned = (value) => value < 128 ? [value] : [value & 127 | 128, ...unsigned(value >>> 7)];
const signed = (value) => value >= -64 && value < 64 ? [value & 127] : [value & 127 | 128, ...signed(value >> 7)];
const named = (name) => [...unsigned(name.length), ...new TextEncoder().encode(name)];
const list = (items) => [...unsigned(items.length), ...items.flat()];
const section = (number, content) => [number, ...unsigned(content.length), ...content];

const kInt = 0x7f, kType = 0x60, kConst = 0x41, kCall = 0x10, kDrop = 0x1a, kEnd = 0x0b;
const constant = (value) => [kConst, ...signed(value | 0)];
const body = (...code) => {
  const all = [0, ...code.flat(), kEnd];  // no locals
  return [...unsigned(all.length), ...all];
};

/// heed_answer() asks for random bytes at kRandom.
const standIn = Uint8Array.from([
  0, ...new TextEncoder().encode("asm"), 1, 0, 0, 0,
  ...section(1, list([[kType, 0, 0], [kType, 1, kInt, 1, kInt], [kType, 2, kInt, kInt, 1, kInt], [kType, 0, 1, kInt]])),
  ...section(2, list([[...named("wasi_snapshot_preview1"), ...named("random_get"), 0, 2]])),
  ...section(3, list([[0], [1], [2], [3]])),
  ...section(5, list([[0, ...unsigned(kPages)]])),
  ...section(7, list([
    [...named("memory"), 2, 0], [...named("_initialize"), 0, 1], [...named("heed_request"), 0, 2],
    [...named("heed_answer"), 0, 3], [...named("heed_answer_bytes"), 0, 4]
  ])),
  ...section(10, list([
    body(), body(constant(kRequest)),
    body(constant(kRandom), constant(kRandomBytes), [kCall, 0, kDrop], constant(answer.length)),
    body(constant(kAnswer))
  ])),
  ...section(11, list([[0, ...constant(kAnswer), kEnd, ...unsigned(answer.length), ...answer]]))
]);

const folder = mkdtempSync(join(tmpdir(), "heed-module-"));
after(() => rmSync(folder, {recursive: true}));
cpSync(fileURLToPath(new URL("../../web/heed", import.meta.url)), join(folder, "heed"), {recursive: true});
writeFileSync(join(folder, "package.json"), '{"type": "module"}');
const load = (name) => import(pathToFileURL(join(folder, "heed", name)).href);
const {createCalls} = await load("calls.js"), {HeedModule} = await load("module.js");

test("a module that cannot be loaded is tried again", async () => {
  const call = createCalls(), request = {method: "GET", path: "/v1/models", body: ""};
  await assert.rejects(call(request), /heed\.wasm is not beside heed\.js/);
  await assert.rejects(call(request), /heed\.wasm is not beside heed\.js/);
  writeFileSync(join(folder, "heed.wasm"), standIn);
  assert.equal((await call(request)).status, 200);
});

test("memory above 2 GB", async () => {
  writeFileSync(join(folder, "heed.wasm"), standIn);
  const module = await HeedModule.start(), found = module.ask("GET", "/v1/models", "");
  assert.equal(found.status, 200);
  assert.equal(new TextDecoder().decode(found.body), "Hello");
  assert.match(new TextDecoder().decode(module.wasi.bytes(kRequest, 40).slice()), /^\{"method":"GET",/);
  assert.ok(module.wasi.bytes(kRandom, kRandomBytes).some((byte) => byte !== 0));
});
