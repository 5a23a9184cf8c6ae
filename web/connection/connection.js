// What the page asks: the server that it was loaded from, or, on a static site (make site), heed.wasm.

/// `ask` is like fetch(). `add` opens another model, of files by their paths in its directory, and rejects
/// with the reason if it cannot; a server has none.
/**
 * @typedef {{
 *   ask: (path: string, options: RequestInit) => Promise<Response>,
 *   add?: (name: string, files: Map<string, Uint8Array>) => Promise<void>
 * }} Connection
 */

/// The list of a site's models, in its index.html.
const list = document.getElementById("models");
export const isSite = list instanceof HTMLLinkElement;

/** @type {Promise<Connection>} */
export const connection = list instanceof HTMLLinkElement ?
    import("./site_connection.js").then(({connectToModule}) => connectToModule(list.href)) :
    Promise.resolve({ask: (path, options) => fetch(path, options)});
