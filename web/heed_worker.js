// The worker of heed.js: loads a model, and answers one call after the other.
import {loadModule} from "./heed_module.js";

/** @type {Promise<import("./heed_module.js").HeedModule> | null} */
let module = null;

addEventListener("message", async ({data: {number, method, fields}}) => {
  try {
    if (method === "load") module = loadModule(fields.url, fields.options);
    const loaded = await /** @type {NonNullable<typeof module>} */ (module);
    postMessage({number, result: method === "load" ? null : loaded.call(method, fields)});
  } catch (error) {
    postMessage({number, error: error instanceof Error ? error.message : String(error)});
  }
});
