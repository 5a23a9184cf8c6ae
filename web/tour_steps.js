// What each step of the guided tour shows; what it says is in strings.tour, in the same order.

/** @type {Partial<State>[]} */
const kSteps = [
  {view: "query", stack: "encoder", layer: 3, head: 8, token: "s2"},
  {view: "query", stack: "cross", layer: 2, head: 8, token: "t2"},
  {view: "head", stack: "decoder", layer: 2, head: 8},
  {view: "heads", token: "t2"},
  {view: "lines", stack: "cross", layer: 2, token: "t3", words: true},
  {view: "heads", stack: "encoder", sort: "ends"},
  {view: "change", stack: "cross"},
  {view: "head", stack: "cross", layer: 2},
];

export const kTourSteps = kSteps.length;

/// The state of a step from 1, where it differs from the page's defaults: an address with only the number of
/// the step shows it. Empty outside of the tour.
/** @param {number} step @returns {Partial<State>} */
export function tourState(step) { return kSteps[step - 1] ?? {}; }
