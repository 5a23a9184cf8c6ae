// heed.wasm with the files of a model: calls it on the thread that it is on. heed.js puts it into a worker.
import {Wasi} from "./wasi.js";

export class HeedModule {
  /// `code`: the bytes of heed.wasm. `files`: those of the model, by name.
  /** @param {BufferSource} code @param {Map<string, Uint8Array>} files */
  static async start(code, files) {
    const wasi = new Wasi(new Map([...files].map(([name, bytes]) => [`model/${name}`, bytes])));
    const {instance} = await WebAssembly.instantiate(code, {wasi_snapshot_preview1: wasi.imports()});
    wasi.memory = /** @type {WebAssembly.Memory} */ (instance.exports.memory);
    const module = new HeedModule(instance.exports, wasi.memory);
    module.exports._initialize();
    return module;
  }

  /** @param {any} exports @param {WebAssembly.Memory} memory */
  constructor(exports, memory) {
    this.exports = exports;
    this.memory = memory;
  }

  /// Throws an Error with the command's words.
  /** @param {string} method @param {object} fields @returns {any} */
  call(method, fields) {
    const request = new TextEncoder().encode(JSON.stringify({method, ...fields}));
    const at = this.exports.heed_request(request.length);
    new Uint8Array(this.memory.buffer, at, request.length).set(request);
    const size = this.exports.heed_answer(at, request.length);
    const answer = new Uint8Array(this.memory.buffer, this.exports.heed_answer_bytes(), size);
    const {result, error} = JSON.parse(new TextDecoder().decode(answer.slice()));
    if (error !== undefined) throw new Error(error);
    return result;
  }
}

/// The files that a model directory may have; `files.json` in it names others.
const kFiles = [
  "config.json", "generation_config.json", "tokenizer_config.json", "model.safetensors",
  "shortlist.safetensors", "source.spm", "target.spm", "vocab.json"
];

/// A file of the disk, in Node, whose fetch() reads none.
/** @param {string} url @returns {Promise<Uint8Array | null>} */
async function readFile(url) {
  const library = "node:fs/promises", {readFile: read} = await import(library);
  return read(new URL(url)).catch((/** @type {{code?: string}} */ error) => {
    if (error.code === "ENOENT") return null;
    throw error;
  });
}

/** @param {string} url @returns {Promise<Uint8Array | null>} */
async function fetchFile(url) {
  if (url.startsWith("file:")) return readFile(url);
  const answer = await fetch(url);
  if (answer.status === 404) return null;
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${answer.statusText}`);
  return new Uint8Array(await answer.arrayBuffer());
}

/// Loads a model from the address of its directory, and heed.wasm from that of this file.
/** @param {string} url @param {object} options @returns {Promise<HeedModule>} */
export async function loadModule(url, options) {
  const directory = url.endsWith("/") ? url : `${url}/`;
  const listed = await fetchFile(`${directory}files.json`);
  /** @type {string[]} */
  const names = listed ? JSON.parse(new TextDecoder().decode(listed)) : kFiles;
  const [code, ...contents] = await Promise.all([
    fetchFile(new URL("heed.wasm", import.meta.url).href), ...names.map((name) => fetchFile(directory + name))
  ]);
  if (!code) throw new Error("heed.wasm is not beside heed.js");
  /** @type {Map<string, Uint8Array>} */
  const files = new Map();
  names.forEach((name, n) => {
    const bytes = contents[n];
    if (bytes) files.set(name, bytes);
  });
  if (!files.has("config.json")) throw new Error(`${directory} is not a model: it has no config.json`);
  const module = await HeedModule.start(code, files);
  module.call("load", {directory : "/model", ...options});
  return module;
}
