// Parts of a page that open and close: closed ones are one line. Which are open is in the address.

import {element} from "../../page/dom.js";

/** @param {string} text */
const parseOpen = (text) => new Set(text.split(",").filter((each) => each));

/// Puts children into an element unless they are there already, which would take the focus from them.
/** @param {Element} parent @param {Node[]} children */
export function setChildren(parent, children) {
  if (children.length === parent.childNodes.length &&
      children.every((each, n) => each === parent.childNodes[n]))
    return;
  parent.replaceChildren(...children);
}

/// fold(): the part with a name of its own, made once. `content` makes what it holds while it is open.
/** @param {App} app */
export function createFolds(app) {
  /**
   * @type {Map<string, {details: HTMLDetailsElement, line: HTMLElement, title: HTMLElement, body:
   *     HTMLElement}>}
   */
  const made = new Map();
  /** @param {string} id */
  const make = (id) => {
    const title = element("span", {class: "fold-title"}), line = element("span", {class: "fold-line"});
    const body = element("div", {class: "fold-body"});
    const details =
        element("details", {class: "fold", "data-part": id}, element("summary", {}, title, line), body);
    details.addEventListener("toggle", () => {
      const open = parseOpen(app.store.get().open);
      if (open.has(id) === details.open || !details.isConnected) return;
      if (details.open)
        open.add(id);
      else
        open.delete(id);
      app.store.set({open: [...open].join(",")}, true);
    });
    const part = {details, line, title, body};
    made.set(id, part);
    return part;
  };
  /** @param {string} id @param {string} title @param {string} line @param {() => Node[]} content */
  return (id, title, line, content) => {
    const part = made.get(id) ?? make(id), open = parseOpen(app.store.get().open).has(id);
    part.title.textContent = title;
    part.line.textContent = line;
    part.details.open = open;
    setChildren(part.body, open ? content() : []);
    return part.details;
  };
}
