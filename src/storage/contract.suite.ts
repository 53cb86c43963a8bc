/** What every engine must do; an engine's test file runs all of it. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { systemClock } from "../api/clock.ts";
import { seededRandom } from "../testing/seeded-random.ts";
import { type Check, type LogEvent, RevisionCompacted, RevisionInFuture, type Storage, ValueTooLarge, type Write } from "./contract.ts";
import type { StorageOptions } from "./options.ts";

export const suiteOptions: StorageOptions = { clock: systemClock, historyMs: 300_000, historyBytesMax: 1 << 20, valueBytesMax: 1000 };

/** @param open an empty store; `reopen` gives the same data again, or undefined where nothing outlives the process */
export function storageContract(
  name: string,
  open: (options: StorageOptions) => Promise<{ storage: Storage; reopen: (() => Promise<Storage>) | undefined }>,
): void {
  const fresh = async (changes: Partial<StorageOptions> = {}): Promise<Storage> => (await open({ ...suiteOptions, ...changes })).storage;
  const put = (key: string, text: string): Write => ({ key, value: Buffer.from(text) });
  const textAt = async (storage: Storage, key: string, revision?: number): Promise<string | undefined> =>
    (await storage.get(key, revision))?.value.toString();

  describe(`storage contract: ${name}`, () => {
    const commitRows: [what: string, checks: Check[], want: "committed" | "conflict"][] = [
      ["create: the key must be absent, and is", [{ key: "/b", revision: 0 }], "committed"],
      ["create: the key must be absent, and is there", [{ key: "/a", revision: 0 }], "conflict"],
      ["update: the key is at the revision", [{ key: "/a", revision: 2 }], "committed"],
      ["update: the key is at another revision", [{ key: "/a", revision: 1 }], "conflict"],
      ["update: the key is gone", [{ key: "/c", revision: 2 }], "conflict"],
      [
        "one of two checks fails",
        [
          { key: "/a", revision: 2 },
          { key: "/b", revision: 5 },
        ],
        "conflict",
      ],
    ];
    for (const [what, checks, want] of commitRows) {
      test(what, async () => {
        const storage = await fresh();
        await storage.commit([], [put("/a", "1")]);
        const outcome = await storage.commit(checks, [put("/a", "2"), put("/x", "2")]);
        assert.equal(outcome.ok ? "committed" : "conflict", want);
        assert.equal(await textAt(storage, "/x"), want === "committed" ? "2" : undefined);
        assert.equal(await storage.current(), want === "committed" ? 3 : 2);
        await storage.close();
      });
    }

    test("a conflict tells the present state, and sees what another writer has just decided", async () => {
      const storage = await fresh();
      const [first, second] = await Promise.all([
        storage.commit([{ key: "/a", revision: 0 }], [put("/a", "1")]),
        storage.commit([{ key: "/a", revision: 0 }], [put("/a", "2")]),
      ]);
      assert.ok(first.ok && !second.ok);
      assert.equal(second.current?.value.toString(), "1");
      await storage.close();
    });

    test("an empty store is at revision 1, writes of one commit share a revision", async () => {
      const storage = await fresh();
      assert.equal(await storage.current(), 1);
      assert.deepEqual(await storage.commit([], [put("/a", "1"), put("/b", "1")]), { ok: true, revision: 2 });
      assert.deepEqual([(await storage.get("/a"))?.revision, (await storage.get("/b"))?.revision], [2, 2]);
      await storage.close();
    });

    test("older states can be read until they are compacted", async () => {
      const storage = await fresh();
      await storage.commit([], [put("/p/a", "1")]); // 2
      await storage.commit([], [put("/p/a", "2"), put("/p/b", "2")]); // 3
      await storage.commit([], [{ key: "/p/a", value: null }]); // 4
      await storage.commit([], [put("/p/a", "5"), put("/q/a", "5")]); // 5
      const states: Record<number, string[]> = { 1: [], 2: ["/p/a=1"], 3: ["/p/a=2", "/p/b=2"], 4: ["/p/b=2"], 5: ["/p/a=5", "/p/b=2"] };
      for (const [revision, want] of Object.entries(states)) {
        const { entries } = await storage.range("/p/", { revision: Number(revision) });
        assert.deepEqual(
          entries.map(({ key, value }) => `${key}=${value}`),
          want,
        );
      }
      assert.deepEqual([await textAt(storage, "/p/a", 2), await textAt(storage, "/p/a", 4)], ["1", undefined]);
      await assert.rejects(storage.range("/p/", { revision: 6 }), RevisionInFuture);
      await storage.compact(4);
      await assert.rejects(storage.get("/p/a", 3), RevisionCompacted);
      assert.deepEqual([await textAt(storage, "/p/a"), await textAt(storage, "/p/b"), await textAt(storage, "/p/b", 4)], ["5", "2", "2"]);
      assert.equal(storage.compacted(), 4);
      await storage.close();
    });

    test("ranges come in pages, in order", async () => {
      const storage = await fresh();
      await storage.commit(
        [],
        ["/p/c", "/p/a", "/p/b", "/pp/a", "/o/z"].map((key) => put(key, key)),
      );
      const first = await storage.range("/p/", { limit: 2 });
      assert.deepEqual([first.entries.map(({ key }) => key), first.more], [["/p/a", "/p/b"], true]);
      const second = await storage.range("/p/", { limit: 2, after: "/p/b" });
      assert.deepEqual([second.entries.map(({ key }) => key), second.more], [["/p/c"], false]);
      assert.equal(await storage.count("/p/"), 3);
      await storage.close();
    });

    test("the log tells what was missed, then what comes, and nothing of other prefixes", async () => {
      const storage = await fresh();
      await storage.commit([], [put("/p/a", "1")]);
      await storage.commit([], [put("/p/a", "2"), put("/q/a", "2")]);
      const seen: string[] = [];
      let progress = 0;
      const three = Promise.withResolvers<void>();
      const subscription = storage.log("/p/", 2, {
        events(batch: readonly LogEvent[]) {
          for (const event of batch) seen.push(`${event.type} ${event.key} ${event.revision} after ${event.previousRevision} ${event.value}`);
          if (seen.length === 3) three.resolve();
        },
        progress: (revision) => {
          progress = revision;
        },
        end() {},
      });
      await storage.commit([], [{ key: "/p/a", value: null }]);
      await storage.commit([], [put("/p/b", "5")]);
      await storage.commit([], [put("/q/b", "6")]);
      await three.promise;
      assert.deepEqual(seen, ["put /p/a 3 after 2 2", "delete /p/a 4 after 3 2", "put /p/b 5 after 0 5"]);
      assert.equal(progress, 6);
      subscription.close();
      await storage.commit([], [put("/p/c", "7")]);
      assert.equal(seen.length, 3);
      await storage.compact(5);
      assert.throws(() => storage.log("/p/", 4, { events() {}, progress() {}, end() {} }), RevisionCompacted);
      await storage.close();
    });

    test("a commit resolves after subscribers have its events", async () => {
      const storage = await fresh();
      let seen = 0;
      storage.log("/p/", 1, { events: (batch) => (seen += batch.length), progress() {}, end() {} });
      await storage.commit([], [put("/p/a", "1")]);
      assert.equal(seen, 1);
      await storage.close();
    });

    test("closing ends subscriptions; nothing can be written after it", async () => {
      const storage = await fresh();
      let ended = false;
      storage.log("/p/", 1, { events() {}, progress() {}, end: () => (ended = true) });
      await storage.close();
      assert.ok(ended);
      await assert.rejects(storage.commit([], [put("/a", "1")]));
    });

    test("a value over the limit is refused, and changes nothing", async () => {
      const storage = await fresh();
      await assert.rejects(storage.commit([], [put("/a", "x".repeat(1001))]), ValueTooLarge);
      assert.equal(await storage.current(), 1);
      await storage.close();
    });

    test("the seal comes back with its value", async () => {
      const storage = await fresh();
      const seal = { fingerprint: 0xfedcba98, versionOffset: 77, itemOffset: 33 };
      await storage.commit([], [{ ...put("/a", "1"), seal }]);
      assert.deepEqual((await storage.get("/a"))?.seal, seal);
      await storage.close();
    });

    test("what has a time to live is deleted when it is over, unless it was written again", async () => {
      let now = 1_000_000;
      const due: { at: number; run: () => void }[] = [];
      const clock = {
        now: () => now,
        after(delayMs: number, run: () => void) {
          const entry = { at: now + delayMs, run };
          due.push(entry);
          return () => void due.splice(due.indexOf(entry) >>> 0, 1);
        },
      };
      const storage = await fresh({ clock });
      await storage.commit(
        [],
        [
          { ...put("/a", "1"), ttlSeconds: 10 },
          { ...put("/b", "1"), ttlSeconds: 10 },
        ],
      );
      await storage.commit([], [put("/b", "2")]);
      const deleted = new Promise<string>((resolve) =>
        storage.log("/", 3, { events: ([event]) => resolve(`${event?.type} ${event?.key}`), progress() {}, end() {} }),
      );
      now += 20_000;
      for (const entry of due.filter(({ at }) => at <= now)) entry.run();
      assert.equal(await deleted, "delete /a");
      assert.deepEqual([await textAt(storage, "/a"), await textAt(storage, "/b")], [undefined, "2"]);
      await storage.close();
    });

    const seed = Number(process.env.SEED ?? Date.now() % 1_000_000);
    test(`random operations agree with a plain model (SEED=${seed})`, async () => {
      const random = seededRandom(seed);
      let { storage, reopen } = await open({ ...suiteOptions, historyBytesMax: 1 << 30 });
      const model: Map<string, { value: string; revision: number }>[] = [new Map(), new Map()]; // By revision.
      let compacted = 0;
      const steps = process.env.COXSWAIN_TEST_FULL === "1" ? 5000 : 600;
      for (let step = 0; step < steps; step++) {
        const key = `/p/${random(12)}`;
        const latest = model.at(-1) as Map<string, { value: string; revision: number }>;
        const action = random(100);
        if (action < 70) {
          const right = latest.get(key)?.revision ?? 0;
          const revision = random(10) === 0 ? right + 1 : right;
          const value = random(4) === 0 ? null : `v${step}`;
          const outcome = await storage.commit([{ key, revision }], [{ key, value: value === null ? null : Buffer.from(value) }]);
          assert.equal(outcome.ok, revision === right, `step ${step}`);
          if (!outcome.ok || (value === null && !latest.has(key))) continue;
          const next = new Map(latest);
          if (value === null) next.delete(key);
          else next.set(key, { value, revision: outcome.revision });
          assert.equal(outcome.revision, model.length, `step ${step}`);
          model.push(next);
        } else if (action < 90) {
          const revision = Math.max(1, compacted) + random(model.length - Math.max(1, compacted));
          const { entries } = await storage.range("/p/", { revision });
          const want = [...(model[revision] as Map<string, { value: string; revision: number }>)].sort(([a], [b]) => (a < b ? -1 : 1));
          assert.deepEqual(
            entries.map((entry) => [entry.key, entry.value.toString(), entry.revision]),
            want.map(([at, state]) => [at, state.value, state.revision]),
            `step ${step}, revision ${revision}`,
          );
        } else if (action < 95) {
          compacted = Math.max(compacted, model.length - 1 - random(10));
          await storage.compact(compacted);
        } else if (reopen !== undefined) {
          storage = await reopen();
        }
      }
      await storage.close();
    });
  });
}
