/**
 * Installs the dependencies when they are missing or the lock file has changed since. Plain JavaScript for any Node from 18 on, since it runs
 * before the Node that runs everything else has been installed.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname ?? new URL(".", import.meta.url).pathname, "..");

/** What npm leaves behind; it is written last, so that a broken installation is noticed. */
const installedLock = join(root, "node_modules", ".package-lock.json");
const isWindows = process.platform === "win32";
const installedNode = join(root, "node_modules", ".bin", isWindows ? "node.cmd" : "node");

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

/** Whether every package is there in the locked version, by npm's own record of what it installed. */
function isInstalled() {
  if (!existsSync(installedLock) || !existsSync(installedNode)) return false;
  const wanted = packagesOf(join(root, "package-lock.json"));
  const present = packagesOf(installedLock);
  return Object.entries(wanted).every(
    ([path, { version, optional }]) =>
      path === "" || (present[path] ? present[path].version === version : optional === true),
  );
}

function packagesOf(file) {
  return JSON.parse(readFileSync(file, "utf8")).packages;
}
