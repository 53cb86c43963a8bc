/**
 * Guarantees for a store with damaged files: it is read as it was written; or reads report the
 * damaged keys; or it is not opened, and the error says why. When the native library crashes the
 * process, the next start reports it. Damage is placed at random; `COXSWAIN_TEST_FULL=1` tests three
 * thousand places.
 */
import assert from "node:assert/strict";
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";
import { seed } from "../../../test/support/seed.ts";
import { seededRandom } from "../../../test/support/seeded-random.ts";
import { suiteOptions } from "../../../test/support/storage-suite.ts";
import type { ReadStore } from "../../../test/support/store-reader.ts";
import { systemClock } from "../../apimachinery/clock.ts";
import { openLmdbStorage } from "./lmdb.ts";
import { PageFile, readMeta } from "./page-file.ts";

const random = seededRandom(seed);
const isFull = process.env.COXSWAIN_TEST_FULL === "1";
const places = isFull ? 3_000 : 12;
const pageSize = 4096;
const base = mkdtempSync(join(tmpdir(), "coxswain-damaged-files-"));
const [whole, older] = [join(base, "whole"), join(base, "older")];
let reader: Reader;
let expected: ReadStore;
let pages = 0;

/** A reader that takes longer is considered hung. */
const hangMs = 60_000;

interface Answer {
  readonly warnings: string[];
  /** Undefined when the process died. */
  readonly found: ReadStore | undefined;
}

class Reader {
  #child: ChildProcessWithoutNullStreams | undefined;
  #lines: AsyncIterator<string, undefined> | undefined;

  async read(dir: string): Promise<Answer> {
    if (this.#child === undefined) await this.#start();
    const { stdin } = this.#child as ChildProcessWithoutNullStreams;
    const lines = this.#lines as AsyncIterator<string, undefined>;
    const stopTimer = systemClock.after(hangMs, () => this.#child?.kill("SIGKILL"));
    stdin.write(`${dir}\n`);
    const warnings: string[] = [];
    for (;;) {
      const { value } = await lines.next();
      if (value !== undefined && !value.startsWith("{")) warnings.push(value);
      else {
        stopTimer();
        if (value === undefined) await this.close();
        return { warnings, found: value === undefined ? undefined : (JSON.parse(value) as ReadStore) };
      }
    }
  }

  async #start(): Promise<void> {
    const child = spawn(process.execPath, [join(import.meta.dirname, "../../../test/support/store-reader.ts")]);
    child.stdin.on("error", () => {}); // After a crash; the end of its output reports it.
    child.stderr.resume();
    this.#child = child;
    this.#lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    await this.#lines?.next();
  }

  async close(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined) return;
    child.stdin.end();
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  }
}

before(async () => {
  const open = () => openLmdbStorage({ ...suiteOptions, valueBytesMax: 1 << 20, dir: whole, durability: "full" });
  const put = (name: number, version: number) => {
    const bytes = [20, 300, 1500, 9000][name % 4] as number;
    return { key: `/k/${name % 3}/${name}`, value: Buffer.alloc(bytes, `${name}.${version} `) };
  };
  let storage = await open();
  for (let name = 0; name < 60; name += 2) await storage.commit([], [put(name, 0), put(name + 1, 0)]);
  for (let name = 0; name < 60; name += 5) await storage.commit([], [put(name, 1)]);
  await storage.compact(20);
  for (let name = 0; name < 60; name += 7) await storage.commit([], [{ ...put(name, 0), value: null }]);
  await storage.close();
  cpSync(whole, older, { recursive: true });
  storage = await open();
  for (let name = 1; name < 60; name += 3) await storage.commit([], [{ ...put(name, 2), ttlSeconds: 10_000 }]);
  await storage.close();
  const file = new PageFile(join(whole, "data.mdb"));
  const metas = [readMeta(file, 0), readMeta(file, pageSize)].map((meta) =>
    typeof meta === "string" ? 0 : meta.lastPage,
  );
  file.close();
  pages = Math.max(...metas) + 1;
  reader = new Reader();
  const { found, warnings } = await reader.read(copy("expected"));
  expected = found as ReadStore;
  assert.deepEqual(
    [expected.error, expected.named, warnings, expected.end, expected.states.writes],
    [undefined, [], [], "", undefined],
  );
  assert.deepEqual(expected.states.now, expected.states["after writes"]);
  assert.ok(expected.log.length > 40 && pages > 40, `${expected.log.length} changes, ${pages} pages`);
});
after(async () => {
  await reader.close();
  rmSync(base, { recursive: true, force: true });
});

