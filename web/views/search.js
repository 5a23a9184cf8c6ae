// The search as a tree: a column for each step with what was considered, best first; what was kept goes on,
// what was dropped ends, and the winner is marked. A dropped branch can be continued: it becomes the forced
// beginning.

import {createQuestion, searchOf, searchTree} from "../connection/api.js";
import {element} from "../page/dom.js";
import {headColour} from "../picture/colours.js";
import {tokenLabels} from "../picture/labels.js";
import {createPicture, numberTable} from "../picture/picture.js";
import {Scene, shorten} from "../picture/scene.js";
import {strings} from "../strings.js";

const kRow = 34, kTop = 30, kGap = 18;
const kNarrowest = 90, kWidest = 108;  // boxes: narrower where all steps then fit in the page

/// Candidates with their place, those of each node, and the nodes on the winner's way.
/** @param {SearchJson} tree @param {number} room @returns {TreeLayout} */
function layOutTree(tree, room) {
  /** @type {CandidateBox[]} */
  const boxes = [];
  /** @type {Map<number, CandidateBox>} */
  const byNode = new Map();
  const fitting = Math.floor((room + kGap) / tree.steps.length) - kGap;
  const boxWidth = fitting < kNarrowest ? kWidest : Math.min(kWidest, fitting);
  tree.steps.forEach((step, column) => {
    step.candidates.forEach((candidate, row) => {
      const box = {
        ...candidate,
        column,
        row,
        x: column * (boxWidth + kGap),
        y: kTop + row * kRow,
        label: tokenLabels([candidate.token])[0],
        wins: false
      };
      boxes.push(box);
      if (candidate.node !== null) byNode.set(candidate.node, box);
    });
  });
  /** @type {Set<number>} */
  const winner = new Set();
  for (let node = tree.finished[0]?.node ?? null; node !== null; node = byNode.get(node)?.parent ?? null)
    winner.add(node);
  for (const box of boxes) box.wins = box.node !== null && winner.has(box.node);
  const rows = Math.max(...tree.steps.map((step) => step.candidates.length));
  const width = tree.steps.length * (boxWidth + kGap) - kGap + 2;
  return {boxes, byNode, boxWidth, width, height: kTop + rows * kRow + 6};
}

/// A candidate and those that it continues, the last one first.
/** @param {CandidateBox} box @param {TreeLayout} layout */
function wayTo(box, layout) {
  const way = [];
  /** @type {CandidateBox | null | undefined} */
  let at = box;
  for (; at; at = at.parent === null ? null : layout.byNode.get(at.parent)) way.push(at);
  return way;
}

/// The text of a candidate, for a translation to begin with: without half a character.
/** @param {CandidateBox} box */
function beginningOf({text}) { return text.replace(/\ufffd+$/, "").trimEnd(); }

