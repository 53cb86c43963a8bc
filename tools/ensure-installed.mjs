/**
 * Installs the dependencies when they are missing or the lock file has changed since. Plain JavaScript for Node 18 and later, because it runs
 * before the Node of the project is installed. An argument names another folder with a package, such as tools/docs.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname ?? new URL(".", import.meta.url).pathname, "..", process.argv[2] ?? "");

/** npm writes this file last, so an interrupted installation has none. */
const installedLock = join(root, "node_modules", ".package-lock.json");
const isWindows = process.platform === "win32";
const installedNode = join(root, "node_modules", ".bin", isWindows ? "node.cmd" : "node");
const hasNode = "node_modules/node" in packagesOf(join(root, "package-lock.json"));

if (!isInstalled()) {
  console.error("Installing dependencies (npm ci) …");
  const { status, error } = spawnSync(isWindows ? "npm.cmd" : "npm", ["ci", "--no-audit", "--no-fund"], {
    cwd: root,
    stdio: ["ignore", 2, 2],
    shell: isWindows,
  });
  if (error) throw error;
  if (status !== 0) process.exit(status ?? 1);
}

/** Whether npm's record of the installation has every package in the locked version. */
function isInstalled() {
  if (!existsSync(installedLock) || (hasNode && !existsSync(installedNode))) return false;
  const locked = packagesOf(join(root, "package-lock.json"));
  const installed = packagesOf(installedLock);
  return Object.entries(locked).every(
    ([path, { version, optional }]) =>
      path === "" || (installed[path] ? installed[path].version === version : optional === true),
  );
}

function packagesOf(file) {
  return JSON.parse(readFileSync(file, "utf8")).packages;
}
