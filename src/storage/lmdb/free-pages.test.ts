import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { manualClock } from "../../../test/support/manual-clock.ts";
import { seed } from "../../../test/support/seed.ts";
import { seededRandom } from "../../../test/support/seeded-random.ts";
import type { Change } from "../embedded/ledger.ts";
import { valueBytesMaxDefault } from "../options.ts";
import { dataFile } from "./check-file.ts";
import { StoreFile } from "./file/store-file.ts";
import { type FreeRuns, readFreePages, suffices } from "./free-pages.ts";
import { openLmdbStorage } from "./lmdb.ts";
import { needOf } from "./space-need.ts";

const base = mkdtempSync(join(tmpdir(), "coxswain-free-pages-"));
after(() => rmSync(base, { recursive: true, force: true }));

const pages = (...runs: number[]): FreeRuns => ({ pageSize: 4096, runs });
const small = { bytes: 36_864, records: 1, largestBytes: 1000 };
const large = { ...small, largestBytes: 200_000 };
/** 9 pages, and 4 for lists; places must remain for the record, the 2 lists, and the list of freed pages. */
const rows: [what: string, runs: FreeRuns, need: typeof small, suffices: boolean][] = [
  ["no free page", pages(), small, false],
  ["a run in which 4 places of 2 pages remain when 13 pages are taken", pages(21), small, true],
  ["a run in which 3 places remain", pages(20), small, false],
  ["runs in which as much remains", pages(11, 11), small, true],
  ["single pages", pages(...Array(100).fill(1)), small, false],
  ["runs shorter than a record", pages(...Array(100).fill(48)), large, false],
  ["5 places for a large record, of which other pages take one", pages(49 * 5), large, true],
  ["4 places, of which other pages take one", pages(49 * 4 + 12), large, false],
  ["4 places, and enough other pages in the same run", pages(49 * 4 + 13), large, true],
  ["runs of which other pages take a place each", pages(...Array(14).fill(49)), large, false],
  ["more pages than LMDB loads", pages(10_000, ...Array(50_000).fill(1)), small, false],
];
for (const [what, runs, need, expected] of rows) {
  test(`${expected ? "accepts" : "rejects"} ${what}`, () => assert.equal(suffices(runs, need), expected));
}

test(`LMDB's file does not grow by a write for which its free pages suffice (SEED=${seed})`, async () => {
  const random = seededRandom(seed);
  const dir = join(base, "random");
  const storage = await openLmdbStorage({
    clock: manualClock(),
    historyMs: 300_000,
    historyBytesMax: 1 << 30,
    valueBytesMax: valueBytesMaxDefault,
    dir,
    durability: "relaxed",
  });
  const lastPage = (): number => {
    const file = new StoreFile(dataFile(dir));
    const { lastPage: page = 0 } = file.metas[0] ?? {};
    file.close();
    return page;
  };
  let sufficed = 0;
  // Each round writes large values, deletes most of them, and then writes and deletes values of all sizes.
  for (let step = 0; step < 900; step++) {
    const phase = step % 300;
    const sizeMax = phase < 100 ? 80_000 : ([100, 1500, 5000, 60_000][random(4)] as number);
    const value = phase < 100 || (phase >= 200 && random(3) > 0) ? Buffer.alloc(random(sizeMax), "x") : null;
    const write = { key: `/k/${phase < 200 ? phase % 100 : random(100)}`, value };
    const change = { key: write.key, value: value ?? Buffer.alloc(0) } as Change;
    const free = readFreePages(dataFile(dir), Number.POSITIVE_INFINITY);
    assert.ok(free !== undefined);
    const isEnough = suffices(free.now, needOf({ changes: [change], drop: [] }));
    const before = lastPage();
    await storage.commit([], [write]);
    if (isEnough) {
      sufficed++;
      assert.equal(lastPage(), before, `step ${step}, ${change.value.length} bytes`);
    }
    if (phase === 199 || phase % 50 === 40) await storage.compact(await storage.current());
  }
  await storage.close();
  assert.ok(sufficed > 100, `only ${sufficed} writes had free pages`);
});
