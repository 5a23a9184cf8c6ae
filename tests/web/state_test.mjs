// What the address says (web/state.js): run with node.

import assert from "node:assert/strict";
import {test} from "node:test";

let refuses = false, timers = [];
const written = [];
const write = (_, __, address) => {
  if (refuses) throw new DOMException("more than 100 times per 30 seconds", "SecurityError");
  written.push(address);
};
globalThis.location = {protocol: "http:", pathname: "/", search: "", hash: "", href: "http://localhost/"};
globalThis.history = {replaceState: write, pushState: write};
let follow = () => {};
globalThis.addEventListener = (_, listener) => { follow = listener; };
globalThis.setTimeout = (work) => timers.push(work);
globalThis.clearTimeout = () => { timers = []; };

const {createStore} = await import("../../web/state.js");

test("numbers that count are whole", () => {
  const counts = {tour: 0, sentence: 1, layer: 0, head: 0, beam: 0};
  for (const [name, usual] of Object.entries(counts)) {
    for (const text of ["1.5", "x", "Infinity", "NaN"]) {
      location.hash = `#${name}=${text}`;
      assert.equal(createStore(true).get()[name], usual, location.hash);
    }
    location.hash = `#${name}=3`;
    assert.equal(createStore(true).get()[name], 3);
  }
  location.hash = "#temperature=0.5&top=0.25";
  const {temperature, top} = createStore(true).get();
  assert.deepEqual([temperature, top], [0.5, 0.25]);
});

test("a page that begins with words", () => {
  const words = () => createStore(true, {words: true}).get().words;
  const opened = (hash) => {
    location.hash = hash;
    return words();
  };
  assert.deepEqual(["", "#view=head", "#words=0", "#words=1", "#tour=1"].map(opened), [true, true, false, true, false]);
  location.hash = "";
  const store = createStore(true, {words: true});
  store.set({words: false});
  assert.equal(written.pop(), "/#words=0");
  store.set({view: "head"});
  assert.equal(written.pop(), "/#words=0&view=head");
  for (const [hash, expected] of [["#words=0", false], ["", true]]) {
    location.hash = hash;
    follow();  // back
    assert.equal(store.get().words, expected);
  }
  // A step of the tour that shows words.
  store.set({tour: 5, words: true});
  store.set({words: false});
  assert.match(written.pop(), /words=0/);
  written.length = 0;
});

test("a pinned word is no token", () => {
  location.hash = "#words=1&token=t2";
  const pinned = (changes) => {
    const store = createStore(true);
    store.set(changes);
    return store.get().token;
  };
  assert.equal(pinned({words: false}), "");
  assert.equal(pinned({words: false, token: "s1"}), "s1");
  assert.equal(pinned({words: true}), "t2");
  assert.equal(pinned({view: "head"}), "t2");
  location.hash = "#token=t2";
  assert.equal(pinned({words: true}), "");
  assert.equal(pinned({words: false}), "t2");
  location.hash = "";
  written.length = 0;
});

test("a browser refuses a new address", () => {
  const store = createStore(false), told = [];
  store.subscribe((state) => told.push(state.text));
  refuses = true;
  store.set({text: "one"}, true);
  store.set({text: "two"});
  assert.deepEqual(told, ["one", "two"]);
  assert.equal(store.get().text, "two");
  assert.deepEqual(written, []);
  refuses = false;
  assert.equal(timers.length, 1);
  timers.pop()();  // a while later
  assert.deepEqual(written, ["?text=two"]);
  store.set({text: "three"}, true);
  assert.deepEqual(written, ["?text=two", "?text=three"]);
  assert.equal(timers.length, 0);
});
