/** Bundles src/, so that the packed package loads a few files instead of hundreds. */
import { cpSync, globSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { type BuildOptions, build, type OnResolveArgs, type OnResolveResult } from "esbuild";
import { type Bundle, bundle, fileOf, writeMerged } from "./merge-chunks.ts";
import { writeAsScript } from "./server-script.ts";

const root = join(import.meta.dirname, "..");

const options = {
  absWorkingDir: root,
  bundle: true,
  minify: true, // The size of the package has a limit, and less code is read at startup.
  format: "esm",
  platform: "node",
  target: "node22",
  mainFields: ["module", "main"],
  external: ["commander", "lmdb", "ws", "undici", "@grpc/grpc-js", "@kubernetes/client-node"], // The libraries for certificates are bundled: they load in half the time.
  logLevel: "warning",
  banner: { js: 'import "./check-runtime.js";' },
} as const satisfies BuildOptions;

const serverEntries = {
  index: "src/index.ts",
  testing: "src/testing/index.ts",
  "run-script": "src/apimachinery/run-script.ts",
  "certificate-structure": "src/server/serving/certificate-structure.ts",
  "request-structure": "src/lib/x509/request-structure.ts",
};

/**
 * Writes the bundles and the data files that they read.
 * @param outdir an existing directory, relative to that of the project
 */
export async function writeBundles(outdir: string): Promise<readonly Bundle[]> {
  const own = { ...options, outdir };
  await build({ ...own, banner: {}, target: "node18", entryPoints: { "check-runtime": "src/check-runtime.ts" } });
  // Merged chunks are loaded whole, so the subcommands, which share much with the server, are bundled separately: few of them load the server.
  const server = await bundle({ ...own, entryPoints: serverEntries });
  const commands = await bundle({
    ...own,
    entryPoints: {
      main: "src/main.ts",
      "backup-main": "src/storage/lmdb/backup/backup-main.ts",
      cel: "src/lib/cel/public.ts",
      "structured-merge": "src/lib/structured-merge/index.ts",
    },
    plugins: [{ name: "server-entries", setup: (plugin) => plugin.onResolve({ filter: /\.ts$/ }, bundledEntry) }],
  });
  // In this order, so that importing the test kit does not load the server.
  const roots = [
    "src/index.ts",
    "src/testing/index.ts",
    "src/server/server.ts",
    "src/testing/servers.ts",
    "src/server/serving/certificate-structure.ts",
  ];
  const merged = await writeMerged(server, roots, own, isKit);
  for (const source of roots.slice(2))
    await writeAsScript(fileOf(server.metafile, source), merged, { ...own, minify: !isKit(source) }); // These are loaded by a start.
  await writeMerged(commands, [], own, () => false);
  for (const file of globSync("*.json", { cwd: join(root, "src/apimachinery/data") }))
    cpSync(join(root, "src/apimachinery/data", file), join(root, outdir, file));
  return [server, commands];
}

/** Errors of tests have frames in the test kit, which is therefore readable. */
function isKit(source: string): boolean {
  return source.startsWith("src/testing/");
}

/** The command imports the bundled server, the test kit, and the libraries for certificates next to it. */
function bundledEntry({ path, resolveDir }: OnResolveArgs): OnResolveResult | undefined {
  const source = relative(root, resolve(resolveDir, path));
  const [name] = Object.entries(serverEntries).find((entry) => entry[1] === source) ?? [];
  return name === undefined ? undefined : { path: `./${name}.js`, external: true };
}
