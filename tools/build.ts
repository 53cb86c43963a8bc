/**
 * `npm run build`: bundles src/ into dist/, so that the packed package loads a few files instead of hundreds, with the data files next to them
 * and the types of each export in one file.
 */
import { execFileSync } from "node:child_process";
import { chmodSync, cpSync, globSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { type BuildOptions, build, type OnResolveArgs, type OnResolveResult } from "esbuild";
import { rollUpTypes } from "./docs/public-api.ts";
import { writeDescriptions } from "./generate/descriptions.ts";
import { licenses } from "./licenses.ts";
import { bundle, type Root, writeMerged } from "./merge-chunks.ts";

const root = join(import.meta.dirname, "..");
const dist = join(root, "dist");

rmSync(dist, { recursive: true, force: true });
mkdirSync(dist);
execFileSync(process.execPath, [join(root, "tools/ensure-installed.mjs"), "tools/docs"], { stdio: "inherit" });
const { problems } = rollUpTypes(dist, "compare");
if (problems.length > 0) throw new Error(problems.join("\n"));
const options = {
  absWorkingDir: root,
  outdir: "dist",
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
await build({ ...options, banner: {}, target: "node18", entryPoints: { "check-runtime": "src/check-runtime.ts" } });
// Merged chunks are loaded whole, so the subcommands, which share much with the server, are bundled separately: few of them load the server.
const serverEntries = {
  index: "src/index.ts",
  testing: "src/testing/index.ts",
  "certificate-structure": "src/serving/certificate-structure.ts",
  "request-structure": "src/lib/x509/request-structure.ts",
};
const server = await bundle({ ...options, entryPoints: serverEntries });
const commands = await bundle({
  ...options,
  entryPoints: {
    main: "src/main.ts",
    "backup-main": "src/storage/lmdb/backup/backup-main.ts",
    cel: "src/lib/cel/public.ts",
    "structured-merge": "src/lib/structured-merge/index.ts",
  },
  plugins: [{ name: "server-entries", setup: (own) => own.onResolve({ filter: /\.ts$/ }, bundledEntry) }],
});
const testKit = "src/testing/index.ts";
const shared: Root = { file: "dist/shared.js", sharedBy: [testKit, "src/server.ts"] }; // So that importing the test kit does not load the server.
const roots = ["src/index.ts", shared, "src/server.ts", testKit, "src/serving/certificate-structure.ts"];
await writeMerged(server, roots, options);
await writeMerged(commands, [], options);
for (const file of globSync("*.json", { cwd: join(root, "src/data") }))
  cpSync(join(root, "src/data", file), join(dist, file));
await writeDescriptions(dist);
writeFileSync(join(dist, "THIRD-PARTY-LICENSES.txt"), licenses(root, [server, commands]));
chmodSync(join(dist, "main.js"), 0o755);

/** The command imports the bundled server, the test kit, and the libraries for certificates next to it. */
function bundledEntry({ path, resolveDir }: OnResolveArgs): OnResolveResult | undefined {
  const source = relative(root, resolve(resolveDir, path));
  const [name] = Object.entries(serverEntries).find((entry) => entry[1] === source) ?? [];
  return name === undefined ? undefined : { path: `./${name}.js`, external: true };
}
