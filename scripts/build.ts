/**
 * `npm run build`: bundles src/ into dist/, so that the packed package loads a few files instead of two hundred, with the data beside them
 * and the types under dist/types.
 */
import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build, type Metafile } from "esbuild";
import { writeDescriptions } from "./generate/descriptions.ts";

const root = join(import.meta.dirname, "..");
const dist = join(root, "dist");

rmSync(dist, { recursive: true, force: true });
mkdirSync(dist);
const { status } = spawnSync(join(root, "node_modules/.bin/tsc"), ["--project", "tsconfig.build.json"], { cwd: root, stdio: "inherit" });
if (status !== 0) process.exit(status ?? 1);
const { metafile } = await build({
  absWorkingDir: root,
  entryPoints: { index: "src/index.ts", main: "src/main.ts", cel: "src/lib/cel/index.ts", "structured-merge": "src/lib/structured-merge/index.ts" },
  outdir: "dist",
  bundle: true,
  splitting: true, // What is loaded only when it is needed stays in files of its own.
  format: "esm",
  platform: "node",
  target: "node24",
  mainFields: ["module", "main"],
  external: ["commander", "lmdb", "ws", "@kubernetes/client-node"], // The libraries for certificates are bundled: they load in half the time.
  metafile: true,
  logLevel: "warning",
});
for (const file of globSync("*.json", { cwd: join(root, "src/data") })) cpSync(join(root, "src/data", file), join(dist, file));
await writeDescriptions(dist);
writeFileSync(join(dist, "THIRD-PARTY-LICENSES.txt"), licenses(metafile));
chmodSync(join(dist, "main.js"), 0o755);

/** What the licenses of the bundled packages ask to be passed on with them. */
function licenses({ inputs }: Metafile): string {
  const packages = new Set(Object.keys(inputs).flatMap((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file) ?? []));
  return [...packages].sort().map(license).join("\n");
}

/** @throws Error when the package comes without its license */
function license(directory: string): string {
  const { name, version } = JSON.parse(readFileSync(join(root, directory, "package.json"), "utf8"));
  const [file] = globSync("{LICENSE,LICENCE}*", { cwd: join(root, directory) });
  if (file === undefined) throw new Error(`${directory} has no license file`);
  return `${name} ${version}\n\n${readFileSync(join(root, directory, file), "utf8").trim()}\n`;
}
