/**
 * `coxswain store` with stores of which much is damaged: each damaged object is reported, the exit code is one of the documented,
 * and no copy or backup looks complete that is not. COXSWAIN_TEST_FULL=1 damages 100 stores at random.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { systemClock } from "../../src/apimachinery/clock.ts";
import { defaultOptions } from "../../src/index.ts";
import { openLmdbStorage } from "../../src/storage/lmdb/lmdb.ts";
import { valueBytesMaxDefault } from "../../src/storage/options.ts";
import { damageStore } from "../support/damage-store.ts";
import { main } from "../support/program.ts";
import { seed } from "../support/seed.ts";
import { seededRandom } from "../support/seeded-random.ts";

const base = mkdtempSync(join(tmpdir(), "coxswain-heavy-"));
after(() => rmSync(base, { recursive: true, force: true }));
const random = seededRandom(seed);
const runs = process.env.COXSWAIN_TEST_FULL === "1" ? 100 : 2;

/** So many that the report of a process that reads is longer than what a pipe holds. */
const keys = Array.from({ length: 1000 }, (_, index) => `/registry/configmaps/default/${"n".repeat(60)}-${index}`);
const whole = join(base, "whole");

before(async () => {
  const { historyMs, historyBytesMax } = defaultOptions;
  const limits = { clock: systemClock, historyMs, historyBytesMax, valueBytesMax: valueBytesMaxDefault };
  const filled = await openLmdbStorage({ ...limits, dir: join(whole, "storage"), durability: "relaxed" });
  await Promise.all(keys.map((key) => filled.commit([], [{ key, value: Buffer.from(key) }])));
  await filled.close();
});

/** @returns a copy of the whole store in a new directory */
function copyOfWhole(name: string): string {
  const dataDir = join(base, name, "data");
  mkdirSync(join(base, name));
  cpSync(whole, dataDir, { recursive: true });
  return dataDir;
}

interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

function store(...args: string[]): Ran {
  const options = { encoding: "utf8", maxBuffer: 64 << 20 } as const;
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, "store", ...args], options);
  return { code: status, out: stdout, err: stderr };
}

const check = (path: string): Ran => store("check", path, "-o", "json");
const named = (text: string): number =>
  keys.filter((key) => text.includes(`${key}:`) || text.includes(`${key} `)).length;
const lines = (out: string, pattern: RegExp): number => out.split("\n").filter((line) => pattern.test(line)).length;

describe("a store whose records are all damaged", () => {
  let dataDir: string;
  before(async () => {
    dataDir = copyOfWhole("all");
    assert.equal((await damageStore(dataDir, () => true)).length, keys.length);
  });

  /** How many damaged records the output names. Some are recovered from other pages, and are no losses. */
  const commands: [name: string, args: string[], count: (out: string) => number][] = [
    ["check", ["-o", "json"], (out) => JSON.parse(out).damage.length],
    ["check", [], (out) => lines(out, /^ {2}pages? .*revision \d+: the checksum does not match$/)],
    ["list", [], (out) => keys.filter((key) => out.includes(key)).length],
    ["stats", [], (out) => Number(/^configmaps +(\d+)/m.exec(out)?.[1])],
    ["backup", [join(base, "all.json"), "-o", "json"], (out) => JSON.parse(out).damaged.length],
  ];
  for (const [name, args, count] of commands)
    test(`store ${[name, ...args.slice(-2)].join(" ")} reports each and ends with code 1`, () => {
      const { code, out, err } = store(name, dataDir, ...args);
      assert.deepEqual([code, count(out)], [1, keys.length], err.slice(-2000));
    });

  test("store backup reports each and ends with code 1; its file can be read", () => {
    const file = join(base, "all.backup");
    const { code, err } = store("backup", dataDir, file);
    assert.deepEqual([code, named(err)], [1, keys.length], err.slice(-2000));
    assert.equal(check(file).code, 0);
  });

  test("store copy reports each, ends with code 2 and leaves no store", () => {
    const target = join(base, "all-copied");
    const { code, err } = store("copy", "--from", dataDir, "--to", target);
    assert.deepEqual(
      [code, named(err), existsSync(join(target, "storage"))],
      [2, keys.length, false],
      err.slice(-2000),
    );
  });

  test("store copy --skip-damaged reports each and ends with code 1; its store is whole and empty", () => {
    const target = join(base, "all-skipped");
    const { code, err } = store("copy", "--from", dataDir, "--to", target, "--skip-damaged");
    assert.deepEqual([code, named(err)], [1, keys.length], err.slice(-2000));
    const { code: checked, out } = check(target);
    assert.deepEqual([checked, JSON.parse(out).whole], [0, true]);
  });
});