/** @param {App} app */
export function createSearch(app) {
  const question = createQuestion(searchTree);
  const note = element("p", {class: "note-line"});
  const finished = element("ol", {class: "finished"});
  /** @type {TreeLayout | null} */
  let layout = null;
  let cursor = -1;

  /** @param {number} x @param {number} y */
  const boxAt = (x, y) => {
    if (!layout) return -1;
    const {boxes, boxWidth} = layout;
    return boxes.findIndex(
        (box) => x >= box.x && x <= box.x + boxWidth && y >= box.y && y <= box.y + kRow - 6);
  };
  /** @param {number} index */
  const go = (index) => {
    const box = layout?.boxes[index];
    if (box && !box.wins) app.store.set({prefix: beginningOf(box), target: ""});
  };
  const picture = createPicture({
    point: (x, y) => show(boxAt(x, y)),
    leave: () => show(-1),
    press: (x, y) => go(boxAt(x, y)),
    key(event) {
      const boxes = layout?.boxes ?? [], box = boxes[cursor] ?? boxes[0];
      if (!box) return;
      const [right, down] =
          {ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1]}[event.key] ?? [0, 0];
      if (event.key === "Enter") return go(cursor);
      if (!right && !down) return;
      event.preventDefault();
      /** @param {number} row */
      const at = (row) => boxes.findIndex((each) => each.column === box.column + right && each.row === row);
      const next = at(Math.max(0, box.row + down));
      show(next >= 0 ? next : at(0));
    },
  });

  /** @param {CandidateBox} box */
  const stateOf = (box) =>
      (box.wins         ? strings.winner :
           box.finished ? strings.finished :
           box.kept     ? strings.kept :
                          strings.dropped);
  /** @param {number} index */
  const show = (index) => {
    cursor = index;
    const box = layout?.boxes[index];
    if (!layout || !box) {
      picture.mark(null);
      return picture.say(strings.continueBranch);
    }
    const scene = new Scene(layout.width, layout.height), colours = app.colours();
    for (const at of wayTo(box, layout)) {
      scene.rect(at.x, at.y, layout.boxWidth, kRow - 8, null, {stroke: colours.accent, line: 2, radius: 5});
    }
    picture.mark(scene);
    picture.say(strings.branch(box.text, stateOf(box), Math.exp(box.log_probability), box.sum));
  };

  /** @param {SearchJson} tree */
  const draw = (tree) => {
    if (tree.steps.length === 0) return note.replaceChildren(strings.searchEmpty);
    const {boxes, byNode, boxWidth: width, ...size} = layout = layOutTree(tree, picture.room());
    const colours = app.colours(), scene = new Scene(size.width, size.height);
    tree.steps.forEach(
        (step, n) =>
            scene.text(n * (width + kGap), 16, strings.step(n + 1), {size: 12, fill: colours.faint}));
    for (const box of boxes) {
      const parent = box.parent === null ? null : byNode.get(box.parent);
      if (!parent) continue;
      scene.curve(
          {x: parent.x + width, y: parent.y + kRow / 2 - 4}, {x: box.x, y: box.y + kRow / 2 - 4}, "x",
          box.wins     ? colours.accent :
              box.kept ? colours.faint :
                         colours.rule,
          {width: box.wins ? 2.5 : 1, opacity: box.kept || box.wins ? 1 : 0.8});
    }
    for (const box of boxes) {
      const probability = Math.exp(box.log_probability);
      scene.rect(
          box.x, box.y, width, kRow - 8, colours.background,
          {stroke: box.wins ? colours.accent : colours.rule, line: box.wins ? 2 : 1, radius: 5});
      scene.rect(
          box.x + 1, box.y + kRow - 12, Math.max(0.5, (width - 2) * probability), 3,
          box.wins ? colours.accent : headColour(colours, 1),
          {opacity: box.kept || box.wins || box.finished ? 1 : 0.4});
      scene.text(box.x + 6, box.y + 16, shorten(box.label.text, 13, width - 46), {
        size: 13,
        fill: box.kept || box.wins || box.finished ? colours.ink : colours.faint,
        bold: box.wins
      });
      scene.text(
          box.x + width - 5, box.y + 16, `${(100 * probability).toFixed(probability < 0.1 ? 1 : 0)} %`,
          {size: 11, fill: colours.faint, align: "end"});
    }
    picture.show(
        scene, app.describePicture(strings.views.search),
        () => numberTable(
            strings.views.search,
            [strings.stepColumn, strings.token, strings.probability, strings.sumColumn, strings.stateColumn],
            boxes.map(
                (box) =>
                    [String(box.column + 1), box.label.text, Math.exp(box.log_probability).toFixed(4),
                     box.sum.toFixed(3), stateOf(box)])));
    finished.replaceChildren(...tree.finished.map(
        (each) => element(
            "li", {}, each.translation,
            element("span", {class: "note"}, strings.finishedScore(each.log_probability, each.score)))));
    show(-1);
    app.pictureChanged();
  };

  return {
    element: element("div", {}, note, picture.element, finished),
    picture,
    mark() {
      const spot = app.marks.get();
      const label = spot?.side === "target" ? app.shown()?.targetLabels[spot.index]?.text : undefined;
      const box = layout?.boxes.find((each) => each.wins && each.column === spot?.index);
      if (!layout || !box || box.label.text !== label) return picture.mark(null);
      const scene = new Scene(layout.width, layout.height), colours = app.colours();
      scene.rect(
          box.x, box.y, layout.boxWidth, kRow - 8, colours.accent,
          {stroke: colours.accent, line: 2, radius: 5, opacity: 0.22});
      picture.mark(scene);
    },
    leave: () => question.drop(),
    async update() {
      const state = app.store.get();
      if (app.file) return note.replaceChildren(app.needsModel());
      const answer = await question.ask(searchOf(state));
      if (!answer) return;
      const demands = [
        [strings.forced, state.prefix], [strings.required, state.require], [strings.forbidden, state.forbid]
      ];
      const demanded =
          demands.filter(([, text]) => text).map(([label, text]) => `${label}: ${text}`).join("; ");
      note.textContent =
          answer.failure ?? (state.target ? `${strings.searchOfModel} ${demanded}`.trim() : demanded);
      picture.element.hidden = finished.hidden = !answer.result?.steps.length;
      if (answer.result) return draw(answer.result);
      layout = null;
      app.pictureChanged();
    },
  };
}
