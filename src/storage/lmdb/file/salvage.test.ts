/**
 * Guarantees for any damage of a store's file: reading it terminates, and neither throws nor
 * crashes; each recovered object is what was stored, or is reported as uncertain; each object that
 * is not recovered is reported by key, range or revision; every object without a damaged byte is
 * recovered. COXSWAIN_TEST_FULL=1 damages more places.
 */
import assert from "node:assert/strict";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { seed } from "../../../../test/support/seed.ts";
import { seededRandom } from "../../../../test/support/seeded-random.ts";
import { suiteOptions } from "../../../../test/support/storage-suite.ts";
import { type Expiry, positionOf, revisionOf } from "../../embedded/ledger.ts";
import { openLmdbStorage } from "../lmdb.ts";
import { readRecord } from "../record.ts";
import { readStore, type StoreContents, valueAt } from "./read-store.ts";
import { type Salvage, salvage } from "./salvage.ts";
import { StoreFile } from "./store-file.ts";
import { findSnapshot } from "./trees.ts";

const random = seededRandom(seed);
const rounds = process.env.COXSWAIN_TEST_FULL === "1" ? 1000 : 3;
const base = mkdtempSync(join(tmpdir(), "coxswain-salvage-"));
after(() => rmSync(base, { recursive: true, force: true }));
const damagedFile = join(base, "damaged.mdb");

interface Stored {
  readonly revision: number;
  readonly value: string;
  /** The pages of the object's record in the file. */
  readonly pages: ReadonlySet<number>;
}

let original: Buffer;
/** The same store before its last writes. */
let earlier: Buffer;
let pageSize: number;
let truth: ReadonlyMap<string, Stored>;
/** Expiries, each as `time position key`. */
let expiries: ReadonlySet<string>;
const describeExpiry = ({ at, position, key }: Expiry): string => `${at} ${position} ${key}`;

before(async () => {
  const dir = join(base, "storage");
  const storage = await openLmdbStorage({ ...suiteOptions, valueBytesMax: 30_000, dir, durability: "relaxed" });
  const keyOf = (): string => `/registry/things/${String(random(400)).padStart(4, "0")}`;
  const write = async (times: number): Promise<void> => {
    for (let time = 0; time < times; time++) {
      const value = Buffer.alloc(20 + (random(4) === 0 ? random(20_000) : random(600)), `${time} `);
      await storage.commit(
        [],
        [{ key: keyOf(), value: random(5) === 0 ? null : value, ...(random(10) === 0 && { ttlSeconds: 9999 }) }],
      );
    }
  };
  await write(800);
  await storage.compact(await storage.current());
  await write(300);
  copyFileSync(join(dir, "data.mdb"), join(base, "earlier.mdb"));
  await write(150);
  const { entries } = await storage.range("");
  await storage.close();
  original = readFileSync(join(dir, "data.mdb"));
  earlier = readFileSync(join(base, "earlier.mdb"));
  const file = new StoreFile(join(dir, "data.mdb"));
  pageSize = file.pageSize;
  const contents = readStore(file);
  assert.deepEqual(contents.damage, []);
  truth = new Map(
    entries.map(({ key, revision, value }) => [
      key,
      { revision, value: value.toString(), pages: pagesOf(file, contents, key) },
    ]),
  );
  file.close();
  expiries = new Set(salvage(contents).expiries.map(describeExpiry));
  assert.ok(expiries.size > 10);
});

function pagesOf(file: StoreFile, { positions, changes }: StoreContents, key: string): ReadonlySet<number> {
  const place = changes.get(positions.get(key)?.position as number)?.place;
  assert.ok(place !== undefined);
  const value = file.node(place.page, place.offset)?.value;
  assert.ok(value !== undefined && !("tree" in value));
  const own = "page" in value ? Array.from({ length: value.pages }, (_, index) => value.page + index) : [];
  return new Set([place.page, ...own]);
}