test("store backup ends with code 2 when pages have lost entries, and leaves no file", () => {
  const dataDir = copyOfWhole("lost-entries");
  const file = join(dataDir, "storage", "data.mdb");
  const bytes = readFileSync(file);
  for (let page = 0; page < bytes.length; page += pageBytes) {
    const isLeaf = bytes.readUInt16LE(page + 18) === 2;
    const isOfObjects = isLeaf && bytes.subarray(page, page + pageBytes).includes("/registry/configmaps/");
    if (isOfObjects) bytes.writeUInt16LE(2, page + 20); // The length of the list of its entries: the first alone.
  }
  writeFileSync(file, bytes);
  const target = join(base, "lost-entries", "backup");
  const { code, err } = store("backup", dataDir, target);
  assert.equal(code, 2, err);
  assert.match(err, /^Error: .* is damaged: of its 1000 objects, \d+ are found;/m);
  assert.equal(existsSync(target), false);
});

const pageBytes = 4096;

/** Overwrites bytes in the first pages, at the end, or anywhere. */
function damageAtRandom(dataDir: string): void {
  const file = join(dataDir, "storage", "data.mdb");
  const bytes = readFileSync(file);
  const [from, to] = [
    [0, bytes.length],
    [8192, 65_536],
    [bytes.length >> 1, bytes.length],
  ][random(3)] as [number, number];
  for (let left = 1 + random(10 ** (1 + random(4))); left > 0; left--)
    bytes[from + random(Math.min(to, bytes.length) - from)] = random(256);
  writeFileSync(file, random(8) === 0 ? bytes.subarray(0, random(bytes.length)) : bytes);
}

/** Whether a copy can be continued: no server starts with it. */
const isUnfinished = (dataDir: string): boolean => !existsSync(join(dataDir, "storage"));

/** Either nothing but an error, or a target that is whole. */
function checkOutcome({ code, err }: Ran, target: string): void {
  assert.ok(code === 0 || code === 1 || code === 2, `ended with ${code}: ${err.slice(-2000)}`);
  assert.doesNotMatch(err, /^ +at /m);
  if (code === 2) {
    assert.match(err, /^Error: /m);
    assert.equal(existsSync(target) && !isUnfinished(target), false);
    return;
  }
  const { code: checked, out } = check(target);
  assert.equal(checked, 0, out.slice(-2000));
  const { objects } = JSON.parse(out);
  if (code === 0) assert.equal(objects, keys.length);
  // A damaged key is reported as it is in the store.
  else assert.equal(lines(err, /^ {2}\S/) + objects, keys.length, err.slice(-2000));
}

test(`copies and backups of randomly damaged stores are whole or absent, SEED=${seed}`, {
  timeout: 1_200_000,
}, async () => {
  for (let run = 0; run < runs; run++) {
    const dataDir = copyOfWhole(`random-${run}`);
    damageAtRandom(dataDir);
    const place = join(base, `random-${run}`);
    checkOutcome(store("backup", dataDir, join(place, "backup")), join(place, "backup"));
    const copied = join(place, "copied");
    checkOutcome(store("copy", "--from", dataDir, "--to", copied), copied);
    const skipped = join(place, "skipped");
    checkOutcome(store("copy", "--from", dataDir, "--to", skipped, "--skip-damaged"), skipped);
    assert.deepEqual(
      readdirSync(place).filter((name) => name.includes("unfinished")),
      [],
    );
    rmSync(place, { recursive: true });
  }
});
