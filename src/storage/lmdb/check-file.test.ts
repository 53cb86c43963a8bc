/**
 * Guarantees: the check finds no damage in a store that a server wrote and closed; it does not read
 * the pages of an index whose checksum is that of the last close; every damage that reading all
 * pages finds also changes the checksum. SEED=n replays the random tests.
 */
import assert from "node:assert/strict";
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { seed } from "../../../test/support/seed.ts";
import { seededRandom } from "../../../test/support/seeded-random.ts";
import { suiteOptions } from "../../../test/support/storage-suite.ts";
import { DamagedStore, type Storage, type Write } from "../contract.ts";
import { checkFile, closingChecksum, dataFile } from "./check-file.ts";
import { readInUse } from "./in-use.ts";
import { indexChecksum } from "./index-checksum.ts";
import { openLmdbStorage } from "./lmdb.ts";
import { openMaps } from "./maps.ts";
import {
  childOf,
  headerBytes,
  isLeaf,
  type Meta,
  nodeCount,
  nodeKeyStart,
  nodeStart,
  PageFile,
  readMeta,
  readTree,
  storedValue,
} from "./page-file.ts";

const random = seededRandom(seed);
const rounds = process.env.COXSWAIN_TEST_FULL === "1" ? 200 : 2;
const pageSize = 4096;
const base = mkdtempSync(join(tmpdir(), "coxswain-check-"));
after(() => rmSync(base, { recursive: true, force: true }));

/**
 * Writes many small keys (deep trees), large values (overflow pages), deletions and compactions
 * (free pages).
 */
async function churn(storage: Storage): Promise<void> {
  const commits: Promise<unknown>[] = [];
  for (let number = random(150); number >= 0; number--) {
    const writes = new Map<string, Write>();
    for (let count = random(60); count >= 0; count--) {
      const key = `/k/${random(3)}/${"n".repeat(random(80))}${random(400)}`;
      const bytes = [0, 40, 900, 2500, 30_000][random(5)] as number;
      const ttlSeconds = random(9) === 0 ? { ttlSeconds: 1000 + random(1000) } : {};
      writes.set(key, { key, value: random(3) === 0 ? null : Buffer.alloc(bytes, key), ...ttlSeconds });
    }
    commits.push(storage.commit([], [...writes.values()]));
    if (random(4) === 0) await Promise.all(commits);
  }
  await Promise.all(commits);
  if (random(2) === 0) await storage.compact(Math.max(1, (await storage.current()) - random(100)));
}

test(`finds no damage in stores with random contents (SEED=${seed})`, async () => {
  const dir = join(base, "random");
  for (let round = 0; round < rounds; round++) {
    const options = { ...suiteOptions, valueBytesMax: 1 << 20, dir, durability: "relaxed" as const };
    const storage = await openLmdbStorage(options);
    for (let part = random(3); part >= 0; part--) await churn(storage);
    await storage.close();
    for (const withLog of [false, true]) checkFile(dir, { withLog });
    assert.deepEqual(readInUse(dir), { closedAs: closingChecksum(dir) });
  }
});

async function closedStore(name: string): Promise<{ dir: string; closedAs: number }> {
  const dir = join(base, name);
  const storage = await openLmdbStorage({ ...suiteOptions, dir, durability: "relaxed" });
  for (let number = 0; number < 300; number++)
    await storage.commit([], [{ key: `/k/${number}`, value: Buffer.alloc(200), ttlSeconds: 1000 }]);
  for (let number = 0; number < 300; number += 3) await storage.commit([], [{ key: `/k/${number}`, value: null }]);
  await storage.close();
  return { dir, closedAs: closingChecksum(dir) as number };
}

