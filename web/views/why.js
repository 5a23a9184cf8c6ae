// Why: how much each source token and each earlier target token contributes to a token that the model writes,
// by one of four methods (include/heed/attribution.h), also against an alternative.

import {attribution, createQuestion, readingOf} from "../connection/api.js";
import {choice, element} from "../page/dom.js";
import {hasKey, keysOf} from "../page/keys.js";
import {kindOf} from "../page/outcome.js";
import {createProgress} from "../page/progress.js";
import {tokenLabels} from "../picture/labels.js";
import {createPicture, numberTable} from "../picture/picture.js";
import {Scene, textWidth} from "../picture/scene.js";
import {strings} from "../strings.js";

import {createInstead} from "./instead.js";

const kLetters = 17, kNumbers = 12, kBoxHeight = 46, kGap = 4, kWordGap = 9, kTitle = 26;
// Full colours are for marks: letters stay legible on these.
const kStrongest = 0.6;

/// The target token that is explained where none is chosen, from 0: the last word.
/** @param {Trace} trace */
export function usualToken(trace) {
  for (let n = trace.targetLabels.length - 1; n >= 0; --n) {
    const {text, special, begins} = trace.targetLabels[n];
    if (!special && begins && /\p{L}/u.test(text)) return n;
  }
  return 0;
}

/// The answer for one token, with labels.
class Explanation {
  /** @param {AttributionJson} json @param {Trace} trace */
  constructor(json, trace) {
    this.json = json;
    this.kind = kindOf(trace);
    this.token = json.tokens[0] - 1;
    this.values = json.attributions[0];
    this.source = tokenLabels(json.source_tokens);
    this.isShare = json.method === "rollout";
    /// Classes have names; all else is tokens.
    this.target = this.kind === "classification" ?
        json.target_tokens.map((text) => ({text, special: false, begins: true})) :
        tokenLabels(json.target_tokens);
    const instead = json.instead[0];
    this.instead = instead === null    ? null :
        this.kind === "classification" ? instead :
                                         tokenLabels([instead])[0].text;
    this.what = strings.whatIsExplained(this.target[this.token].text, this.instead);
    this.largest = Math.max(1e-9, ...this.values.map(Math.abs));
  }

  /// The value of a token, or null: of the explained one and those that follow it.
  /** @param {Side} side @param {number} index */
  valueOf(side, index) {
    const at = side === "source" ? index : this.source.length + index;
    return side === "target" && index >= this.token ? null : this.values[at] ?? null;
  }

  /// That of the explained token; empty where its logarithm is not what is explained.
  probability() {
    const logarithm = this.json.log_probability[0];
    return logarithm === null || this.instead !== null ? "" : strings.percent(Math.exp(logarithm));
  }

  /** @param {number} value */
  textOf(value) { return this.isShare ? strings.percent(value) : strings.signed(value); }

  /// The sum of the values, and what it should be.
  sum() {
    const {json, what} = this, sum = json.sum[0], value = json.log_probability[0] ?? NaN;
    switch (json.method) {
      case "integrated":
        return strings.sumOfIntegrated(
            what, value, sum, json.difference[0] ?? NaN, json.baseline ?? "", json.evaluations[0]);
      case "gradient":
        return strings.sumOfGradient(what, value, sum);
      case "leave-out":
        return strings.sumOfLeaveOut(what, value, sum);
      default:
        return strings.sumOfRollout(sum);
    }
  }

  /// What is above the tokens of a side.
  /** @param {Side} side */
  title(side) {
    if (side === "source") return this.kind === "translation" ? strings.whyOfSource : strings.whyOfText;
    return this.kind === "translation" ? strings.whyOfTarget :
        this.kind === "classification" ? strings.whyOfClass :
        this.kind === "text"           ? strings.whyOfNext :
                                         strings.whyOfMask;
  }

  csv() {
    const rows =
        /** @type {Side[]} */ (["source", "target"])
            .flatMap(
                (side) =>
                    this.json[side === "source" ? "source_tokens" : "target_tokens"].flatMap((token, n) => {
                      const value = this.valueOf(side, n);
                      return value === null ? [] :
                                              [`${side},${n + 1},"${token.replace(/"/g, "\"\"")}",${value}`];
                    }));
    return ["side,position,token,contribution", ...rows].join("\n") + "\n";
  }
}

