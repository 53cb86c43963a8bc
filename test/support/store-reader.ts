/**
 * A process that reads stores which may be damaged: for each directory that comes as a line on its standard input, everything that can be read,
 * before and after some writes, as a line of JSON. What the store logs comes in lines before. A crash of the process is one of the answers.
 */
import { hash } from "node:crypto";
import { writeSync } from "node:fs";
import { createInterface } from "node:readline";
import { systemClock } from "../../src/apimachinery/clock.ts";
import type { Storage, Stored } from "../../src/storage/contract.ts";
import { openLmdbStorage } from "../../src/storage/lmdb/lmdb.ts";

export interface ReadStore {
  /** Why it could not be opened. */
  readonly error?: string;
  /** What it named as damaged: keys, and revisions for changes whose keys cannot be known. */
  readonly named: (string | number)[];
  /** By what was read: the states of all keys now, as `key digest@revision`, or of some then; why they could not be read. */
  readonly states: Record<string, string[] | { readonly error: string }>;
  /** Changes in the log, and how it ended. */
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

/** In place of the value, so that a difference is short. */
function digest(value: Buffer): string {
  return hash("sha1", value).slice(0, 8);
}

/** @returns why it ended before the newest revision; empty when it did not */
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
