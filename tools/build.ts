/**
 * `npm run build`: bundles src/ into dist/, with the data files next to the bundles and the types of each export in one file.
 */

import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Command } from "commander";
import { writeBundles } from "./bundles.ts";
import { rollUpTypes } from "./docs/public-api.ts";
import { writeDescriptions } from "./generate/descriptions.ts";
import { licenses } from "./licenses.ts";
import { replaceDirectory } from "./replace-directory.ts";

const root = join(import.meta.dirname, "..");
const dist = join(root, "dist");

new Command("npm run build")
  .description("Bundles src/ into dist/, with the data files and the types of each export.")
  .parse();

// Another process may use an earlier build meanwhile, such as a test.
const own = `.build-${process.pid}`;
const building = join(root, own);
mkdirSync(building);
try {
  execFileSync(process.execPath, [join(root, "tools/ensure-installed.mjs"), "tools/docs"], { stdio: "inherit" });
  const { problems } = rollUpTypes(building, "compare");
  if (problems.length > 0) throw new Error(problems.join("\n"));
  const bundles = await writeBundles(own);
  await writeDescriptions(building);
  writeFileSync(join(building, "THIRD-PARTY-LICENSES.txt"), licenses(root, bundles));
  chmodSync(join(building, "main.js"), 0o755);
  mkdirSync(dist, { recursive: true });
  replaceDirectory(building, dist);
} finally {
  rmSync(building, { recursive: true, force: true });
}
