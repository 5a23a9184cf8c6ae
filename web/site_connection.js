// The page's requests, answered by heed.wasm in a worker instead of a server. Models are loaded when they are
// first asked.

import {messageOf as messageOfError} from "./dom.js";
import {createHost, messageOf} from "./heed_host.js";
import {chooseModel, readModel} from "./models.js";

/// Those of routes for another task than translation.
/** @type {Record<string, string>} */
const kTasks = {
  "/v1/completions": "text",
  "/v1/classify": "classification",
  "/v1/embeddings": "embedding"
};

/** @param {object} value @param {number} [status] */
const jsonResponse = (value, status = 200) => new Response(JSON.stringify(value), {status});

/// `list`: the address of a list like that of GET /v1/models, beside the directories of the models.
/** @param {string} list @returns {Promise<import("./connection.js").Connection>} */
export async function connectToModule(list) {
  const host = createHost();
  /** @type {ModelsJson} */
  const listed = await (await fetch(list)).json();
  /** @type {Map<string, Promise<unknown>>} */
  const opened = new Map();
  /** @type {Promise<unknown>} */
  let last = Promise.resolve();

  /// Does `work` when all work before is done, unless nobody waits for it any more.
  /**
   * @template Result
   * @param {() => Promise<Result>} work
   * @param {AbortSignal | null} [signal]
   * @returns {Promise<Result>}
   */
  const inTurn = (work, signal) => {
    const done = last.then(() => {
      signal?.throwIfAborted();
      return work();
    });
    last = done.catch(() => {});
    return done;
  };

  /** @param {import("./heed_calls.js").Call} call */
  const call = async (call) => {
    const answer = await (await host).call(call);
    return new Response(new Blob([answer.body]), {status: answer.status, headers: answer.headers});
  };

  /// A model of the site, loaded once; it is tried again after an error.
  /** @param {string} name */
  const open = (name) => {
    const before = opened.get(name);
    if (before) return before;
    const opening = host.then((there) => there.call({
                          open: {name, precision: "int8", bundled: true},
                          url: new URL(`${encodeURIComponent(name)}/`, list).href
                        }))
                        .then((answer) => {
                          if (answer.status !== 200) throw new Error(messageOf(answer));
                        });
    opened.set(name, opening);
    opening.catch(() => opened.delete(name));
    return opening;
  };

  return {
    async ask(path, options) {
      const method = options.method ?? "GET", body = String(options.body ?? ""), {signal} = options;
      const route = `/${path}`;
      if (route === "/v1/models") return jsonResponse(listed);
      const fields = JSON.parse(body || "{}");
      const model = chooseModel(
          listed.data.map(readModel), {
            model: fields.model ?? "",
            pair: fields.pair ?? "",
            from: fields.source_language ?? "",
            to: fields.target_language ?? ""
          },
          kTasks[route]);
      try {
        return await inTurn(async () => {
          if (model) await open(model.id);
          const named = model ? {...fields, model: model.id} : fields;
          return call({method, path: route, body: JSON.stringify(named)});
        }, signal);
      } catch (error) {
        signal?.throwIfAborted();
        return jsonResponse({error: messageOfError(error)}, 500);
      }
    },
    async add(name, files) {
      if (listed.data.some((model) => model.id === name))
        throw new Error(`a model '${name}' is already here`);
      const answer = await inTurn(async () => (await host).call({open: {name}, files}));
      if (answer.status !== 200) throw new Error(messageOf(answer));
      listed.data.push(JSON.parse(new TextDecoder().decode(answer.body)));
      opened.set(name, Promise.resolve());
    }
  };
}
