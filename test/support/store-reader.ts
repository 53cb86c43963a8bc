/**
 * A process that reads stores which may be damaged. For each directory, a line on its standard
 * input, it prints everything that can be read before and after some writes as a line of JSON,
 * preceded by the log lines of the store. The process may crash.
 */
import { hash } from "node:crypto";
import { writeSync } from "node:fs";
import { createInterface } from "node:readline";
import { systemClock } from "../../src/apimachinery/clock.ts";
import type { Storage, Stored } from "../../src/storage/contract.ts";
import { openLmdbStorage } from "../../src/storage/lmdb/lmdb.ts";

export interface ReadStore {
  /** The error if the store could not be opened. */
  readonly error?: string;
  /** Reported damage: keys, or revisions of changes whose keys are unreadable. */
  readonly named: (string | number)[];
  /** By read operation: the states of keys, as `key digest@revision`, or the error. */
  readonly states: Record<string, string[] | { readonly error: string }>;
  /** Changes in the log, and how reading it ended. */
  readonly log: string[];
  readonly end: string;
}

async function read(dir: string): Promise<ReadStore> {
  const found: ReadStore = { named: [], states: {}, log: [], end: "" };
  let storage: Storage;
  try {
    storage = await openLmdbStorage({
      clock: systemClock,
      historyMs: 3_600_000,
      historyBytesMax: 1 << 30,
      valueBytesMax: 1 << 20,
      dir,
      durability: "relaxed",
      logger: { info() {}, warn: (message) => void writeSync(1, `${message}\n`), error() {} },
      onDamage: ({ key, revision }) => void found.named.push(key ?? revision),
    });
  } catch (error) {
    return { ...found, error: String(error) };
  }
  const current = await storage.current();
  const state = async (name: string, revision?: number): Promise<void> => {
    try {
      const { entries } = await storage.range("/", revision === undefined ? {} : { revision });
      found.states[name] = entries.map(show);
    } catch (error) {
      found.states[name] = { error: String(error) };
    }
  };
  await state("now");
  for (const back of [1, 10, 50]) await state(`${back} before`, Math.max(storage.compacted(), current - back));
  const end = await readLog(storage, current, found.log);
  try {
    for (let number = 0; number < 12; number++)
      await storage.commit([], [{ key: `/z/${number}`, value: Buffer.alloc(number * 700, "z") }]);
    for (let number = 0; number < 12; number++) await storage.commit([], [{ key: `/z/${number}`, value: null }]);
  } catch (error) {
    found.states.writes = { error: String(error) };
  }
  await state("after writes");
  await storage.close();
  return { ...found, end };
}

function show({ key, value, revision, damage }: Stored): string {
  return damage === undefined ? `${key} ${digest(value)}@${revision}` : `${key} damaged`;
}

/** Replaces the value, so that differences are short. */
function digest(value: Buffer): string {
  return hash("sha1", value).slice(0, 8);
}

/** @returns why reading ended before the newest revision; empty if it did not */
function readLog(storage: Storage, current: number, log: string[]): Promise<string> {
  return new Promise((resolve) => {
    storage.log("", storage.compacted(), {
      events(batch) {
        for (const { type, key, revision, value, damage } of batch) {
          log.push(`${type} ${key} ${type === "delete" || damage !== undefined ? "" : digest(value)}@${revision}`);
        }
      },
      progress: (revision) => void (revision >= current && resolve("")),
      end: (error) => resolve(String(error)),
    });
  });
}

writeSync(1, "ready\n");
for await (const dir of createInterface({ input: process.stdin })) writeSync(1, `${JSON.stringify(await read(dir))}\n`);