/// Where the tokens are: from left to right, in as many lines as they need.
/** @param {Explanation} why @param {number} room */
function layOut(why, room) {
  /** @type {WhyBox[]} */
  const boxes = [];
  /** @type {(Point & {text: string})[]} */
  const titles = [];
  let y = 0;
  for (const side of /** @type {Side[]} */ (["source", "target"])) {
    titles.push({x: 2, y: y + 14, text: why.title(side)});
    y += kTitle;
    let x = 2;
    why[side].forEach((label, index) => {
      const value = why.valueOf(side, index), explained = side === "target" && index === why.token;
      const text = value !== null ? why.textOf(value) : explained ? why.probability() : "";
      const width = Math.ceil(Math.max(textWidth(label.text, kLetters), textWidth(text, kNumbers), 18)) + 12;
      x += index === 0 ? 0 : label.begins ? kWordGap : kGap;
      if (x > 2 && x + width > room) {
        x = 2;
        y += kBoxHeight + kGap + 2;
      }
      boxes.push({side, index, label, value, text, explained, x, y, width, height: kBoxHeight});
      x += width;
    });
    y += kBoxHeight + 16;
  }
  return {boxes, titles, width: room, height: y - 8};
}

/** @param {Explanation} why @param {ReturnType<typeof layOut>} layout @param {Colours} colours */
function drawWhy(why, layout, colours) {
  const scene = new Scene(layout.width, layout.height);
  for (const {x, y, text} of layout.titles) scene.text(x, y, text, {size: 13, fill: colours.faint});
  for (const {x, y, width, height, label, value, text, explained} of layout.boxes) {
    const middle = x + width / 2;
    if (value !== null)
      scene.rect(x, y, width, height, colours.signed(value, why.largest / kStrongest), {radius: 5});
    if (explained) scene.rect(x, y, width, height, null, {stroke: colours.accent, line: 2, radius: 5});
    scene.text(middle, y + (text ? 21 : 29), label.text, {
      size: kLetters,
      align: "middle",
      bold: explained,
      fill: value === null && !explained ? colours.faint : colours.ink
    });
    scene.text(middle, y + 38, text, {size: kNumbers, align: "middle", fill: colours.ink});
  }
  return scene;
}

/// What the state asks: `token` from 1 of a translation, 0 where there is one prediction.
/** @param {App} app */
function asked(app) {
  const {method: named, instead} = app.store.get(), trace = app.trace(), pinned = app.pinned();
  const method = hasKey(strings.methods, named) ? named : "integrated";
  const chosen = pinned?.side === "target" && pinned.index < trace.targetTokens.length ? pinned.index :
                                                                                         usualToken(trace);
  return {
    method,
    token: kindOf(trace) === "translation" ? chosen + 1 : 0,
    instead: method === "rollout" ? "" : instead
  };
}

