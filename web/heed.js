// Translation in the browser, without a server: heed.wasm in a worker, so that the page stays responsive.
//
//   import {Heed} from "./heed.js";
//   const translator = await Heed.load("models/de-en/");
//   console.log(await translator.translate("Der Hund schläft."));
import {createHost, messageOf} from "./heed/host.js";

/**
 * @typedef {{beam?: number, nbest?: number, length_penalty?: number, alignment?: boolean}} TranslateOptions
 * @typedef {{target?: string, words?: boolean, details?: boolean, ablate?: object[]}} AttendOptions
 */

export class Heed {
  /// Opens the model at an address, relative to the page: a directory with the files of a Marian model, or of
  /// another one with their names in files.json. `precision`: "float32" or "int8"; without it, that of its
  /// weights. Rejects with an Error for what is not a model, or not one that is supported here.
  /** @param {string} url @param {{precision?: "float32" | "int8"}} [options] */
  static async load(url, options = {}) {
    const heed = new Heed(await createHost());
    try {
      await heed.call({open: {name: "model", ...options}, url: new URL(url, globalThis.location?.href).href});
    } catch (error) {
      heed.close();
      throw error;
    }
    return heed;
  }

  /// Heed.load() makes it.
  /** @param {import("./heed/host.js").Host} host */
  constructor(host) {
    /** @private */
    this.host = host;
  }

  /// The translation of a text.
  /** @param {string} text @param {TranslateOptions} [options] @returns {Promise<string>} */
  async translate(text, options = {}) { return (await this.details(text, options)).translation; }

  /// The JSON of `heed translate --json`: translation, score, log_probability, pieces, alternatives,
  /// warnings.
  /** @param {string} text @param {TranslateOptions} [options] @returns {Promise<any>} */
  async details(text, options = {}) {
    return (await this.ask("/v1/translate", {text, ...options})).translations[0];
  }

  /// The JSON of `heed attend --json`: tokens, and the attention weights by stack, layer, head, query and
  /// key.
  /** @param {string} text @param {AttendOptions} [options] @returns {Promise<any>} */
  attend(text, options = {}) { return this.ask("/v1/attend", {text, ...options}); }

  /// Asks any route of `heed serve` (docs/server.md), such as "/v1/completions" of a language model.
  /** @param {string} path @param {object} body @returns {Promise<any>} */
  async ask(path, body) {
    const answer = await this.call({method: "POST", path, body: JSON.stringify(body)});
    return JSON.parse(new TextDecoder().decode(answer.body));
  }

  /// Ends the worker and frees its memory. What is being computed never finishes.
  close() { this.host.close(); }

  /** @private @param {import("./heed/calls.js").Call} call */
  async call(call) {
    const answer = await this.host.call(call);
    if (answer.status !== 200) throw new Error(messageOf(answer));
    return answer;
  }
}
