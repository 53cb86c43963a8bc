/** `npm run build`: compiles src/ to dist/ as JavaScript with types and copies the data, so that the packed package runs on its own. */
import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, globSync, mkdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";

const root = join(import.meta.dirname, "..");
const dist = join(root, "dist");

rmSync(dist, { recursive: true, force: true });
const { status } = spawnSync(join(root, "node_modules/.bin/tsc"), ["--project", "tsconfig.build.json"], { cwd: root, stdio: "inherit" });
if (status !== 0) process.exit(status ?? 1);
for (const file of globSync("data/**/*.json", { cwd: join(root, "src") })) {
  mkdirSync(dirname(join(dist, file)), { recursive: true });
  cpSync(join(root, "src", file), join(dist, file));
}
chmodSync(join(dist, "main.js"), 0o755);