/** @param {App} app @returns {View} */
export function createWhy(app) {
  const question = createQuestion(attribution), progress = createProgress(),
        alternatives = createInstead(app, strings.insteadLabel);
  const methods = choice(
      strings.method, keysOf(strings.methods).map((name) => [name, strings.methods[name]]),
      (value) => app.store.set({method: value, ...(value === "rollout" ? {instead: ""} : {})}));
  const note = element("p", {class: "note-line"}), sum = element("p", {class: "note-line sum"});
  /** @type {Explanation | null} */
  let why = null;
  /** @type {ReturnType<typeof layOut> | null} */
  let layout = null;
  let cursor = 0;

  /** @param {number} x @param {number} y */
  const boxAt = (x, y) => (layout?.boxes ?? [])
                              .findIndex(
                                  (box) => x >= box.x - 2 && x <= box.x + box.width + 2 && y >= box.y &&
                                      y <= box.y + box.height + kGap);
  /** @param {number} index */
  const point = (index) => {
    const box = layout?.boxes[index];
    if (box) cursor = index;
    app.marks.hover(box ? {side: box.side, index: box.index} : null);
  };
  /** @param {number} index */
  const explain = (index) => {
    const box = layout?.boxes[index];
    if (box?.side === "target" && why?.kind === "translation" && !box.explained)
      app.store.set({token: `t${box.index + 1}`, instead: ""});
  };
  /// The box above or below another.
  /** @param {number} from @param {number} down */
  const beside = (from, down) => {
    const boxes = layout?.boxes ?? [], own = boxes[from];
    const lines = [...new Set(boxes.map((box) => box.y))], line = lines[lines.indexOf(own.y) + down];
    const there = boxes.filter((box) => box.y === line);
    if (there.length === 0) return from;
    const nearest = there.reduce((a, b) => Math.abs(b.x - own.x) < Math.abs(a.x - own.x) ? b : a);
    return boxes.indexOf(nearest);
  };
  const picture = createPicture({
    point: (x, y) => point(boxAt(x, y)),
    leave: () => point(-1),
    press: (x, y) => explain(boxAt(x, y)),
    key(event) {
      const count = layout?.boxes.length ?? 0;
      if (count === 0) return;
      const right = {ArrowRight: 1, ArrowLeft: -1}[event.key], down = {ArrowDown: 1, ArrowUp: -1}[event.key];
      if (event.key === "Enter")
        explain(cursor);
      else if (right)
        point(Math.max(0, Math.min(count - 1, cursor + right)));
      else if (down)
        point(beside(cursor, down));
      else
        return;
      event.preventDefault();
    },
  });

  picture.element.hidden = true;  // until there is one

  const mark = () => {
    const spot = app.marks.get(), marked = spot?.side === "target" && spot.index === why?.token ? null : spot;
    const box = layout?.boxes.find((each) => each.side === marked?.side && each.index === marked.index);
    if (!layout || !why || !box) {
      picture.mark(null);
      return picture.say(why?.kind === "translation" ? strings.whyHint : strings.pointHint);
    }
    const scene = new Scene(layout.width, layout.height);
    scene.rect(box.x, box.y, box.width, box.height, null, {stroke: app.colours().ink, line: 1.5, radius: 5});
    picture.mark(scene);
    picture.say(
        box.value === null ? strings.notRead(box.label.text) :
            why.isShare    ? strings.hasShare(box.label.text, box.value) :
                             strings.contributes(box.label.text, why.what, box.value));
  };

  const draw = () => {
    picture.element.hidden = !why;
    sum.textContent = why?.sum() ?? "";
    if (!why) return app.pictureChanged();
    const there = layout = layOut(why, picture.room());
    cursor = Math.min(cursor, there.boxes.length - 1);
    picture.show(
        drawWhy(why, there, app.colours()), app.describePicture(why.what),
        () => numberTable(
            why?.what ?? "", [strings.token, strings.role, strings.contribution],
            there.boxes.filter((box) => box.value !== null)
                .map(
                    ({label, side, value}) =>
                        [label.text, side === "source" ? strings.source : strings.target,
                         (value ?? 0).toFixed(4)])));
    mark();
    app.pictureChanged();
  };

  return {
    element: element(
        "div", {}, element("div", {class: "row above"}, methods.element), alternatives.element,
        progress.element, note, picture.element, sum),
    picture,
    mark,
    leave() {
      question.drop();
      progress.end();
    },
    takeaway() {
      const {method, token, instead} = asked(app);
      return {
        name: `why-${method}${token ? `-${token}` : ""}`,
        json: why && JSON.stringify(why.json, null, 1),
        csv: why && why.csv(),
        command: "attribute",
        options: [
          "--method", method, ...(token ? ["--token", String(token)] : []),
          ...(instead ? ["--instead", instead] : [])
        ]
      };
    },
    async update() {
      const state = app.store.get(), trace = app.trace();
      if (app.file) return note.replaceChildren(app.needsModel());
      if (state.words) return app.store.set({words: false}, true);
      const {method, token, instead} = asked(app);
      methods.show(method);
      app.lead(strings.leadOfWhy[method]);
      const answering = question.ask(
          {...readingOf(state, trace), method, ...(token ? {token} : {}), ...(instead ? {instead} : {})});
      progress.begin();
      picture.element.classList.add("stale");
      alternatives.update(method === "rollout" ? null : token - 1);
      const answer = await answering;
      if (!answer) return;
      progress.end();
      picture.element.classList.remove("stale");
      note.textContent = answer.failure ?? (state.off ? strings.withAllHeads : "");
      why = answer.result ? new Explanation(answer.result, trace) : null;
      draw();
    },
  };
}
