/** `npm run docs`: builds the site of the documentation into .site, with the packages of this folder. */

import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { Command } from "commander";
import { writePages } from "./pages.ts";

const site = import.meta.dirname;
const root = join(site, "../../..");

new Command("npm run docs").description("Builds the site of the documentation into .site.").parse();

run(process.execPath, [join(root, "tools/ensure-installed.mjs"), "tools/docs/site"]);
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
