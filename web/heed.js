// Translation in the browser, without a server: heed.wasm in a worker, so that the page stays responsive.
//
//   import {Heed} from "./heed.js";
//   const translator = await Heed.load("models/de-en/");
//   console.log(await translator.translate("Der Hund schläft."));

/// What calls have in common, whether a worker answers them or this thread (Node).
/** @typedef {(method: string, fields: object) => Promise<any>} Call */
/**
 * @typedef {{beam?: number, nbest?: number, length_penalty?: number, alignment?: boolean}} TranslateOptions
 */

/** @param {Worker} worker @returns {Call} */
function callOf(worker) {
  /** @type {Map<number, {resolve: (result: any) => void, reject: (error: Error) => void}>} */
  const waiting = new Map();
  let next = 0;
  const failAll = (/** @type {string} */ message) => {
    for (const {reject} of waiting.values()) reject(new Error(message));
    waiting.clear();
  };
  worker.addEventListener("message", ({data: {number, result, error}}) => {
    const caller = waiting.get(number);
    waiting.delete(number);
    if (error === undefined)
      caller?.resolve(result);
    else
      caller?.reject(new Error(error));
  });
  worker.addEventListener("error", (event) => failAll(event.message || "heed_worker.js cannot be loaded"));
  return (method, fields) => new Promise((resolve, reject) => {
           waiting.set(++next, {resolve, reject});
           worker.postMessage({number: next, method, fields});
         });
}

export class Heed {
  /// Opens the model at an address, relative to the page: a directory with the files of a Marian model.
  /// `precision`: "float32" or "int8"; without it, that of its weights. Rejects with an Error for what is not
  /// a model, or not one that is supported here.
  /** @param {string} url @param {{precision?: "float32" | "int8"}} [options] */
  static async load(url, options = {}) {
    const absolute = new URL(url, globalThis.location?.href).href;
    if (typeof Worker === "undefined") {
      const {loadModule} = await import("./heed_module.js");
      const module = await loadModule(absolute, options);
      return new Heed(async (method, fields) => module.call(method, fields), () => {});
    }
    const worker = new Worker(new URL("./heed_worker.js", import.meta.url), {type: "module"});
    const call = callOf(worker);
    try {
      await call("load", {url: absolute, options});
    } catch (error) {
      worker.terminate();
      throw error;
    }
    return new Heed(call, () => worker.terminate());
  }

  /// Heed.load() makes it.
  /** @param {Call} call @param {() => void} close */
  constructor(call, close) {
    /** @private */
    this.call = call;
    /// Ends the worker and frees its memory. What is being translated never finishes.
    this.close = close;
  }

  /// The translation of a text of one paragraph.
  /** @param {string} text @param {TranslateOptions} [options] @returns {Promise<string>} */
  async translate(text, options = {}) { return (await this.details(text, options)).translation; }

  /// The JSON of `heed translate --json`: translation, score, log_probability, pieces, alternatives,
  /// warnings.
  /** @param {string} text @param {TranslateOptions} [options] @returns {Promise<any>} */
  async details(text, options = {}) { return this.call("translate", {text, ...options}); }
}