function copy(name: string): string {
  const dir = join(base, name);
  rmSync(dir, { recursive: true, force: true });
  mkdirSync(dir, { mode: 0o700 });
  for (const file of readdirSync(whole)) copyFileSync(join(whole, file), join(dir, file));
  return dir;
}

type Damage = [what: string, damage: (dir: string) => void];
type Outcome = "as written" | "named" | "not opened" | "crashed";

/**
 * Reads a store with each damage; every other one without the checksum of the last close, as in a
 * copy of `data.mdb` alone.
 * @returns the number of each outcome
 */
async function check(damages: Iterable<Damage>): Promise<Record<string, number>> {
  const outcomes: Record<string, number> = {};
  let hasChecksum = false;
  for (const [what, damage] of damages) {
    const dir = copy("damaged");
    damage(dir);
    hasChecksum = !hasChecksum;
    if (!hasChecksum) rmSync(join(dir, "in-use"));
    const outcome = await outcomeOf(`${what}${hasChecksum ? "" : ", no closing checksum"}; SEED=${seed}`, dir);
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
  }
  return outcomes;
}

async function outcomeOf(what: string, dir: string): Promise<Outcome> {
  const { found } = await reader.read(dir);
  if (found === undefined) {
    const next = await reader.read(dir);
    assert.ok(
      next.found?.error !== undefined || next.warnings.length > 0,
      `${what}: the process died, and the next start does not say so`,
    );
    return "crashed";
  }
  if (found.error !== undefined) {
    assert.match(found.error, /data\.mdb|the store in/, what);
    return "not opened";
  }
  // Writes after one that failed were not tried.
  const hasWritten = found.states.writes === undefined;
  for (const [name, state] of Object.entries(found.states)) {
    const shown = Array.isArray(state) && !hasWritten ? state.filter((line) => !isWritten(line)) : state;
    checkState(`${what}: ${name}`, shown, found.named, expected.states[name]);
  }
  assert.deepEqual(found.log, expected.log.slice(0, found.log.length), `${what}: log`);
  const changes = hasWritten ? expected.log.length : expected.log.findIndex(isWritten);
  assert.ok(found.log.length >= changes || found.end !== "", `${what}: ${found.log.length} changes of ${changes}`);
  return found.named.length > 0 || found.end !== "" ? "named" : "as written";
}

/** Whether the reader has written it. */
function isWritten(line: string): boolean {
  return /^((put|delete) )?\/z\//.test(line);
}

type State = ReadStore["states"][string];

function checkState(what: string, state: State, named: ReadStore["named"], whole: State | undefined): void {
  if (!Array.isArray(state)) return; // An error.
  assert.ok(Array.isArray(whole), what);
  const shown = state.map((line, index) =>
    line.endsWith(" damaged") && line.split(" ")[0] === whole[index]?.split(" ")[0] ? whole[index] : line,
  );
  assert.deepEqual(shown, whole, what);
  for (const line of state)
    if (line.endsWith(" damaged"))
      assert.ok(named.includes(line.split(" ")[0] as string), `${what}: ${line} is not named`);
}

const dataIn = (dir: string): string => join(dir, "data.mdb");

function edit(dir: string, change: (bytes: Buffer) => void): void {
  const bytes = readFileSync(dataIn(dir));
  change(bytes);
  writeFileSync(dataIn(dir), bytes);
}

test(`data.mdb truncated at each page (SEED=${seed})`, async () => {
  const rows = Array.from({ length: pages }, (_, page): Damage[] => [
    [`cut off at page ${page}`, (dir) => truncateSync(dataIn(dir), page * pageSize)],
    ...(isFull
      ? [
          [
            `cut off in page ${page}`,
            (dir: string) => truncateSync(dataIn(dir), page * pageSize + 1 + random(pageSize - 1)),
          ] as Damage,
        ]
      : []),
  ]);
  const outcomes = await check(rows.flat());
  assert.ok((outcomes["not opened"] ?? 0) > pages / 2, JSON.stringify(outcomes));
});

for (const [what, change] of [
  ["zeroed", () => 0],
  ["flipped", (byte: number) => byte ^ (1 << random(8))],
  ["overwritten", () => random(256)],
] as const) {
  test(`one byte ${what} at ${places} places (SEED=${seed})`, async (context) => {
    const rows = Array.from({ length: places }, (): Damage => {
      const at = random(pages * pageSize);
      return [
        `byte ${at} ${what}`,
        (dir) => edit(dir, (bytes) => void bytes.writeUInt8(change(bytes.readUInt8(at)), at)),
      ];
    });
    context.diagnostic(JSON.stringify(await check(rows)));
  });
}