/** Damages a copy. @returns the pages that differ */
function damage(change: (bytes: Buffer) => Buffer | undefined): Set<number> {
  const copy = Buffer.from(original);
  const bytes = change(copy) ?? copy;
  writeFileSync(damagedFile, bytes);
  const pages = new Set<number>();
  for (let page = 0; page * pageSize < original.length; page++) {
    const [start, end] = [page * pageSize, (page + 1) * pageSize];
    if (!original.subarray(start, end).equals(bytes.subarray(start, end))) pages.add(page);
  }
  return pages;
}

function read(): { contents: StoreContents; saved: Salvage; valueIn: (key: string) => string } {
  const file = new StoreFile(damagedFile);
  try {
    const contents = readStore(file);
    const saved = salvage(contents);
    const values = new Map(
      saved.puts.map(({ key, position, place }) => [key, readRecord(position, valueAt(file, place)).value.toString()]),
    );
    return { contents, saved, valueIn: (key) => values.get(key) as string };
  } finally {
    file.close();
  }
}

function check(what: string, damagedPages: ReadonlySet<number>): void {
  const { contents, saved, valueIn } = read();
  const uncertain = new Set(saved.uncertain.map(({ key }) => key));
  const found = new Set<string>();
  for (const { key, position } of saved.puts) {
    assert.ok(!found.has(key), `${what}: ${key} twice`);
    found.add(key);
    if (uncertain.has(key)) continue;
    const stored = truth.get(key);
    assert.ok(stored !== undefined, `${what}: ${key} was deleted`);
    assert.deepEqual([revisionOf(position), valueIn(key)], [stored.revision, stored.value], `${what}: ${key}`);
  }
  const reported = new Set(saved.leftOut.map(({ key }) => key));
  const revisions = new Set(saved.leftOut.map(({ revision }) => revision));
  const isReported = (key: string, revision: number): boolean =>
    reported.has(key) ||
    revisions.has(revision) ||
    contents.lost.current.some(
      ({ from, to }) => from.compare(Buffer.from(key)) <= 0 && (to === undefined || to.compare(Buffer.from(key)) > 0),
    );
  for (const [key, { revision, pages }] of truth) {
    if (found.has(key)) continue;
    assert.ok(isReported(key, revision), `${what}: ${key} is missing, and is not reported`);
    assert.ok(
      [...pages].some((page) => damagedPages.has(page)),
      `${what}: ${key} is undamaged, and is missing`,
    );
  }
  const foundExpiries = new Set(saved.expiries.map(describeExpiry));
  const isCertain = (key: string): boolean => found.has(key) && !uncertain.has(key);
  for (const expiry of saved.expiries)
    assert.ok(
      !isCertain(expiry.key) || expiries.has(describeExpiry(expiry)),
      `${what}: ${expiry.key} expires, and was not to`,
    );
  for (const expiry of contents.lost.expiry.length > 0 ? [] : expiries) {
    assert.ok(foundExpiries.has(expiry) || !isCertain(expiry.split(" ")[2] as string), `${what}: ${expiry} is missing`);
  }
  for (const key of found) assert.ok(truth.has(key) || uncertain.has(key), `${what}: ${key} was deleted`);
}

test("recovers everything from an undamaged store", () => {
  check(
    "undamaged",
    damage(() => undefined),
  );
  const { saved } = read();
  assert.equal(saved.puts.length, truth.size);
  assert.deepEqual([saved.leftOut, saved.uncertain], [[], []]);
});

test("keeps values whose first page is copied over the root of the log", () => {
  const file = new StoreFile(join(base, "storage/data.mdb"));
  const root = findSnapshot(file).snapshot?.trees.get("log")?.root as number;
  file.close();
  const long = [...truth].filter(([, { pages }]) => pages.size > 2);
  assert.ok(long.length > 10);
  for (const [key, { pages }] of long.slice(0, 2 * rounds)) {
    const [, first] = pages as ReadonlySet<number> & Iterable<number>;
    const copied = damage((bytes) => void original.copy(bytes, root * pageSize, ...pageRange(first as number)));
    check(`the value of ${key} copied`, copied);
  }
});

const pageCount = (): number => original.length / pageSize;
const somePage = (): number => random(pageCount());

