/** `coxswain store repair`: creates a new store from the readable objects of a damaged one. */
import { revisionOf } from "../../storage/embedded/ledger.ts";
import { dataFile } from "../../storage/lmdb/check-file.ts";
import { readStore, valueAt } from "../../storage/lmdb/file/read-store.ts";
import { type LeftOut, type Salvage, salvage, type Uncertain } from "../../storage/lmdb/file/salvage.ts";
import { StoreFile } from "../../storage/lmdb/file/store-file.ts";
import { readRecord } from "../../storage/lmdb/record.ts";
import { checkAbsent, type NewEntry, writeStore } from "../../storage/lmdb/write-store.ts";
import { storeDirectory } from "../../storage/options.ts";
import type { Output } from "../output.ts";
import type { OutputFormat } from "../subcommands.ts";
import { exitDamaged, exitWhole, raisedRevision } from "./contract.ts";
import { progressBar } from "./progress-bar.ts";
import { findStore, withStoreLocked } from "./store-directory.ts";

export interface RepairOptions {
  readonly to: string;
  /** Writes the latest readable revision of an object whose newest one is damaged. */
  readonly useOlder?: true;
  readonly bumpRevision: number;
  readonly output: OutputFormat;
}

/** Runs `coxswain store repair`. @returns the exit code @throws Error; no new store exists then */
export async function repairStore(dataDir: string, options: RepairOptions, output: Output): Promise<number> {
  const dir = findStore(dataDir);
  const target = storeDirectory(options.to);
  checkAbsent(target);
  return withStoreLocked(dir, async () => {
    const file = new StoreFile(dataFile(dir));
    try {
      return await repair(file, target, options, output);
    } finally {
      file.close();
    }
  });
}

async function repair(file: StoreFile, dir: string, options: RepairOptions, output: Output): Promise<number> {
  const { out } = output;
  const bar = progressBar(output);
  const contents = readStore(file, (read, of) => bar.show("Reading pages", read, of));
  const saved = salvage(contents);
  const older = options.useOlder === true ? saved.leftOut.flatMap(({ older }) => older ?? []) : [];
  const puts = [...saved.puts, ...older].sort((a, b) => a.position - b.position);
  const revision = raisedRevision(saved.revision, options.bumpRevision);
  await writeStore({ dir, revision, entries: newEntries() });
  bar.end();
  const { leftOut, uncertain } = saved;
  if (options.output === "json")
    out(`${JSON.stringify({ store: dir, revision, objects: puts.length, ...describeLosses(saved) }, undefined, 2)}\n`);
  else {
    out(`${dir}: ${puts.length} objects; the store goes on at revision ${revision}\n`);
    out(formatLosses(saved, options.useOlder === true ? "written instead" : "can be read"));
  }
  return leftOut.length + uncertain.length > 0 ? exitDamaged : exitWhole;

  function* newEntries(): Generator<NewEntry> {
    for (const [index, { position, place }] of puts.entries()) {
      bar.show("Writing", index, puts.length);
      yield { put: readRecord(position, valueAt(file, place)) };
    }
    for (const expiry of saved.expiries) yield { expiry };
  }
}

/** The damaged objects, for JSON output. */
export function describeLosses({ leftOut, uncertain }: Salvage): {
  leftOut: object[];
  uncertain: readonly Uncertain[];
} {
  return {
    leftOut: leftOut.map(({ key, revision, problem, older }) => ({
      ...(key !== undefined && { key }),
      ...(revision !== undefined && { revision }),
      problem,
      ...(older !== undefined && { olderRevision: revisionOf(older.position) }),
    })),
    uncertain,
  };
}

/**
 * Formats the damaged objects as text.
 *
 * @param fate what happens to older readable revisions, as the end of a sentence
 */
export function formatLosses({ leftOut, uncertain }: Salvage, fate: string): string {
  const text =
    leftOut.length === 0
      ? ""
      : `${leftOut.length} objects are damaged:\n${leftOut.map((one) => formatLeftOut(one, fate)).join("")}`;
  if (uncertain.length === 0) return text;
  const lines = uncertain.map(({ key, revision, problem }) => `  ${key} (revision ${revision}): ${problem}\n`);
  return `${text}${uncertain.length} objects may not be as they were last:\n${lines.join("")}`;
}

function formatLeftOut({ key, revision, problem, older }: LeftOut, fate: string): string {
  const which = `${key ?? "an object whose key cannot be read"}${revision === undefined ? "" : ` (revision ${revision})`}`;
  return `  ${which}: ${problem}${older === undefined ? "" : `; its revision ${revisionOf(older.position)} ${fate}`}\n`;
}