test(`damage of the index changes its checksum (SEED=${seed})`, async () => {
  const { dir, closedAs } = await closedStore("damaged");
  const whole = readFileSync(dataFile(dir));
  const pages = indexPages(dataFile(dir));
  let found = 0;
  for (let round = 0; round < rounds * 50; round++) {
    const bytes = Buffer.from(whole);
    const page = (pages[random(pages.length)] as number) * pageSize;
    const damage = ["a flipped bit", "another page", "zeros"][random(3)];
    if (damage === "a flipped bit") bytes.writeUInt8(bytes.readUInt8(page) ^ (1 << random(8)), page + random(pageSize));
    else if (damage === "another page") whole.copy(bytes, page, page - pageSize, page);
    else bytes.fill(0, page, page + pageSize);
    writeFileSync(dataFile(dir), bytes);
    const what = `${damage} at ${page}; SEED=${seed}`;
    const problem = problemOf(() => checkFile(dir, { withLog: true }));
    assert.equal(
      problemOf(() => checkFile(dir, { withLog: true, closedAs })),
      problem,
      what,
    );
    if (problem !== undefined) found++;
  }
  assert.ok(found > rounds * 20, `${found} damages found`);
});

/** Returns the numbers of the pages that the checksum covers. */
function indexPages(path: string): number[] {
  const file = new PageFile(path);
  const metas = [readMeta(file, 0), readMeta(file, pageSize)] as Meta[];
  const pages: number[] = [];
  const read = file.read.bind(file);
  file.read = (start, length, into) => {
    pages.push(start / pageSize);
    return read(start, length, into);
  };
  indexChecksum(file, metas.sort((a, b) => b.transaction - a.transaction)[0] as Meta);
  file.close();
  return pages;
}

/** Numbers of the log's pages on the path from the root to the last leaf. */
function lastPagesOfLog(path: string): number[] {
  const file = new PageFile(path);
  const pageOf = (number: number): Buffer => file.read(number * pageSize, pageSize);
  const metas = [readMeta(file, 0), readMeta(file, pageSize)] as Meta[];
  const { main } = metas.sort((a, b) => b.transaction - a.transaction)[0] as Meta;
  const trees = pageOf(main.root as number);
  const log = Array.from({ length: nodeCount(trees) }, (_, index) => nodeStart(trees, index) as number).find((start) =>
    trees.toString("latin1", nodeKeyStart(start)).startsWith("log\0"),
  );
  const numbers = [readTree(storedValue(trees, log as number)).root as number];
  for (let page = pageOf(numbers[0] as number); !isLeaf(page); page = pageOf(numbers.at(-1) as number))
    numbers.push(childOf(page, nodeStart(page, nodeCount(page) - 1) as number));
  file.close();
  return numbers;
}

function problemOf(check: () => void): string | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    if (error instanceof DamagedStore) return error.message;
    throw error;
  }
}

// LMDB adds the number that a page has, right or wrong, to its free pages when it writes a copy of the page.
for (const [what, pageOf] of [
  ["the root of the log", (path: readonly number[]) => path[0]],
  ["the last leaf of the log", (path: readonly number[]) => path.at(-1)],
] as const) {
  test(`finds ${what} with the number of another page`, async () => {
    const { dir, closedAs } = await closedStore(what);
    const bytes = readFileSync(dataFile(dir));
    const page = pageOf(lastPagesOfLog(dataFile(dir))) as number;
    bytes.writeUInt8(bytes.readUInt8(page * pageSize) ^ 1, page * pageSize);
    writeFileSync(dataFile(dir), bytes);
    for (const known of [{ closedAs }, {}]) {
      const problem = problemOf(() => checkFile(dir, { withLog: false, ...known }));
      assert.match(problem ?? "", new RegExp(`page ${page}: a page of log is damaged`));
    }
  });
}

test("a start finds a wrong offset in any leaf of the log, although the store was closed", async () => {
  const { dir } = await closedStore("offset");
  const bytes = readFileSync(dataFile(dir));
  const root = lastPagesOfLog(dataFile(dir))[0] as number;
  const page = bytes.subarray(root * pageSize, (root + 1) * pageSize);
  const leaf = childOf(page, nodeStart(page, 0) as number);
  // The second node begins one byte later: LMDB would copy a key of a wrong length.
  const offset = leaf * pageSize + headerBytes + 2;
  bytes.writeUInt8(bytes.readUInt8(offset) ^ 1, offset);
  writeFileSync(dataFile(dir), bytes);
  await assert.rejects(
    openLmdbStorage({ ...suiteOptions, dir, durability: "relaxed" }),
    new RegExp(`DamagedStore: .*page ${leaf}: a page of log is damaged`),
  );
});

