// heed.wasm, called on the thread that it is on; host.js puts it into a worker.
import {ModuleExit, Wasi} from "./wasi.js";

/// What a route answers.
/** @typedef {{status: number, headers: Record<string, string>, body: Uint8Array}} Answer */

export class HeedModule {
  /// Loads heed.wasm, which is beside heed.js.
  static async start() {
    const wasi = new Wasi(new Map()), imports = {wasi_snapshot_preview1: wasi.imports()};
    const instance = await instantiate(new URL("../heed.wasm", import.meta.url).href, imports);
    wasi.memory = /** @type {WebAssembly.Memory} */ (instance.exports.memory);
    const module = new HeedModule(instance.exports, wasi);
    module.exports._initialize();
    return module;
  }

  /** @param {any} exports @param {Wasi} wasi */
  constructor(exports, wasi) {
    this.exports = exports;
    this.wasi = wasi;
  }

  /// Opens a model, whose files it keeps: what GET /v1/models/NAME answers.
  /**
   * @param {{name: string, precision?: string, bundled?: boolean}} model @param {Map<string, Uint8Array>}
   *     files
   */
  open(model, files) {
    for (const [path, bytes] of files) this.wasi.files.set(`${model.name}/${path}`, bytes);
    const answer = this.answer({open: {...model, directory: model.name}});
    if (answer.status !== 200) {
      for (const path of files.keys()) this.wasi.files.delete(`${model.name}/${path}`);
    }
    return answer;
  }

  /// What the server's routes answer (docs/server.md).
  /** @param {string} method @param {string} path @param {string} body */
  ask(method, path, body) { return this.answer({method, path, body}); }

  /** @private @param {object} request @returns {Answer} */
  answer(request) {
    const bytes = new TextEncoder().encode(JSON.stringify(request));
    // Results of 32 bits are signed: >>> 0 makes pointers and sizes of them.
    const at = this.exports.heed_request(bytes.length) >>> 0;
    this.wasi.bytes(at, bytes.length).set(bytes);
    const size = this.exports.heed_answer(at, bytes.length) >>> 0;
    const answer = this.wasi.bytes(this.exports.heed_answer_bytes() >>> 0, size), end = answer.indexOf(10);
    const head = JSON.parse(new TextDecoder().decode(answer.slice(0, end)));
    return {...head, body: answer.slice(end + 1)};
  }
}

export {ModuleExit};

/** @param {string} url @param {WebAssembly.Imports} imports @returns {Promise<WebAssembly.Instance>} */
async function instantiate(url, imports) {
  if (!url.startsWith("file:")) {
    const answer = await fetch(url);
    if (!answer.ok) throw new Error(`${url}: ${answer.status} ${answer.statusText}`);
    if (answer.headers.get("Content-Type") === "application/wasm")  // compiled while it arrives
      return (await WebAssembly.instantiateStreaming(answer, imports)).instance;
    return (await WebAssembly.instantiate(await answer.arrayBuffer(), imports)).instance;
  }
  const code = await readFile(url);
  if (!code) throw new Error("heed.wasm is not beside heed.js");
  return (await WebAssembly.instantiate(code, imports)).instance;
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

/// The files of the model in a directory of a web server.
/** @param {string} url @returns {Promise<Map<string, Uint8Array>>} */
export async function fetchModel(url) {
  const directory = url.endsWith("/") ? url : `${url}/`;
  const listed = await fetchFile(`${directory}files.json`);
  /** @type {string[]} */
  const names = listed ? JSON.parse(new TextDecoder().decode(listed)) : kFiles;
  const contents = await Promise.all(names.map((name) => fetchFile(directory + name)));
  /** @type {Map<string, Uint8Array>} */
  const files = new Map();
  names.forEach((name, n) => {
    const bytes = contents[n];
    if (bytes) files.set(name, bytes);
  });
  if (!files.has("config.json")) throw new Error(`${directory} is not a model: it has no config.json`);
  return files;
}
