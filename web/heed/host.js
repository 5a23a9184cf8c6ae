// Where heed.wasm runs: in a worker, so that the page stays responsive, or on this thread where there are no
// workers (Node).

/** @typedef {import("./calls.js").Call} Call */
/** @typedef {import("./module.js").Answer} Answer */
/** @typedef {{call: (call: Call) => Promise<Answer>, close: () => void}} Host */

/// Rejects calls of a worker that could not be loaded: it answers none any more.
export class WorkerFailed extends Error {}

/** @returns {Promise<Host>} */
export async function createHost() {
  if (typeof Worker !== "undefined") return createWorker();
  const {createCalls} = await import("./calls.js");
  return {call: createCalls(), close() {}};
}

/** @returns {Host} */
function createWorker() {
  const worker = new Worker(new URL("./worker.js", import.meta.url), {type: "module"});
  /** @type {Map<number, {resolve: (answer: Answer) => void, reject: (error: Error) => void}>} */
  const waiting = new Map();
  /** @type {WorkerFailed | null} */
  let failed = null;
  let next = 0;
  worker.addEventListener("message", ({data: {number, answer, error}}) => {
    const caller = waiting.get(number);
    waiting.delete(number);
    if (error === undefined)
      caller?.resolve(answer);
    else
      caller?.reject(new Error(error));
  });
  worker.addEventListener("error", (event) => {
    failed = new WorkerFailed(event.message || "heed/worker.js cannot be loaded");
    for (const {reject} of waiting.values()) reject(failed);
    waiting.clear();
  });
  return {
    call: (call) => new Promise((resolve, reject) => {
      if (failed) return reject(failed);
      waiting.set(++next, {resolve, reject});
      worker.postMessage({number: next, fields: call});
    }),
    close: () => worker.terminate()
  };
}

/// The message of an answer that is an error.
/** @param {Answer} answer @returns {string} */
export function messageOf(answer) {
  const {error} = JSON.parse(new TextDecoder().decode(answer.body));
  return typeof error === "object" ? error.message : error;
}
