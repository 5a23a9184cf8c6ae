// Takes the picture, the numbers and the command with you.

import {attentionPicture, chosenLanguages, modelOf, readingOf} from "../connection/api.js";
import {contextOf, element, messageOf} from "../page/dom.js";
import {parseHeads, parseWords, writeHeads} from "../state.js";
import {strings} from "../strings.js";

import {allHeads, kMetrics} from "./metrics.js";
import {paint, toSvg} from "./scene.js";
import {kStacks} from "./trace.js";

/** @param {string} name @param {Blob | string} content @param {string} [type] */
function save(name, content, type) {
  const url = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], {type}));
  element("a", {href: url, download: name}).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

/// Whether a text has got into the clipboard: browsers refuse it without https, and in frames of notebooks.
/** @param {string} text */
async function copyText(text) {
  try {
    if (!navigator.clipboard) return false;
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

/// A word for a shell.
/** @param {string} text */
function shellWord(text) {
  return /^[A-Za-z0-9_.,:=@/+-]+$/.test(text) ? text : `'${text.replace(/'/g, "'\\''")}'`;
}

/// The heads of a picture, as the command and the server name them.
/** @param {Place} place */
function headOption({view, head}) {
  if (head > 0) return String(head);
  return view === "lines" ? "all" : "mean";
}

/// Asks the server for the PDF of what is shown, drawn by the library.
/** @param {App} app */
async function drawPdf(app) {
  const state = app.store.get(), place = app.place(), off = parseHeads(state.off);
  const changes = {...(state.target ? {target: state.target} : {}), ...(off.length ? {ablate: off} : {})};
  const {view, stack, layer} = place;
  const what = view === "heads" ? {} : {stack, layer: String(layer), head: headOption(place)};
  return attentionPicture(state, changes, {format: "pdf", ...what});
}

/// The options of a command that choose the model and its languages.
/** @param {App} app */
function modelWords(app) {
  const state = app.store.get(), trace = app.trace(), words = [];
  const ofFile = app.file?.command?.replace("heed serve ", "") ?? "";
  const pair = state.pair || (/^[a-z]{2,3}-[a-z]{2,3}$/.test(trace.model) ? trace.model : "");
  const model = app.file ? null : modelOf(state);
  if (ofFile.startsWith("--model"))
    words.push(ofFile);
  else if (model?.path)
    words.push("--model", shellWord(model.path));
  else if (model && model.id !== pair)  // of a site's models, only those of the bundled pairs have a name
    words.push("--model", shellWord(`models/${model.id}`));
  else if (pair && pair !== "de-en")
    words.push("--pair", pair);
  if (!app.file) {
    const {source_language: source, target_language: target} = chosenLanguages(state);
    if (source) words.push("--source-language", shellWord(source));
    if (target) words.push("--target-language", shellWord(target));
  }
  const own = model?.precisions[0] ?? "";
  const precision = state.precision || (own === "float32" ? "" : own);
  if (precision) words.push("--precision", precision);
  return words;
}

/// The command that makes the same picture, or another output of it.
/** @param {App} app @param {string} output */
function commandFor(app, output) {
  const given = app.view()?.takeaway?.();
  if (!given) return attendCommand(app, output);
  const {target} = readingOf(app.store.get(), app.trace());
  return [
    "heed", given.command, shellWord(app.trace().source || app.trace().target),
    ...(given.texts ?? []).map(shellWord), ...modelWords(app),
    ...(target ? ["--target", shellWord(String(target))] : []), ...given.options.map(shellWord), "--output",
    output
  ].join(" ");
}

/** @param {App} app @param {string} output */
function attendCommand(app, output) {
  const state = app.store.get(), trace = app.trace(), place = app.place();
  const words = ["heed", "attend", shellWord(trace.source || trace.target), ...modelWords(app)];
  if (app.file?.options) words.push(app.file.options);
  if (state.target) words.push("--target", shellWord(state.target));
  if (!state.target) {
    if (state.prefix) words.push("--prefix", shellWord(state.prefix));
    for (const text of parseWords(state.require)) words.push("--require", shellWord(text));
    for (const text of parseWords(state.forbid)) words.push("--forbid", shellWord(text));
  }
  if (state.beam > 0) words.push("--beam", String(state.beam));
  if (state.penalty) words.push("--length-penalty", state.penalty);
  for (const off of parseHeads(state.off)) {
    if (!off.scale)
      words.push("--ablate", writeHeads([off]));  // the command switches off, and does not scale
  }
  if (place.view !== "heads")
    words.push("--stack", place.stack, "--layer", String(place.layer), "--head", headOption(place));
  if (state.words) words.push("--words");
  if (output) words.push("--output", output);
  return words.join(" ");
}

/// The weights as they are in the JSON of `heed attend --json`.
/** @param {Trace} trace */
function traceJson(trace) {
  /** @type {Partial<Record<Stack, WeightsJson>>} */
  const stacks = {};
  for (const stack of kStacks) {
    stacks[stack] = trace.stacks[stack].map(
        (layer) => layer.map(
            (matrix) =>
                (matrix ? Array.from(
                              {length: matrix.queries},
                              (_, query) => Array.from(
                                  matrix.weights.subarray(query * matrix.keys, (query + 1) * matrix.keys),
                                  (weight) => Number(weight.toPrecision(6)))) :
                          [])));
  }
  return JSON.stringify({
    version: 1,
    model: trace.model,
    source: trace.source,
    target: trace.target,
    source_tokens: trace.sourceTokens,
    target_tokens: trace.targetTokens,
    decoder_tokens: trace.decoderTokens,
    heads: trace.averaged ? "mean" : "all",
    attention: stacks,
  });
}

/** @param {string} text */
const quote = (text) => `"${String(text).replace(/"/g, "\"\"")}"`;

/// One line for each weight of the chosen head; of all heads, one line for each head.
/** @param {App} app */
function csv(app) {
  const trace = app.shown(), {view, stack, layer, head} = app.place();
  if (view === "heads") {
    const lines = allHeads(trace).map(
        (each) => [each.stack, each.layer, each.head,
                   ...kMetrics.map((name) => each.metrics[name].toFixed(5))]
                      .join(","));
    return ["stack,layer,head," + kMetrics.join(","), ...lines].join("\n") + "\n";
  }
  const matrix = trace.matrix(stack, layer, head);
  if (!matrix) return "";
  const keys = trace.keyLabels(stack);
  return [
    "query_number,query,key_number,key,weight",
    ...trace.queryLabels(stack).flatMap(
        (query, q) => keys.map(
            (key, k) => [q + 1, quote(query.text), k + 1, quote(key.text), matrix.at(q, k).toPrecision(5)]
                            .join(",")))
  ].join("\n") +
      "\n";
}

/** @param {Scene} scene @param {string} background @param {BlobCallback} done */
function png(scene, background, done) {
  const canvas = document.createElement("canvas"),
        ratio = Math.min(2, 8192 / Math.max(scene.width, scene.height));
  canvas.width = scene.width * ratio;
  canvas.height = scene.height * ratio;
  const context = contextOf(canvas);
  context.fillStyle = background;
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.scale(ratio, ratio);
  paint(scene, context);
  canvas.toBlob(done, "image/png");
}

/** @param {App} app */
export function createExport(app) {
  const labels = strings.exportLabels;
  const taken = () => app.view()?.takeaway?.() ?? null;
  const name = () => {
    const given = taken();
    if (given) return given.name;
    const {view, stack, layer, head} = app.place();
    return view === "heads" ? "attention" : `attention-${stack}-${layer}${head > 0 ? `-${head}` : ""}`;
  };
  /// That of the picture, as long as it is shown.
  const scene = () => {
    const picture = app.view()?.picture;
    return picture && !picture.element.hidden ? picture.scene : null;
  };
  /** @param {(scene: Scene, label: string) => void} take */
  const withScene = (take) => {
    const there = scene();
    if (there) take(there, app.view()?.picture?.label ?? "");
  };
  const command = element("code", {}), intro = element("p", {}),
        failed = element("p", {class: "needs", role: "status"});
  const copy = element(
      "button", {
        type: "button",
        onclick: async () => {
          const copied = await copyText(command.textContent ?? "");
          if (!copied) getSelection()?.selectAllChildren(command);
          copy.textContent = copied ? strings.copied : strings.selected;
          setTimeout(() => {
            copy.textContent = strings.copy;
          }, copied ? 1500 : 4000);
        }
      },
      strings.copy);
  /** @param {string} label @param {() => void} action */
  const button = (label, action, needsPicture = false) => {
    const made = element("button", {type: "button", onclick: action}, label);
    made.dataset.picture = needsPicture ? "1" : "";
    return made;
  };
  const jsonButton = button(
      labels.json,
      () => save(
          `${taken()?.name ?? "attention"}.json`, taken()?.json ?? traceJson(app.shown()),
          "application/json"));
  const csvButton = button(labels.csv, () => save(`${name()}.csv`, taken()?.csv ?? csv(app), "text/csv"));
  const buttons = [
    button(
        labels.svg,
        () => withScene(
            (of, label) =>
                save(`${name()}.svg`, toSvg(of, label, app.colours().background), "image/svg+xml")),
        true),
    button(
        labels.png,
        () => withScene(
            (of) => png(of, app.colours().background, (blob) => blob && save(`${name()}.png`, blob))),
        true),
    jsonButton,
    csvButton,
  ];
  const pdf = element(
      "button", {
        type: "button",
        title: app.file ? strings.pdfHint : null,
        onclick: async () => {
          if (!app.file && !taken()) {
            try {
              return save(`${name()}.pdf`, await drawPdf(app), "application/pdf");
            } catch (error) {
              failed.textContent = messageOf(error);
            }
          }
          command.textContent = commandFor(app, `${name()}.pdf`);
          command.scrollIntoView({block: "nearest"});
        }
      },
      labels.pdf);
  buttons.splice(2, 0, pdf);
  return {
    element: element(
        "section", {class: "export", "aria-label": strings.exports}, element("h2", {}, strings.exports),
        element("div", {class: "row"}, buttons), failed, intro,
        element("div", {class: "command"}, command, copy)),
    update() {
      const given = taken();
      for (const made of buttons) made.disabled = made.dataset.picture === "1" && !scene();
      jsonButton.disabled = csvButton.disabled = given !== null && given.json === null;
      pdf.disabled = given?.extension !== undefined;
      failed.textContent = "";
      intro.textContent = given?.extension ? strings.commandOfNumbers : strings.commandIntro(given !== null);
      command.textContent =
          commandFor(app, given ? `${name()}.${given.extension ?? "svg"}` : "attention.svg");
    },
  };
}
