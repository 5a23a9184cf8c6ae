// What each step of the guided tour shows; what it says is in strings.tour, in the same order. The first part
// is about attention, the second one about the rest of the model.

/** @type {Partial<State>[]} */
const kAttentionSteps = [
  {view: "query", stack: "encoder", layer: 3, head: 8, token: "s2"},
  {view: "query", stack: "cross", layer: 2, head: 8, token: "t2"},
  {view: "head", stack: "decoder", layer: 2, head: 8},
  {view: "heads", token: "t2"},
  {view: "lines", stack: "cross", layer: 2, token: "t3", words: true},
  {view: "heads", stack: "encoder", sort: "ends"},
  {view: "change", stack: "cross"},
  {view: "head", stack: "cross", layer: 2},
];

/** @type {Partial<State>[]} */
const kModelSteps = [
  {view: "model", open: "encoder.0", token: "s2"},
  {view: "layers", stack: "decoder", show: "added", token: "t2"},
  {view: "model", open: "encoder.1,encoder.1.feed-forward", token: "s2"},
  {view: "patch", part: "layers"},
  {view: "model", open: "output", temperature: 1.5, token: "t2"},
  {view: "layers", stack: "decoder", show: "predictions", token: "t2"},
  {view: "head", stack: "cross", layer: 2},
  {view: "why", method: "rollout", token: "t2"},
];

const kSteps = [...kAttentionSteps, ...kModelSteps];

/// The steps of each part, from `first` to `last`.
export const kTourParts =
    [{first: 1, last: kAttentionSteps.length}, {first: kAttentionSteps.length + 1, last: kSteps.length}];
/// The step about the RNN, and that about several checkpoints of one training, where the page has these
/// models.
export const kRnnStep = kAttentionSteps.length;
export const kTrainingStep = kSteps.length - 1;

/// The state of a step from 1, where it differs from the page's defaults: an address with only the number of
/// the step shows it. Empty outside of the tour.
/** @param {number} step @returns {Partial<State>} */
export function tourState(step) { return kSteps[step - 1] ?? {}; }
