/**
 * Bundles the command for tests that start it as a process, which halves the time of a start, and prints the path of
 * its file. `client-node.cjs` next to it is @kubernetes/client-node for programs of tests: it loads in a quarter of the
 * time of its files. A bundle is used again until a source changes.
 */
import { createHash } from "node:crypto";
import { globSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { basename, join, relative } from "node:path";

const root = join(import.meta.dirname, "..");
/** Below node_modules, where the bundles find the packages that they import. */
const cache = join(root, "node_modules/.cache/program");
/** Another run may still use a bundle of other sources. */
const keptMs = 3 * 3_600_000;

const directory = join(cache, sourcesHash());
mkdirSync(cache, { recursive: true });
if (!readdirSync(cache).includes(basename(directory))) await build();
console.log(join(directory, "main.js"));

/** Several processes may build at the same time: the first that finishes wins, and the others remove their copy. */
async function build(): Promise<void> {
  // They load much, which most calls do not need.
  const [esbuild, { writeBundles }, { writeDescriptions }] = await Promise.all([
    import("esbuild"),
    import("./bundles.ts"),
    import("./generate/descriptions.ts"),
  ]);
  const building = mkdtempSync(join(cache, "building-"));
  try {
    await writeBundles(relative(root, building));
    await writeDescriptions(building);
    await esbuild.build({
      absWorkingDir: root,
      bundle: true,
      platform: "node",
      minifyWhitespace: true,
      entryPoints: ["@kubernetes/client-node"],
      outfile: join(building, "client-node.cjs"),
    });
    for (const old of oldBundles()) rmSync(join(cache, old), { recursive: true, force: true });
    renameSync(building, directory);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOTEMPTY") throw error;
  } finally {
    rmSync(building, { recursive: true, force: true });
  }
}

function oldBundles(): string[] {
  return readdirSync(cache).filter((name) => Date.now() - statSync(join(cache, name)).mtimeMs > keptMs);
}

function sourcesHash(): string {
  const hash = createHash("sha256");
  const files = globSync("{src,tools}/**/*.{ts,json}", { cwd: root, exclude: ["**/node_modules/**", "**/*.test.ts"] });
  for (const file of [...files.sort(), "package-lock.json"]) {
    const { mtimeMs, size } = statSync(join(root, file));
    hash.update(`${file} ${mtimeMs} ${size}\n`);
  }
  return hash.digest("hex").slice(0, 16);
}
