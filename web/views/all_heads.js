// All heads at a glance: a small map for each head of each layer of each stack, sorted and filtered by what
// kind of head it is.

import {element, select} from "../page/dom.js";
import {hasKey} from "../page/keys.js";
import {allHeads, kMetrics} from "../picture/metrics.js";
import {createPicture, numberTable} from "../picture/picture.js";
import {Scene} from "../picture/scene.js";
import {strings} from "../strings.js";

/// Where a key takes the cursor.
const kSteps = {
  ArrowRight: 1,
  ArrowLeft: -1,
  ArrowDown: "down",
  ArrowUp: "up",
  Home: "home",
  End: "end"
};

const kGap = 8, kTitle = 40, kCaption = 17;

/** @param {string} name */
function metricNamed(name) { return kMetrics.find((each) => each === name) ?? null; }

/// "entropy>1.5" -> {metric, least}
/** @param {string} text */
function parseFilter(text) {
  const match = /^([a-z]+)>([\d.]+)$/.exec(text), metric = match && metricNamed(match[1]);
  return match && metric ? {metric, least: Number(match[2])} : null;
}

/// The largest value that the slider of a metric has.
/** @param {MeasuredHead[]} heads @param {MetricName} metric */
function largest(heads, metric) {
  return ["entropy", "distance"].includes(metric) ?
      Math.max(0.1, ...heads.map((each) => each.metrics[metric])) :
      1;
}

/** @param {MeasuredHead[]} heads @param {State} state */
function choose(heads, state) {
  const filter = parseFilter(state.least), sort = metricNamed(state.sort);
  const chosen = heads.filter((each) => !filter || each.metrics[filter.metric] >= filter.least);
  if (sort) chosen.sort((a, b) => b.metrics[sort] - a.metrics[sort]);
  return chosen;
}

/// Sections of stacks, side by side where there is room, else one below the other.
/**
 * @param {Trace} trace @param {MeasuredHead[]} heads @param {State} state @param {number} room
 * @returns {HeadsLayout}
 */
function layOut(trace, heads, state, room) {
  const stacks = trace.stackNames;
  const beside = stacks.length > 1 && room / stacks.length >= 330;
  const width = beside ? (room - 36 * (stacks.length - 1)) / stacks.length : room;
  /** @type {HeadBox[]} */
  const boxes = [];
  /** @type {(Point & {stack: Stack})[]} */
  const titles = [];
  let y = 0, tallest = 0;
  stacks.forEach((stack, n) => {
    const own = heads.filter((each) => each.stack === stack);
    const perRow = Math.max(
        ...Array.from({length: trace.layers(stack)}, (_, layer) => trace.heads(stack, layer + 1)), 1);
    const columns =
        width < 420 && perRow > 4 && state.sort !== "place" ? 4 : Math.min(perRow, width < 300 ? 4 : perRow);
    const size = Math.min(Math.max(132, room / 18), (width - kGap * (columns - 1)) / columns);
    const left = beside ? n * (width + 36) : 0, top = beside ? 0 : y;
    const matrix = own[0] && trace.matrix(stack, own[0].layer, own[0].head);
    const ratio = matrix ? Math.max(0.6, Math.min(1.5, matrix.queries / matrix.keys)) : 1;
    titles.push({stack, x: left, y: top});
    let row = 0, column = 0, layer = 0;
    for (const each of own) {
      if (column === columns || (state.sort === "place" && layer !== 0 && each.layer !== layer)) {
        column = 0;
        ++row;
      }
      layer = each.layer;
      boxes.push({
        ...each,
        x: left + column * (size + kGap),
        y: top + kTitle + row * (size * ratio + kCaption + kGap),
        width: size,
        height: size * ratio
      });
      ++column;
    }
    const height = kTitle + (row + 1) * (size * ratio + kCaption + kGap) + 12;
    tallest = Math.max(tallest, height);
    y += height + 14;
  });
  return {boxes, titles, width: room, height: beside ? tallest : y};
}

