/**
 * `npm run build`: bundles src/ into dist/, with the data files next to the bundles and the types of each export in one file.
 */
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { writeBundles } from "./bundles.ts";
import { rollUpTypes } from "./docs/public-api.ts";
import { writeDescriptions } from "./generate/descriptions.ts";
import { licenses } from "./licenses.ts";

const root = join(import.meta.dirname, "..");
const dist = join(root, "dist");

rmSync(dist, { recursive: true, force: true });
mkdirSync(dist);
execFileSync(process.execPath, [join(root, "tools/ensure-installed.mjs"), "tools/docs"], { stdio: "inherit" });
const { problems } = rollUpTypes(dist, "compare");
if (problems.length > 0) throw new Error(problems.join("\n"));
const bundles = await writeBundles("dist");
await writeDescriptions(dist);
writeFileSync(join(dist, "THIRD-PARTY-LICENSES.txt"), licenses(root, bundles));
chmodSync(join(dist, "main.js"), 0o755);
