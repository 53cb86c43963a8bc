/**
 * `npm run executable`: builds executable/coxswain, the command in one file for machines without Node.js, of this machine's platform. It contains this
 * Node.js, the command with its dependencies as one module, the data files, and the addon of lmdb.
 */

import { execFileSync } from "node:child_process";
import { globSync, mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join, relative, resolve } from "node:path";
import { Command } from "commander";
import { build, type Metafile, type Plugin } from "esbuild";
import { writeDescriptions } from "../generate/descriptions.ts";
import { licenses } from "../licenses.ts";
import { addonAsset } from "./addon-asset.ts";

const root = join(import.meta.dirname, "../..");
const isWindows = process.platform === "win32";
/** The executable. */
export const executable = join(root, "executable", isWindows ? "coxswain.exe" : "coxswain");

/** Modules of the sources, and a package, that are different in the executable. */
const replaced: Readonly<Record<string, string>> = {
  "src/apimachinery/data/data-file.ts": "data-file.ts",
  "src/lib/processes/own-command.ts": "own-command.ts",
  "src/storage/lmdb/backup/backup-command.ts": "backup-command.ts",
  "node-gyp-build-optional-packages": "load-addon.ts",
};

/** Fails if nothing imports one of the modules any more: without its replacement, a part of the executable does not work. */
const replacements: Plugin = {
  name: "replacements",
  setup(own) {
    const missing = new Set(Object.keys(replaced));
    own.onResolve({ filter: /./ }, ({ path, resolveDir }) => {
      const source = path.startsWith(".") ? relative(root, resolve(resolveDir, path)) : path;
      const replacement = replaced[source];
      missing.delete(source);
      return replacement === undefined ? undefined : { path: join(import.meta.dirname, replacement) };
    });
    own.onEnd(() => ({ errors: [...missing].map((text) => ({ text: `nothing imports ${text}, which is replaced` })) }));
  },
};

new Command("npm run executable")
  .description(
    "Builds executable/coxswain, the command in one file for machines without Node.js, of the platform of this machine.",
  )
  .parse();

const parts = join(root, "executable/parts");
rmSync(parts, { recursive: true, force: true });
mkdirSync(parts, { recursive: true });
await writeDescriptions(parts);
const command = await bundleCommand(join(parts, "main.mjs"));
const data = [...globSync(join(root, "src/apimachinery/data/*.json")), join(parts, "descriptions.json.br")];
const config = {
  main: join(parts, "main.mjs"),
  mainFormat: "module",
  output: executable,
  disableExperimentalSEAWarning: true,
  useCodeCache: true,
  execArgv: ["--max-semi-space-size=8", "--disable-warning=ExperimentalWarning"],
  assets: { ...Object.fromEntries(data.map((file) => [basename(file), file])), [addonAsset]: addonFile() },
};
writeFileSync(join(parts, "sea.json"), JSON.stringify(config));
execFileSync(process.execPath, ["--build-sea", join(parts, "sea.json")], { stdio: "inherit" });
rmSync(parts, { recursive: true });
writeFileSync(join(executable, "../THIRD-PARTY-LICENSES.txt"), licenses(root, [command]));
console.log(`${executable}: ${(statSync(executable).size / 1e6).toFixed(0)} MB`);

function bundleCommand(outfile: string): Promise<{ readonly metafile: Metafile }> {
  return build({
    absWorkingDir: root,
    entryPoints: ["tools/executable/main.ts"],
    outfile,
    bundle: true,
    minify: true,
    format: "esm",
    platform: "node",
    target: "node26",
    mainFields: ["module", "main"],
    external: ["@kubernetes/client-node"], // Its types are descriptions when run from the sources.
    // Packages in the older form of modules load parts of Node.js with these.
    banner: {
      js: `import { createRequire as requireOf } from "node:module"; const require = requireOf(import.meta.url); const { dirname: __dirname, filename: __filename } = import.meta;`,
    },
    metafile: true,
    logLevel: "warning",
    plugins: [replacements],
  });
}

/** The addon that lmdb loads on this machine. */
function addonFile(): string {
  const require = createRequire(import.meta.url);
  const find = createRequire(require.resolve("lmdb"))("node-gyp-build-optional-packages").path;
  return find(dirname(dirname(require.resolve("lmdb"))));
}