/** @param {App} app */
export function createAllHeads(app) {
  /** @type {HeadsLayout} */
  let layout = {boxes: [], titles: [], width: 0, height: 0};
  let cursor = -1;

  /** @param {number} x @param {number} y */
  const boxAt = (x, y) => layout.boxes.findIndex(
      (box) => x >= box.x && x <= box.x + box.width && y >= box.y && y <= box.y + box.height + kCaption);
  /** @param {number} index */
  const open = (index) => {
    const box = layout.boxes[index];
    if (box) app.store.set({view: "head", stack: box.stack, layer: box.layer, head: box.head});
  };
  /** @param {HeadBox} box @param {number} x @param {number} y */
  const spotIn = (box, x, y) => {
    const trace = app.shown(), matrix = trace.matrixOf(box);
    const query = Math.floor(((y - box.y) / box.height) * matrix.queries);
    return query < matrix.queries ? trace.querySpot(box.stack, query) : null;
  };

  const sort = select(strings.sortLabel, (value) => app.store.set({sort: value}));
  const metric = select(strings.filterLabel, (value) => {
    const name = metricNamed(value);
    app.store.set({least: name ? `${name}>${(largest(allHeads(app.shown()), name) / 4).toFixed(2)}` : ""});
  });
  const slider = element("input", {
    type: "range",
    min: "0",
    step: "0.01",
    "aria-label": strings.filterAtLeast,
    oninput: () => {
      app.store.set({least: `${parseFilter(app.store.get().least)?.metric}>${slider.value}`}, true);
    }
  });
  const sliderValue = element("output", {});
  const count = element("span", {class: "count", role: "status"});
  const sliderField = element(
      "span", {class: "field slider"}, element("span", {}, strings.filterAtLeast), slider, sliderValue);
  const controls = element("div", {class: "row"}, sort.element, metric.element, sliderField, count);
  controls.classList.add("above");

  /** @param {HeadBox} box */
  const describe = (box) => `${strings.headName(box.stack, box.layer, box.head)}: ` +
      kMetrics.map((name) => `${strings.metrics[name]} ${strings.metricValue(name, box.metrics[name])}`)
          .join(", ");

  const picture = createPicture({
    point(x, y) {
      cursor = boxAt(x, y);
      const box = layout.boxes[cursor];
      app.marks.hover(box ? spotIn(box, x, y) : null);
      mark();
    },
    leave() {
      cursor = -1;
      app.marks.hover(null);
      mark();
    },
    press: (x, y) => open(boxAt(x, y)),
    key(event) {
      if (event.key === "Enter" && cursor >= 0) return open(cursor);
      if (!hasKey(kSteps, event.key)) return;
      const step = kSteps[event.key];
      event.preventDefault();
      cursor = moveCursor(step);
      mark();
    },
  });

  /// The box above or below is the nearest of those that are.
  /** @param {number | string} step */
  const moveCursor = (step) => {
    const last = layout.boxes.length - 1, box = layout.boxes[cursor];
    if (!box || step === "home") return 0;
    if (step === "end") return last;
    if (typeof step === "number") return Math.max(0, Math.min(last, cursor + step));
    const sign = step === "down" ? 1 : -1;
    let best = cursor, least = Infinity;
    layout.boxes.forEach((each, n) => {
      const away = (each.y - box.y) * sign;
      const distance = away + 3 * Math.abs(each.x - box.x);
      if (away > 1 && distance < least) [best, least] = [n, distance];
    });
    return best;
  };

  const mark = () => {
    const trace = app.shown(), colours = app.colours(), spot = app.marks.get();
    const scene = new Scene(layout.width, layout.height);
    for (const box of layout.boxes) {
      const matrix = trace.matrixOf(box);
      const query = trace.queryAt(box.stack, spot), key = trace.keyAt(box.stack, spot?.other ?? spot);
      const row = box.height / matrix.queries, column = box.width / matrix.keys;
      if (query >= 0 && query < matrix.queries) {
        scene.rect(box.x, box.y + row * query, box.width, row, null, {stroke: colours.accent, line: 1.2});
      } else if (key >= 0 && key < matrix.keys) {
        scene.rect(
            box.x + column * key, box.y, column, box.height, null, {stroke: colours.accent, line: 1.2});
      }
    }
    const box = layout.boxes[cursor];
    if (box)
      scene.rect(
          box.x - 3, box.y - 3, box.width + 6, box.height + 6, null,
          {stroke: colours.ink, line: 2, radius: 4});
    picture.mark(scene);
    picture.say(box ? describe(box) : strings.readingHint);
  };

  return {
    element: element("div", {}, controls, picture.element),
    picture,
    mark,
    update() {
      const trace = app.shown(), state = app.store.get(), colours = app.colours();
      const all = allHeads(trace), heads = choose(all, state), filter = parseFilter(state.least);
      const sorted = metricNamed(state.sort);
      /** @type {[string, string][]} */
      const metrics = kMetrics.map((name) => [name, strings.metrics[name]]);
      sort.show([["place", strings.place], ...metrics], sorted ?? "place");
      metric.show([["", strings.everyHead], ...metrics], filter?.metric ?? "");
      metric.element.title = filter ? strings.metricHelp[filter.metric] : "";
      sliderField.hidden = !filter;
      if (filter) {
        slider.max = largest(all, filter.metric).toFixed(2);
        slider.value = String(filter.least);
        sliderValue.textContent = strings.metricValue(filter.metric, filter.least);
      }
      count.textContent = heads.length === 0 ? strings.noHeads : strings.headsShown(heads.length, all.length);
      layout = layOut(trace, heads, state, picture.room());
      cursor = Math.min(cursor, layout.boxes.length - 1);
      const scene = new Scene(layout.width, layout.height);
      for (const {stack, x, y} of layout.titles) {
        scene.text(x, y + 20, strings.stacks[stack], {size: 15, bold: true, fill: colours.ink});
      }
      const chosen = app.place();
      for (const box of layout.boxes) {
        const matrix = trace.matrixOf(box);
        scene.map(
            box.x, box.y, box.width, box.height, matrix.queries, matrix.keys,
            (query, key) => colours.weightParts(matrix.at(query, key)));
        const here = box.stack === chosen.stack && box.layer === chosen.layer && box.head === chosen.head;
        scene.rect(
            box.x, box.y, box.width, box.height, null,
            {stroke: here ? colours.accent : colours.rule, line: here ? 2 : 1});
        const name = box.width > 26 ? `${box.layer}.${box.head}` : "";
        const value = sorted && box.width > 70 ? `  ${strings.metricValue(sorted, box.metrics[sorted])}` : "";
        scene.text(
            box.x, box.y + box.height + 13, name + value,
            {size: 11, fill: here ? colours.accent : colours.faint});
      }
      picture.show(
          scene, app.describePicture(strings.views.heads),
          () => numberTable(
              strings.views.heads, [strings.head, ...kMetrics.map((name) => strings.metrics[name])],
              heads.map(
                  (each) =>
                      [strings.headName(each.stack, each.layer, each.head),
                       ...kMetrics.map((name) => strings.metricValue(name, each.metrics[name]))])));
      mark();
    },
  };
}
