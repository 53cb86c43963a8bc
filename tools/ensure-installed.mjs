/**
 * Installs the dependencies when they are missing or the lock file has changed since. Plain JavaScript for Node 18 and later, because it runs
 * before the Node of the project is installed. An argument names another folder with a package, such as tools/docs.
 */
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(fileURLToPath(new URL("..", import.meta.url)), process.argv[2] ?? "");

/** npm writes this file last, so an interrupted installation has none. */
const installedLock = join(root, "node_modules", ".package-lock.json");
const isWindows = process.platform === "win32";
const installedNode = join(root, "node_modules", ".bin", isWindows ? "node.cmd" : "node");
const hasNode = "node_modules/node" in packagesOf(join(root, "package-lock.json"));

/**
 * Warnings are about the Node that runs npm, which is not the one that runs the project, and about packages of packages. Without a network, npm's own
 * pauses between attempts last two minutes.
 */
const npmFlags = ["--no-audit", "--no-fund", "--loglevel=error", "--fetch-retry-mintimeout=1000"];
/** npm's errors of a registry that does not answer. */
const networkError =
  /\b(EAI_AGAIN|ECONNREFUSED|ECONNRESET|EHOSTUNREACH|ENETUNREACH|ENOTCACHED|ENOTFOUND|ERR_SOCKET_TIMEOUT|ETIMEDOUT)\b/;
const keptMax = 64 * 1024;

if (!isInstalled()) process.exitCode = await install();

/** @returns the exit code */
async function install() {
  const hasTerminal = process.stderr.isTTY === true;
  const startedAt = Date.now();
  const seconds = () => Math.round((Date.now() - startedAt) / 1000);
  const title = `Installing the dependencies${process.argv[2] ? ` of ${process.argv[2]}` : ""}`;
  process.stderr.write(`${title} (npm ci); the first time takes a minute or two …${hasTerminal ? "" : "\n"}`);
  const progress = setInterval(() => process.stderr.write(`\r\x1b[K${title} … ${seconds()} s`), 1000);
  if (!hasTerminal) clearInterval(progress);
  const { code, output } = await runNpm();
  clearInterval(progress);
  process.stderr.write(hasTerminal ? "\r\x1b[K" : "");
  if (code === 0) process.stderr.write(`Installed the dependencies in ${seconds()} s.\n`);
  else process.stderr.write(problemOf(output));
  return code;
}

function runNpm() {
  return new Promise((resolve) => {
    let output = "";
    const npm = spawn(isWindows ? "npm.cmd" : "npm", ["ci", ...npmFlags], {
      cwd: root,
      stdio: ["ignore", "pipe", "pipe"],
      shell: isWindows,
    });
    const keep = (piece) => {
      output = (output + piece).slice(-keptMax);
    };
    npm.stdout.on("data", keep);
    npm.stderr.on("data", keep);
    npm.on("error", (error) => resolve({ code: 1, output: `npm cannot be run: ${error.message}\n` }));
    npm.on("close", (code) => resolve({ code: code ?? 1, output }));
  });
}

function problemOf(output) {
  const network = networkError.exec(output);
  if (network === null) return `${output}Error: the dependencies could not be installed; npm's message is above.\n`;
  return `Error: the dependencies could not be installed, because npm's registry does not answer (${network[1]}).
Connect to the network, or set the proxy or registry of npm (npm help config), and run the command again.\n`;
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
