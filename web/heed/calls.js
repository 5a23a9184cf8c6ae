// What is called of heed.wasm, in a worker or not.
import {fetchModel, HeedModule} from "./module.js";

/// `open`: a model, from an address or with its files; without it, a request to a route.
/**
 * @typedef {{
 *   open: {name: string, precision?: string, bundled?: boolean},
 *   url?: string,
 *   files?: Map<string, Uint8Array>
 * } | {method: string, path: string, body: string}} Call
 */

/// The module is loaded at once, and calls are done in the order in which they are made.
/** @returns {(call: Call) => Promise<import("./module.js").Answer>} */
export function createCalls() {
  const started = HeedModule.start();
  started.catch(() => {});  // whoever calls is told
  /** @type {Promise<unknown>} */
  let last = started;
  return (call) => {
    const files = "open" in call ? call.files ?? fetchModel(call.url ?? "") : new Map();
    const answer =
        Promise.all([started, files, last.catch(() => {})])
            .then(
                ([module, there]) => "open" in call ? module.open(call.open, there) :
                                                      module.ask(call.method, call.path, call.body));
    last = answer;
    return answer;
  };
}
