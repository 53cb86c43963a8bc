/** `coxswain store check`: reads a whole store or backup and reports damage. */
import { spawn } from "node:child_process";
import { statSync } from "node:fs";
import { createInterface } from "node:readline";
import { ownCommand } from "../../lib/processes/own-command.ts";
import { isBackup, readBackup } from "../../storage/lmdb/backup/read-backup.ts";
import type { Damage } from "../../storage/lmdb/file/read-store.ts";
import type { Output } from "../output.ts";
import type { OutputFormat } from "../subcommands.ts";
import type { ReaderMessage, StoreReport } from "./check-reader.ts";
import { exitDamaged, exitWhole } from "./contract.ts";
import { parseLocation } from "./location.ts";
import type { ReaderFiles } from "./open-reader.ts";
import { progressBar } from "./progress-bar.ts";
import { findStore, withStoreLocked } from "./store-directory.ts";

/**
 * Runs `coxswain store check`.
 *
 * @returns the exit code
 * @throws DamagedBackup, or Error when the check failed
 */
export async function checkStore(
  path: string,
  { output, ...files }: ReaderFiles & { readonly output: OutputFormat },
  io: Output,
): Promise<number> {
  if (parseLocation(path).engine === "etcd") {
    const { checkEtcd } = await import("./check-etcd.ts");
    return checkEtcd(path, output, files, io);
  }
  if (statSync(path).isFile()) return checkBackup(path, output, io);
  const dir = findStore(path);
  const found = await withStoreLocked(dir, () => readInChildProcess(dir, io));
  const isWhole = found.damage.length === 0 && found.leftOut.length === 0 && found.uncertain.length === 0;
  if (output === "json")
    io.out(`${JSON.stringify({ store: dir, whole: isWhole, ...found, losses: undefined }, undefined, 2)}\n`);
  else {
    io.out(`${dir}: ${found.objects} objects at revision ${found.revision}${isWhole ? ", all whole" : ""}\n`);
    for (const one of found.damage) io.out(`  ${describeDamage(one)}\n`);
    io.out(found.losses);
    if (!isWhole)
      io.out(
        `The store is damaged. "coxswain store repair ${path} --to <new directory>" writes what is whole into a new one.\n`,
      );
  }
  return isWhole ? exitWhole : exitDamaged;
}

function checkBackup(path: string, output: OutputFormat, io: Output): number {
  if (!isBackup(path)) throw new Error(`${path} is neither a data directory nor a backup`);
  let revision = 0;
  let objects = 0;
  const bar = progressBar(io);
  for (const entry of readBackup(path, (read, of) => bar.show("Reading", read, of, "bytes"))) {
    if (entry.kind === "begin") revision = entry.revision;
    if (entry.kind === "record") objects++;
  }
  bar.end();
  io.out(
    output === "json"
      ? `${JSON.stringify({ backup: path, whole: true, revision, objects }, undefined, 2)}\n`
      : `${path}: ${objects} objects at revision ${revision}, all whole\n`,
  );
  return exitWhole;
}

/**
 * Uses a child process because the native library may crash on damaged pages; a crash is reported
 * as damage.
 */
function readInChildProcess(dir: string, output: Output): Promise<StoreReport> {
  const [program, ...args] = ownCommand();
  const child = spawn(program, [...args, "store", "read", dir], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const bar = progressBar(output);
  let report: StoreReport | undefined;
  let reading = "the file";
  let cutOff: string | undefined;
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr = (stderr + text).slice(-10_000)));
  createInterface({ input: child.stdout }).on("line", (line) => {
    const message = parseMessage(line);
    if (message === undefined) cutOff = line.slice(0, cutOffMax);
    else if ("read" in message) bar.show("Reading pages", message.read, message.of);
    else if ("reading" in message) reading = message.reading;
    else report = message.report;
  });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => {
      bar.end();
      if (report === undefined && signal === null && cutOff === undefined)
        return reject(
          new Error(
            stderr === "" ? `the reading process ended with code ${code}` : stderr.replace(/^Error: /, "").trimEnd(),
          ),
        );
      const found = report ?? nothingFound;
      if (code === 0 && cutOff === undefined) return resolve(found);
      const problem = `the process that read it ended with ${signal ?? `code ${code}`} while it read ${reading}${cutOff === undefined ? "" : `, within the message ${JSON.stringify(cutOff)}`}${stderr === "" ? "" : `: ${stderr.trimEnd()}`}`;
      resolve({ ...found, damage: [...found.damage, { problem }] });
    });
  });
}

/** How much is kept of a message that is not whole. */
const cutOffMax = 100;

/** @returns undefined when the process that reads ended within the line */
function parseMessage(line: string): ReaderMessage | undefined {
  try {
    return JSON.parse(line) as ReaderMessage;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

const nothingFound: StoreReport = { revision: 0, objects: 0, damage: [], leftOut: [], uncertain: [], losses: "" };

function describeDamage({ pages, tree, key, revision, problem }: Damage): string {
  const where =
    pages === undefined ? [] : [pages[0] === pages[1] ? `page ${pages[0]}` : `pages ${pages[0]} to ${pages[1]}`];
  const what = [
    tree && `tree ${tree}`,
    revision !== undefined && `revision ${revision}`,
    key && `key ${JSON.stringify(key)}`,
  ].filter((text) => text);
  const place = [...where, ...what].join(", ");
  return place === "" ? problem : `${place}: ${problem}`;
}
