// The page's requests, answered by heed.wasm in a worker instead of a server. Models are loaded when they are
// first asked.

import {createHost, messageOf, WorkerFailed} from "../heed/host.js";
import {messageOf as messageOfError} from "../page/dom.js";

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

/// Routes that can take minutes. They are asked of a worker of their own, so that the page can translate
/// meanwhile; it ends when nobody waits for the answer any more.
const kLongRoutes = ["/v1/attribute", "/v1/patch"];

/// A worker with models of the site, which are loaded when they are first asked. Where the worker cannot be
/// loaded, it is tried again with the next call. `list`: the address of their list, beside their directories.
/** @typedef {ReturnType<typeof createModelHost>} ModelHost */
/** @param {string} list */
function createModelHost(list) {
  /** @type {ReturnType<typeof createHost> | null} */
  let host = createHost();
  /** @type {Map<string, Promise<unknown>>} */
  const opened = new Map();
  /** @type {Promise<unknown>} */
  let last = Promise.resolve();
  return {
    /// Does `work` when all work before is done, unless nobody waits for it any more.
    /**
     * @template Result
     * @param {() => Promise<Result>} work
     * @param {AbortSignal | null} [signal]
     * @returns {Promise<Result>}
     */
    inTurn(work, signal) {
      const done = last.then(() => {
        signal?.throwIfAborted();
        return work();
      });
      last = done.catch(() => {});
      return done;
    },
    /** @param {import("../heed/calls.js").Call} call */
    async call(call) {
      const own = host ??= createHost();
      try {
        return await (await own).call(call);
      } catch (error) {
        if (error instanceof WorkerFailed && own === host) {
          this.close();
          host = null;
          opened.clear();
        }
        throw error;
      }
    },
    /// A model of the site, loaded once; it is tried again after an error.
    /** @param {string} name */
    open(name) {
      const before = opened.get(name);
      if (before) return before;
      const opening = this.call({
                            open: {name, precision: "int8", bundled: true},
                            url: new URL(`${encodeURIComponent(name)}/`, list).href
                          })
                          .then((answer) => {
                            if (answer.status !== 200) throw new Error(messageOf(answer));
                          });
      opened.set(name, opening);
      opening.catch(() => {
        if (opened.get(name) === opening) opened.delete(name);
      });
      return opening;
    },
    /// Opens a model of files, and returns its description.
    /** @param {string} name @param {Map<string, Uint8Array>} files @returns {Promise<ModelJson>} */
    async add(name, files) {
      const answer = await this.inTurn(() => this.call({open: {name}, files}));
      if (answer.status !== 200) throw new Error(messageOf(answer));
      opened.set(name, Promise.resolve());
      return JSON.parse(new TextDecoder().decode(answer.body));
    },
    /// What is being computed never finishes.
    close: () => host?.then((there) => there.close()),
  };
}

/// `list`: the address of a list like that of GET /v1/models, beside the directories of the models.
/** @param {string} list @returns {Promise<import("./connection.js").Connection>} */
export async function connectToModule(list) {
  const host = createModelHost(list);
  /** @type {ModelHost | null} */
  let other = null;  // for kLongRoutes
  /** @type {ModelsJson} */
  const listed = await (await fetch(list)).json();
  /** @type {Set<string>} */
  const added = new Set();
  /// A worker with the models of one chain alone, which chooses them as a server does that has all of them.
  /** @type {{pair: string, host: ModelHost} | null} */
  let through = null;

  /// The worker for long work, with a model; where it cannot be loaded again, without a network, the first
  /// one, and the next question tries it once more.
  /** @param {string} model */
  const otherWith = async (model) => {
    const own = other ??= createModelHost(list);
    try {
      await own.open(model);
      return own;
    } catch {
      own.close();
      if (other === own) other = null;
      return host;
    }
  };

  /// A request to a model of the site, or of no model.
  /**
   * @param {ModelHost} asked @param {string} model @param {import("../heed/calls.js").Call} call
   * @param {AbortSignal | null} [signal]
   */
  const askHost = (asked, model, call, signal) => asked.inTurn(async () => {
    if (model && !added.has(model)) await asked.open(model);
    return asked.call(call);
  }, signal);

  /// The same in the worker for long work, which ends when nobody waits any more.
  /** @param {string} model @param {import("../heed/calls.js").Call} call @param {AbortSignal} signal */
  const askOther = async (model, call, signal) => {
    let stop = () => {};
    /** @type {Promise<never>} */
    const stopped = new Promise((_, reject) => {
      stop = () => {
        other?.close();
        other = null;
        reject(signal.reason);
      };
    });
    signal.addEventListener("abort", stop);
    try {
      const answer = otherWith(model).then((asked) => askHost(asked, model, call, signal));
      return await Promise.race([stopped, answer]);
    } finally {
      signal.removeEventListener("abort", stop);
    }
  };

  /// A request to the models of a chain.
  /**
   * @param {ChainJson} chain @param {import("../heed/calls.js").Call} call @param {AbortSignal | null}
   *     [signal]
   */
  const askChain = (chain, call, signal) => {
    if (through?.pair !== chain.pair) {
      through?.host.close();
      through = {pair: chain.pair, host: createModelHost(list)};
    }
    const {host: asked} = through, languages = [chain.source, ...chain.through, chain.target];
    return asked.inTurn(async () => {
      for (let step = 1; step < languages.length; ++step) {
        const wanted = {model: "", pair: "", from: languages[step - 1], to: languages[step]};
        const model = chooseModel(listed.data.map(readModel), wanted);
        if (model) await asked.open(model.id);
      }
      return asked.call(call);
    }, signal);
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
      const call = {method, path: route, body: JSON.stringify(model ? {...fields, model: model.id} : fields)};
      const chain = model ? null : listed.chains?.find((each) => each.pair === fields.pair);
      const isLong = kLongRoutes.includes(route) && signal && model && !added.has(model.id);
      try {
        const answer = chain ? await askChain(chain, call, signal) :
            isLong           ? await askOther(model.id, call, signal) :
                               await askHost(host, model?.id ?? "", call, signal);
        return new Response(new Blob([answer.body]), {status: answer.status, headers: answer.headers});
      } catch (error) {
        signal?.throwIfAborted();
        return jsonResponse({error: messageOfError(error)}, 500);
      }
    },
    async add(name, files) {
      if (listed.data.some((model) => model.id === name))
        throw new Error(`a model '${name}' is already here`);
      listed.data.push(await host.add(name, files));
      added.add(name);
    }
  };
}
