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

/// The module is loaded at once, and tried again with the next call after an error; calls are done in the
/// order in which they are made.
/** @returns {(call: Call) => Promise<import("./module.js").Answer>} */
export function createCalls() {
  /** @type {Promise<HeedModule> | null} */
  let started = null;
  const start = () => {
    const starting = started ??= HeedModule.start();
    starting.catch(() => {  // whoever calls is told
      if (started === starting) started = null;
    });
    return starting;
  };
  /** @type {Promise<unknown>} */
  let last = start();
  return (call) => {
    const files = "open" in call ? call.files ?? fetchModel(call.url ?? "") : new Map();
    const answer =
        Promise.all([start(), files, last.catch(() => {})])
            .then(
                ([module, there]) => "open" in call ? module.open(call.open, there) :
                                                      module.ask(call.method, call.path, call.body));
    last = answer;
    return answer;
  };
}