test("a start finds a page of a later transaction than the newest one", async () => {
  const { dir } = await closedStore("later");
  const bytes = readFileSync(dataFile(dir));
  const root = lastPagesOfLog(dataFile(dir))[0] as number;
  // LMDB would treat such a page as one that it has allocated in memory.
  bytes.writeUInt8(1, root * pageSize + 13);
  writeFileSync(dataFile(dir), bytes);
  await assert.rejects(
    openLmdbStorage({ ...suiteOptions, dir, durability: "relaxed" }),
    new RegExp(`DamagedStore: .*page ${root}: a page of log is damaged: it is of transaction`),
  );
});

test("finds a tree under another name", async () => {
  const { dir, closedAs } = await closedStore("renamed");
  const bytes = readFileSync(dataFile(dir));
  for (let at = bytes.indexOf("expiry\0"); at >= 0; at = bytes.indexOf("expiry\0", at)) bytes.write("expirx", at);
  writeFileSync(dataFile(dir), bytes);
  assert.match(problemOf(() => checkFile(dir, { withLog: false, closedAs })) ?? "", /its trees .*expirx/);
});

test("does not check the pages of an index whose checksum matches", async () => {
  const { dir } = await closedStore("trusted");
  const bytes = readFileSync(dataFile(dir));
  // Changes a key, so that the check of its entry does not match.
  for (let at = bytes.indexOf("/k/100"); at >= 0; at = bytes.indexOf("/k/100", at)) bytes.writeUInt8(0x78, at + 5);
  writeFileSync(dataFile(dir), bytes);
  assert.throws(() => checkFile(dir, { withLog: false }), DamagedStore);
  checkFile(dir, { withLog: false, closedAs: closingChecksum(dir) });
});

test("the file in-use says whether the store is open, and only its owner can read it", async () => {
  const dir = join(base, "in-use");
  const storage = await openLmdbStorage({ ...suiteOptions, dir, durability: "relaxed" });
  assert.equal(readInUse(dir), "open");
  await storage.close();
  assert.deepEqual(readInUse(dir), { closedAs: closingChecksum(dir) });
  assert.equal(statSync(join(dir, "in-use")).mode & 0o777, 0o600);
});

for (const [what, change] of [
  ["removed", (path: string) => rmSync(path)],
  [
    "replaced",
    (path: string) => {
      copyFileSync(path, `${path}.copy`);
      renameSync(`${path}.copy`, path);
    },
  ],
] as const) {
  test(`closing a store whose file was ${what} logs a warning and stores no checksum`, async () => {
    const dir = join(base, what);
    const warnings: string[] = [];
    const logger = { info() {}, warn: (message: string) => void warnings.push(message), error() {} };
    const storage = await openLmdbStorage({ ...suiteOptions, dir, durability: "relaxed", logger });
    change(dataFile(dir));
    await storage.close();
    assert.deepEqual([warnings, readInUse(dir)], [["Could not note that the store was closed"], undefined]);
  });
}

test("finds no damage in a copy made by LMDB, before and after its first transactions", async () => {
  const dir = join(base, "original");
  const original = await openLmdbStorage({ ...suiteOptions, dir, durability: "relaxed" });
  for (let number = 0; number < 50; number++)
    await original.commit([], [{ key: `/k/${number % 20}`, value: Buffer.alloc(500) }]);
  await original.close();
  const copy = join(base, "copy");
  mkdirSync(copy, { mode: 0o700 });
  const maps = await openMaps({ dir, durability: "relaxed" });
  await maps.root.backup(copy, true);
  await maps.root.close();
  for (let number = 0; number < 3; number++) {
    checkFile(copy, { withLog: true });
    const storage = await openLmdbStorage({ ...suiteOptions, dir: copy, durability: "relaxed" });
    assert.equal(await storage.count("/k/"), 20);
    await storage.commit([], [{ key: "/k/0", value: Buffer.from(String(number)) }]);
    await storage.close();
  }
});
