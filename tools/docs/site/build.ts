/** `npm run docs`: builds the site of the documentation into .site, with the packages of this folder. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { writePages } from "./pages.ts";

const site = import.meta.dirname;
const root = join(site, "../../..");

if (!existsSync(join(site, "node_modules/vitepress"))) run("npm", ["ci", "--no-audit", "--no-fund"]);
writePages(root, join(site, ".pages"));
run(process.execPath, ["node_modules/vitepress/bin/vitepress.js", "build", "."]);

function run(command: string, args: readonly string[]): void {
  const { status, error } = spawnSync(command, args, {
    cwd: site,
    stdio: "inherit",
    shell: process.platform === "win32",
  });
  if (error !== undefined) throw error;
  if (status !== 0) process.exit(status ?? 1);
}