test(`bits flipped in the headers of pages and in meta pages (SEED=${seed})`, async (context) => {
  const rows = Array.from({ length: places }, (): Damage => {
    const at = random(pages) * pageSize + random(168);
    return [
      `byte ${at} flipped`,
      (dir) => edit(dir, (bytes) => void bytes.writeUInt8(bytes.readUInt8(at) ^ (1 << random(8)), at)),
    ];
  });
  context.diagnostic(JSON.stringify(await check(rows)));
});

test(`pages zeroed, randomized, swapped, and copied over others (SEED=${seed})`, async (context) => {
  const rows = Array.from({ length: pages }, (_, page): Damage[] => {
    const [start, end] = [page * pageSize, (page + 1) * pageSize];
    const other = random(pages) * pageSize;
    return [
      [`page ${page} zeroed`, (dir) => edit(dir, (bytes) => void bytes.fill(0, start, end))],
      [
        `page ${page} is noise`,
        (dir) =>
          edit(
            dir,
            (bytes) =>
              void bytes.set(
                Uint8Array.from({ length: pageSize }, () => random(256)),
                start,
              ),
          ),
      ],
      [
        `page ${page} written over ${other / pageSize}`,
        (dir) => edit(dir, (bytes) => void bytes.copy(bytes, other, start, end)),
      ],
      [
        `pages ${page} and ${other / pageSize} swapped`,
        (dir) =>
          edit(dir, (bytes) => {
            const kept = Buffer.from(bytes.subarray(start, end));
            bytes.copy(bytes, start, other, other + pageSize);
            bytes.set(kept, other);
          }),
      ],
    ];
  });
  context.diagnostic(
    JSON.stringify(
      await check(
        isFull ? rows.flat() : rows.filter((_, page) => page % 3 === seed % 3).map((some) => some[random(4)] as Damage),
      ),
    ),
  );
});

const put = (from: string, file: string) => (dir: string) => copyFileSync(join(from, file), join(dir, file));
const remove = (file: string) => (dir: string) => rmSync(join(dir, file));
const write = (file: string, text: string) => (dir: string) => writeFileSync(join(dir, file), text);

function replaceAll(bytes: Buffer, text: string, replacement: string): void {
  for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at)) bytes.write(replacement, at);
}

const fileRows: [what: string, damage: (dir: string) => void, outcome: Outcome][] = [
  ["an older copy of data.mdb", put(older, "data.mdb"), "not opened"],
  [
    "a last page far behind the end",
    (dir) => edit(dir, (bytes) => void [0, pageSize].map((meta) => bytes.writeUInt8(0x80, meta + 149))),
    "not opened",
  ],
  [
    "other flags of the list of trees",
    (dir) => edit(dir, (bytes) => void [0, pageSize].map((meta) => bytes.writeUInt8(0x04, meta + 100))),
    "not opened",
  ],
  ["an older copy of lock.mdb", put(older, "lock.mdb"), "as written"],
  ["no lock.mdb", remove("lock.mdb"), "as written"],
  ["no lock", remove("lock"), "as written"],
  ["no data.mdb", remove("data.mdb"), "not opened"],
  ["an empty data.mdb", write("data.mdb", ""), "not opened"],
  ["a text as data.mdb", write("data.mdb", "not a store ".repeat(1000)), "not opened"],
  ["zeros as data.mdb", (dir) => edit(dir, (bytes) => void bytes.fill(0)), "not opened"],
  ["the marks under another name", (dir) => edit(dir, (bytes) => replaceAll(bytes, "marks", "\0arks")), "not opened"],
  ["a text as lock.mdb", write("lock.mdb", "not a lock"), "as written"],
  ["no closing checksum", remove("in-use"), "as written"],
  ["another closing checksum", write("in-use", "closed 1"), "as written"],
  ["a truncated closing checksum", write("in-use", "clos"), "as written"],
  ["a server that ended while it opened the store", write("in-use", "opening"), "as written"],
  ["a server that ended without closing the store", write("in-use", "open"), "as written"],
];

for (const [what, damage, outcome] of fileRows) {
  test(`${what}: ${outcome}`, async () => {
    const dir = copy("damaged");
    damage(dir);
    assert.equal(await outcomeOf(what, dir), outcome);
  });
}

test("the undamaged store is small", () => {
  assert.ok(statSync(dataIn(whole)).size < 4 << 20);
});
