// Opens a model from the disk, on a site without a server: its directory is dropped on the page, or chosen.

import {element} from "../page/dom.js";
import {strings} from "../strings.js";

/// Called with the name of a directory and its files, by their paths in it.
/** @typedef {(name: string, files: Map<string, Uint8Array>) => void} Open */

/// The element of the settings with which a directory is chosen. `fail` is called with the name of what was
/// chosen, and the error, where its files cannot be read.
/** @param {Open} open @param {(name: string, error: unknown) => void} fail */
export function createModelOpener(open, fail) {
  /** @param {string} name @param {Found[] | Promise<Found[]>} finding */
  const openFound = async (name, finding) => {
    try {
      await openAll(await finding, open);
    } catch (error) {
      fail(name, error);
    }
  };
  const input = element("input", {
    type: "file",
    multiple: true,
    webkitdirectory: true,
    hidden: true,
    "aria-label": strings.openModel,
    onchange: async () => {
      const files =
          [...input.files ?? []].map((file) => ({path: file.webkitRelativePath || file.name, file}));
      await openFound(files.length > 0 ? directoryOf(files[0]) : "", files);
      input.value = "";
    }
  });
  document.addEventListener("dragover", (event) => {
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    event.dataTransfer.dropEffect = "copy";
  });
  document.addEventListener("drop", async (event) => {
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    // A directory is one file of its name here.
    await openFound(event.dataTransfer.files[0]?.name ?? "", droppedFiles(event.dataTransfer));
  });
  return element(
      "div", {}, element("button", {type: "button", onclick: () => input.click()}, strings.openModel), input,
      element("p", {class: "note-line"}, strings.openModelHint));
}

/** @typedef {{path: string, file: File}} Found */

/** @param {DataTransfer} dropped @returns {Promise<Found[]>} */
async function droppedFiles(dropped) {
  // Both before the first wait, after which they are gone.
  const files = [...dropped.files];
  const entries = [...dropped.items].flatMap((item) => item.webkitGetAsEntry?.() ?? []);
  if (entries.length === 0) return files.map((file) => ({path: file.name, file}));
  return (await Promise.all(entries.map(filesOf))).flat();
}

/// All files of a directory, and of those in it.
/** @param {FileSystemEntry} entry @returns {Promise<Found[]>} */
async function filesOf(entry) {
  if (entry.isFile) {
    const of = /** @type {FileSystemFileEntry} */ (entry);
    /** @type {File} */
    const file = await new Promise((resolve, reject) => of.file(resolve, reject));
    return [{path: entry.fullPath.slice(1), file}];
  }
  const reader = /** @type {FileSystemDirectoryEntry} */ (entry).createReader();
  /** @type {Found[]} */
  const found = [];
  while (true) {  // a part of the entries at each call
    /** @type {FileSystemEntry[]} */
    const part = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (part.length === 0) return found;
    found.push(...(await Promise.all(part.map(filesOf))).flat());
  }
}

/// The directory that a file is in; those without one are in "model".
/** @param {Found} found */
function directoryOf({path}) { return path.includes("/") ? path.slice(0, path.indexOf("/")) : "model"; }

/// Hands over the files of one directory.
/** @param {Found[]} found @param {Open} open */
async function openAll(found, open) {
  if (found.length === 0) return;
  const name = directoryOf(found[0]);
  const read = await Promise.all(found.map(async ({path, file}) => {
    /** @type {[string, Uint8Array]} */
    const entry = [
      path.slice(path.startsWith(`${name}/`) ? name.length + 1 : 0), new Uint8Array(await file.arrayBuffer())
    ];
    return entry;
  }));
  open(name, new Map(read));
}
