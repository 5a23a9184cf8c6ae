// Lists the files of each model of a site for browsers in its files.json, and describes the models in
// models/models.json, by asking heed.wasm: see make-site.
//
//   node scripts/site-models.mjs SITE
import {readdirSync, writeFileSync} from "node:fs";
import {join, resolve} from "node:path";
import {pathToFileURL} from "node:url";

const site = resolve(process.argv[2]), models = join(site, "models");
const {createCalls} = await import(pathToFileURL(join(site, "heed/calls.js")).href);

const data = [];
/// The paths of all files in a directory.
const filesIn = (directory, prefix = "") => readdirSync(directory, {withFileTypes: true}).flatMap(
    (entry) => entry.isDirectory() ? filesIn(join(directory, entry.name), `${prefix}${entry.name}/`) :
                                     `${prefix}${entry.name}`);

for (const name of readdirSync(models)) {
  writeFileSync(join(models, name, "files.json"), JSON.stringify(filesIn(join(models, name)).sort()) + "\n");
  const call = createCalls();
  const answer = await call({
    open: {name, precision: "int8", bundled: true},
    url: pathToFileURL(`${join(models, name)}/`).href,
  });
  const described = JSON.parse(new TextDecoder().decode(answer.body));
  if (answer.status !== 200) throw new Error(`${name}: ${described.error?.message ?? described.error}`);
  data.push(described);
}
writeFileSync(join(models, "models.json"), JSON.stringify({object: "list", data}) + "\n");