const rows: [what: string, change: (bytes: Buffer) => Buffer | undefined][] = [
  [
    "a flipped bit",
    (bytes) => {
      const at = random(bytes.length);
      bytes[at] = (bytes[at] as number) ^ (1 << random(8));
      return undefined;
    },
  ],
  ["a cut", (bytes) => bytes.subarray(0, random(bytes.length))],
  ["zeros", (bytes) => void somePart(bytes).fill(0)],
  ["noise", (bytes) => void somePart(bytes).fill(Buffer.from(Array.from({ length: 1000 }, () => random(256))))],
  ["swapped pages", (bytes) => swap(bytes, somePage(), somePage())],
  ["a page copied over another", (bytes) => void original.copy(bytes, somePage() * pageSize, ...pageRange(somePage()))],
  ["an old page", (bytes) => oldPage(bytes, somePage())],
  ["zeroed meta pages", (bytes) => void bytes.fill(0, 0, (1 + random(2)) * pageSize)],
  ["an old meta page", (bytes) => oldPage(bytes, random(2))],
  ["old meta pages", (bytes) => oldPage(bytes, 0) ?? oldPage(bytes, 1)],
  [
    "a zeroed meta page and a zeroed page",
    (bytes) => void bytes.fill(0, ...pageRange(random(2))).fill(0, ...pageRange(somePage())),
  ],
];

function somePart(bytes: Buffer): Buffer {
  const start = random(bytes.length);
  return bytes.subarray(start, start + 1 + random(3 * pageSize));
}

function pageRange(page: number): [number, number] {
  return [page * pageSize, (page + 1) * pageSize];
}

function swap(bytes: Buffer, a: number, b: number): undefined {
  original.copy(bytes, a * pageSize, ...pageRange(b));
  original.copy(bytes, b * pageSize, ...pageRange(a));
}

function oldPage(bytes: Buffer, page: number): undefined {
  if ((page + 1) * pageSize <= earlier.length) earlier.copy(bytes, page * pageSize, ...pageRange(page));
}

for (const [what, change] of rows) {
  test(`${what} at ${rounds} places (SEED=${seed})`, () => {
    for (let round = 0; round < rounds; round++) check(`${what}, round ${round}`, damage(change));
  });
}

/** What remains of a key: the tree leads to its record of revision 4, and no tree to its record of revision 6. */
function remains({ type, isDamaged }: { type: "put" | "delete"; isDamaged: boolean }): StoreContents {
  const change = (revision: number, kind: "put" | "delete", source: "tree" | "orphan") => {
    const position = positionOf(revision, 0);
    const found = { type: kind, key: "/a", position, source, place: { page: 9, offset: 16 }, hasChecksum: true };
    return [position, found] as const;
  };
  return {
    marks: { revision: 5, compacted: 0, historyBytes: 0, uncheckedUntil: 0 },
    changes: new Map([...(isDamaged ? [] : [change(4, "put", "tree")]), change(6, type, "orphan")]),
    positions: new Map([["/a", { position: positionOf(4, 0), source: "tree" }]]),
    expiries: new Map(),
    damagedPositions: new Map(isDamaged ? [[positionOf(4, 0), "damaged"]] : []),
    lost: { meta: [], log: [], current: [], expiry: [] },
    damage: [],
  };
}

const states: [what: string, contents: StoreContents, puts: number[], uncertain: number[], leftOut: number[]][] = [
  ["a later record does not replace the state", remains({ type: "put", isDamaged: false }), [4], [4], []],
  ["a later deletion does not replace the state", remains({ type: "delete", isDamaged: false }), [4], [4], []],
  ["a later record replaces a damaged state", remains({ type: "put", isDamaged: true }), [6], [6], []],
  ["a later deletion does not hide a damaged state", remains({ type: "delete", isDamaged: true }), [], [], [4]],
];
for (const [what, contents, puts, uncertain, leftOut] of states)
  test(`${what}, when no tree leads to it`, () => {
    const saved = salvage(contents);
    assert.deepEqual(
      [saved.puts.map(({ position }) => revisionOf(position)), saved.uncertain.map(({ revision }) => revision)],
      [puts, uncertain],
    );
    assert.deepEqual(
      saved.leftOut.map(({ revision }) => revision),
      leftOut,
    );
  });
