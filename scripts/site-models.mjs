// Lists the files of each model of a site for browsers in its files.json, and describes the models in
// models/models.json, by asking heed.wasm: see make-site.
//
//   node scripts/site-models.mjs SITE TIME
//
// TIME, in seconds since 1970, is the "created" of each model; heed.wasm gives the current time.
import {readdirSync, writeFileSync} from "node:fs";
import {join, resolve} from "node:path";
import {pathToFileURL} from "node:url";

const site = resolve(process.argv[2]), created = Number(process.argv[3]), models = join(site, "models");
const {createCalls} = await import(pathToFileURL(join(site, "heed/calls.js")).href);

const data = [];
const open = (call, name) => call({
  open: {name, precision: "int8", bundled: true},
  url: pathToFileURL(`${join(models, name)}/`).href,
});
const textOf = (answer) => new TextDecoder().decode(answer.body);

/// The paths of all files in a directory.
const filesIn = (directory, prefix = "") => readdirSync(directory, {withFileTypes: true}).flatMap(
    (entry) => entry.isDirectory() ? filesIn(join(directory, entry.name), `${prefix}${entry.name}/`) :
                                     `${prefix}${entry.name}`);

/// Those that a model is loaded from: all but its card.
const loadedFrom = (directory) => filesIn(directory).filter((path) => path !== "README.md").sort();

for (const name of readdirSync(models)) {
  writeFileSync(join(models, name, "files.json"), JSON.stringify(loadedFrom(join(models, name))) + "\n");
  const answer = await open(createCalls(), name), described = JSON.parse(textOf(answer));
  if (answer.status !== 200) throw new Error(`${name}: ${described.error?.message ?? described.error}`);
  data.push({...described, created});
}

// The pairs that several of them translate, one for each pair.
const translators = data.filter(({pair}, n) => pair && data.findIndex((each) => each.pair === pair) === n);
const together = createCalls();
for (const {id} of translators) await open(together, id);
const {chains} = JSON.parse(textOf(await together({method: "GET", path: "/v1/models", body: ""})));
writeFileSync(join(models, "models.json"), JSON.stringify({object: "list", data, ...(chains ? {chains} : {})}) + "\n");
