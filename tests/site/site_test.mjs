// Compares heed.js with the command in both precisions: text, tokens and scores. With HEED_ISA=sse4, whose vectors
// have as many lanes, most scores are the same bits.
//
//   node site_test.mjs HEED SITE [SENTENCES]    SENTENCES: a file with one in a line
// Ends with 77, skipped, where there is no SITE.
import {spawnSync} from "node:child_process";
import {existsSync, readFileSync, readdirSync} from "node:fs";
import {join, resolve} from "node:path";
import {pathToFileURL} from "node:url";

const [command, site, sentences] = process.argv.slice(2);
if (!existsSync(join(site, "heed.wasm"))) {
  console.log(`${site} has no heed.wasm: make site builds it`);
  process.exit(77);
}
const {Heed} = await import(pathToFileURL(resolve(site, "heed.js")).href);
const directory = join(resolve(site), "models/de-en/");

const subjects = ["Der Hund", "Meine Schwester", "Niemand", "Der alte Lehrer", "Anna, die in Köln wohnt,"];
const actions = [
  "schläft auf dem Sofa.", "hat gestern drei Bücher gekauft.", "kommt um 18:30 Uhr an.", "glaubt mir nicht!",
  "fragt: „Wo ist der Bahnhof?“", "wartet seit Montag auf eine Antwort. Das ist zu lange."
];
const lines = sentences ? readFileSync(sentences, "utf-8").split("\n").filter((line) => line.trim()) :
                          subjects.flatMap((subject) => actions.map((action) => `${subject} ${action}`));

/// What the command says in JSON, and the milliseconds that it says it took.
function byCommand(precision) {
  const options = ["--precision", precision, "--json", "--quiet", "--threads", "1", "--no-split-sentences"];
  const native = spawnSync(command, ["translate", "--model", directory, ...options],
                           {input: lines.join("\n") + "\n", encoding: "utf-8", maxBuffer: 1 << 30});
  if (native.status !== 0) throw new Error(`${command}: ${native.stderr}`);
  const found = native.stdout.trim().split("\n").map((line) => JSON.parse(line));
  if (found.length !== lines.length) throw new Error(`${found.length} translations of ${lines.length} lines`);
  return found;
}

let failures = 0;
/// Translates all lines with both, and says how they differ.
async function compare(precision) {
  const expected = byCommand(precision);
  const translator = await Heed.load(pathToFileURL(directory).href, {precision});
  let same = 0, equalScores = 0, milliseconds = 0, words = 0;
  for (const [n, line] of lines.entries()) {
    const begin = performance.now(), found = await translator.details(line, {split_sentences: false});
    milliseconds += performance.now() - begin;
    words += line.split(/\s+/).length;
    const wanted = expected[n];
    if (found.score === wanted.score) ++equalScores;
    // Sums of float32 in another order: a few units in the last place of each token's log-probability.
    if (found.translation === wanted.translation &&
        JSON.stringify(found.pieces) === JSON.stringify(wanted.pieces) &&
        Math.abs(found.score - wanted.score) < 1e-4) {
      ++same;
      continue;
    }
    console.log(`${line}\n  command: ${wanted.translation} ${wanted.score}\n  module:  ${found.translation} ${found.score}`);
  }
  failures += lines.length - same;
  console.log(`${precision}: ${same} of ${lines.length} as the command's, ${equalScores} scores to the last bit, ` +
              `${(milliseconds / lines.length).toFixed(1)} ms a sentence, ${(1000 * words / milliseconds).toFixed(0)} words/s`);
  return {translator, expected};
}

(await compare("float32")).translator.close();
const {translator, expected} = await compare("int8");

// What cannot be translated is an error with the command's words, and the module goes on.
const refused = await translator.translate("Hallo", {beam: -1}).then(() => "", (error) => error.message);
if (!/beam/i.test(refused)) throw new Error(`a wrong beam size is refused as '${refused}'`);
if (await translator.translate(lines[0]) !== expected[0].translation) throw new Error("another result after an error");
const missing = await Heed.load(pathToFileURL(join(site, "models/")).href).then(() => "", (error) => error.message);
if (!/config\.json/.test(missing)) throw new Error(`a directory without a model is refused as '${missing}'`);
translator.close();

// Each model comes with its card, which is not loaded with it.
for (const entry of readdirSync(join(site, "models"), {withFileTypes: true}).filter((each) => each.isDirectory())) {
  const model = join(site, "models", entry.name), loaded = JSON.parse(readFileSync(join(model, "files.json"), "utf-8"));
  if (!existsSync(join(model, "README.md"))) throw new Error(`${model} has no card`);
  if (loaded.includes("README.md")) throw new Error(`${model} is loaded with its card`);
}
process.exit(failures === 0 ? 0 : 1);
