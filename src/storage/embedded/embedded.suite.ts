/** The tests of what the embedded engines add to the contract: faults of the disk, batches, limits, and time. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { manualClock } from "../../../test/support/manual-clock.ts";
import { passTurns, turnsUntil } from "../../../test/support/pass-turns.ts";
import {
  gate,
  ignored,
  listed,
  type Open,
  put,
  remove,
  show,
  suiteOptions,
  turn,
} from "../../../test/support/storage-suite.ts";
import { until } from "../../../test/support/until.ts";
import {
  type LogEvent,
  RevisionCompacted,
  type Storage,
  StorageLost,
  StorageUnavailable,
  type Write,
} from "../contract.ts";
import { derivedWritesTogether } from "../derived-writes.suite.ts";
import type { StorageFaults, StorageOptions } from "../options.ts";
import { randomFailures } from "../random-operations.suite.ts";

/**
 * Registers the tests of an embedded engine, besides those of the contract.
 * @param open opens an empty store
 */
export function embeddedContract(name: string, open: Open): void {
  const fresh = async (changes: Partial<StorageOptions> = {}): Promise<Storage> =>
    (await open({ ...suiteOptions, ...changes })).storage;
  const textAt = async (storage: Storage, key: string, revision?: number): Promise<string | undefined> =>
    (await storage.get(key, revision))?.value.toString();

  describe(`embedded engine: ${name}`, () => {
    test("a commit resolves after all subscribers received its events and progress; those of one prefix share the batch", async () => {
      const storage = await fresh();
      const batches: (readonly LogEvent[])[] = [];
      const progress: Record<string, number> = {};
      for (const prefix of ["/p/", "/p/", "/q/", "/p/a", ""]) {
        storage.log(prefix, 1, {
          events: (batch) => void batches.push(batch),
          progress: (revision) => {
            progress[prefix] = revision;
          },
          end() {},
        });
      }
      await Promise.all([
        storage.commit([], [put("/p/a", "1"), put("/p/b", "1")]),
        storage.commit([], [put("/p/b", "2")]),
      ]);
      assert.deepEqual(
        batches.map((batch) => batch.map(({ key, revision }) => `${key}@${revision}`)),
        [["/p/a@2", "/p/b@2", "/p/b@3"], ["/p/a@2", "/p/b@2", "/p/b@3"], ["/p/a@2"], ["/p/a@2", "/p/b@2", "/p/b@3"]],
      );
      assert.equal(batches[0], batches[1]);
      assert.deepEqual(progress, { "/p/": 3, "/q/": 3, "/p/a": 3, "": 3 });
      await storage.close();
    });

    test("finds the keys with a prefix that have changed after a revision", async () => {
      const storage = await fresh();
      await storage.commit([], [put("/p/a", "1"), put("/p/b", "1"), put("/q/c", "1")]);
      await storage.commit([], [put("/p/b", "2"), put("/q/c", "2")]);
      await storage.commit([], [remove("/p/a"), put("/p/d", "3")]);
      assert.deepEqual((await storage.changedKeys?.("/p/", 2, 3))?.toSorted(), ["/p/a", "/p/b", "/p/d"]);
      assert.deepEqual((await storage.changedKeys?.("/p/", 3, 2))?.toSorted(), ["/p/a", "/p/d"]);
      assert.deepEqual(await storage.changedKeys?.("/p/", 4, 0), []);
      assert.equal(await storage.changedKeys?.("/p/", 3, 1), undefined);
      await storage.compact(3);
      await assert.rejects(async () => storage.changedKeys?.("/p/", 2, 3), RevisionCompacted);
      await storage.close();
    });

    test("a subscriber that is far behind receives past events in pages, then new ones, each once", async () => {
      const storage = await fresh();
      const commitSome = async (from: number, until: number): Promise<void> => {
        for (let index = from; index < until; index++)
          await storage.commit([], [put(`/p/${index % 50}`, `${index}`), put(`/q/${index}`, "")]);
      };
      await commitSome(0, 600);
      const seen: number[] = [];
      const sizes: number[] = [];
      storage.log("/p/", 101, {
        events: (batch) => {
          sizes.push(batch.length);
          for (const { revision } of batch) seen.push(revision);
        },
        progress: (revision) => assert.ok(revision >= (seen.at(-1) ?? 0)),
        end() {},
      });
      await commitSome(600, 700);
      await until(() => seen.length >= 600);
      assert.deepEqual(
        seen,
        Array.from({ length: 600 }, (_, index) => 102 + index),
      );
      assert.ok(Math.max(...sizes) <= 256);
      await storage.close();
    });

    test("writers see commits that are not durable yet, readers and subscribers do not", async () => {
      const faults = gate();
      const storage = await fresh({ faults });
      await storage.commit([], [put("/p/a", "1"), put("/p/b", "1")]);
      const release = faults.hold();
      const events: LogEvent[] = [];
      storage.log("/p/", 2, { ...ignored, events: (batch) => void events.push(...batch) });
      const pending = [
        storage.commit([{ key: "/p/a", revision: 2 }], [put("/p/a", "2")]),
        storage.commit([{ key: "/p/a", revision: 3 }], [remove("/p/b"), put("/p/c", "2"), put("/p/a", "3")]),
        storage.commit([{ key: "/p/a", revision: 2 }], [put("/p/d", "3")]),
        storage.commit([{ key: "/p/c", revision: 4 }], []),
      ];
      let settled = 0;
      for (const one of pending) void one.then(() => settled++);
      await passTurns(5);
      assert.deepEqual(await listed(storage, "/p/"), ["/p/a=1", "/p/b=1"]);
      assert.deepEqual(
        [await textAt(storage, "/p/a"), await textAt(storage, "/p/c"), await storage.count("/p/")],
        ["1", undefined, 2],
      );
      assert.deepEqual([await storage.current(), events.length, settled], [2, 0, 0]);
      release();
      const [, second, third, fourth] = await Promise.all(pending);
      assert.deepEqual(
        [second, fourth],
        [
          { ok: true, revision: 4 },
          { ok: true, revision: 4 },
        ],
      );
      assert.ok(third?.ok === false && third.current?.value.toString() === "3");
      assert.deepEqual(await listed(storage, "/p/"), ["/p/a=3", "/p/c=2"]);
      assert.deepEqual(await listed(storage, "/p/", 3), ["/p/a=2", "/p/b=1"]);
      assert.deepEqual([events.length, await storage.count("/p/")], [4, 2]);
      await storage.close();
    });

    test("a failed write fails the commits based on it, none becomes visible, and the next commit works", async () => {
      const faults = gate();
      const storage = await fresh({ faults });
      await storage.commit([], [put("/a", "1")]);
      const seen: string[] = [];
      storage.log("/", 2, { ...ignored, events: (batch) => void seen.push(...batch.map(show)) });
      const release = faults.hold();
      const commits = [
        storage.commit([{ key: "/a", revision: 2 }], [put("/a", "2")]),
        storage.commit([{ key: "/a", revision: 3 }], [put("/a", "3")]),
        storage.commit([{ key: "/b", revision: 0 }], [put("/b", "4")]),
      ];
      await turn();
      await turn();
      commits.push(
        storage.commit([{ key: "/b", revision: 5 }], [remove("/b")]),
        storage.commit([{ key: "/b", revision: 0 }], []),
      );
      release(new Error("no space left on device"));
      for (const outcome of await Promise.allSettled(commits)) {
        assert.ok(
          outcome.status === "rejected" && outcome.reason instanceof StorageUnavailable,
          JSON.stringify(outcome),
        );
        assert.match(outcome.reason.message, /no space left on device/);
      }
      assert.deepEqual(
        [await listed(storage, "/"), await storage.current(), await storage.count("/")],
        [["/a=1"], 2, 1],
      );
      assert.deepEqual(await storage.commit([{ key: "/a", revision: 2 }], [put("/a", "5")]), { ok: true, revision: 3 });
      assert.deepEqual(seen, ["put /a@3=5 was 1@2/2"]);
      await storage.close();
    });
    const lastWrites: [what: string, writes: (before: Write) => Write[]][] = [
      ["checkWritable", () => []],
      ["a deletion, which may succeed on a full disk", ({ key }) => [remove(key)]],
      ["a put", () => [put("/b", "1")]],
    ];
    for (const [what, writes] of lastWrites) {
      test(`logs a write failure once, and the recovery after ${what}`, async () => {
        const lines: string[] = [];
        const log = (message: string): void => void lines.push(message);
        let failing = false;
        const beforeWrite = (): void => {
          if (failing) throw new Error("no space left on device");
        };
        const storage = await fresh({ faults: { beforeWrite }, logger: { info: log, warn: log, error: log } });
        await storage.commit([], [put("/a", "1")]);
        await storage.checkWritable();
        failing = true;
        for (const _ of [1, 2]) await assert.rejects(storage.commit([], [put("/b", "1")]), StorageUnavailable);
        await assert.rejects(storage.checkWritable(), /no space left on device/);
        failing = false;
        for (const write of writes(put("/a", "1"))) await storage.commit([], [write]);
        await storage.checkWritable();
        assert.deepEqual(lines, ["Writes to the store fail", "Writes to the store work again"]);
        await storage.close();
      });
    }

    test("rejects all requests after StorageLost", async () => {
      let lost = false;
      const beforeWrite = (): void => {
        if (lost) throw new StorageLost("restart the server");
      };
      const storage = await fresh({ faults: { beforeWrite } });
      await storage.commit([], [put("/a", "1")]);
      lost = true;
      await assert.rejects(storage.commit([], [put("/a", "2")]), StorageUnavailable);
      lost = false;
      await assert.rejects(storage.commit([], [put("/a", "2")]), StorageLost);
      await assert.rejects(storage.get("/a"), StorageLost);
      await assert.rejects(storage.current(), StorageLost);
      await storage.close();
    });

    test("rejects commits when the write queue is full", async () => {
      const faults = gate();
      const storage = await fresh({ faults, waitingMax: 3 });
      const release = faults.hold();
      const commits = Array.from({ length: 4 }, (_, index) => storage.commit([], [put(`/${index}`, "")]));
      await assert.rejects(commits[3] as Promise<unknown>, /too many writes are waiting/);
      release();
      await Promise.all(commits.slice(0, 3));
      assert.equal(await storage.current(), 4);
      await storage.close();
    });

    test("rejects reads of a revision as soon as its compaction starts", async () => {
      const faults = gate();
      const storage = await fresh({ faults });
      for (let step = 0; step < 5; step++) await storage.commit([], [put("/a", String(step))]); // 2 to 6
      const release = faults.hold();
      const compacted = storage.compact(4);
      await turn();
      await turn();
      await assert.rejects(storage.get("/a", 3), RevisionCompacted);
      await assert.rejects(storage.range("/", { revision: 3 }), RevisionCompacted);
      assert.throws(() => storage.log("/", 3, ignored), RevisionCompacted);
      assert.equal(await textAt(storage, "/a", 4), "2");
      release(new Error("no space left on device"));
      await assert.rejects(compacted, StorageUnavailable);
      assert.equal(await textAt(storage, "/a", 3), "1");
      await storage.close();
    });

    const compactionRows: [what: string, changes: Partial<StorageOptions>, advanceMs: number, want: number][] = [
      ["keeps history younger than the age limit", { historyMs: 1000 }, 900, 0],
      ["compacts history older than the age limit", { historyMs: 1000 }, 1100, 301],
      ["compacts the oldest history above the byte limit", { historyBytesMax: 100 * (64 + 2 + 4) }, 1, 201],
    ];
    for (const [what, changes, advanceMs, want] of compactionRows) {
      test(what, async () => {
        const clock = manualClock();
        const storage = await fresh({ clock, ...changes });
        await storage.commit([], [put("/b", "here")]); // 2
        for (let step = 0; step < 299; step++) await storage.commit([], [put("/a", String(1000 + step))]); // 3 to 301
        clock.advance(advanceMs);
        await passTurns(20);
        await until(() => storage.compacted() >= want);
        assert.equal(storage.compacted(), want);
        assert.deepEqual(await listed(storage, "/"), ["/a=1298", "/b=here"]);
        if (want < 301) assert.equal(await textAt(storage, "/a", want + 10), String(1000 + want + 10 - 3));
        await storage.close();
      });
    }

    test("compacts during concurrent writes and keeps the current state", async () => {
      const storage = await fresh({ historyBytesMax: 2000 });
      for (let step = 0; step < 500; step++) {
        const writes = Array.from({ length: 5 }, (_, index) =>
          (step + index) % 7 === 0 ? remove(`/${index}`) : put(`/${index}`, `${step}`),
        );
        await storage.commit([], writes);
      }
      assert.ok(storage.compacted() > 400);
      assert.deepEqual(await listed(storage, "/"), ["/0=499", "/1=499", "/2=499", "/3=499", "/4=499"]);
      await storage.close();
    });

    test("deletes a key when its time to live ends, unless it was written again", async () => {
      const clock = manualClock();
      const storage = await fresh({ clock });
      await storage.commit(
        [],
        ["/a", "/b", "/c"].map((key) => ({ ...put(key, "1"), ttlSeconds: 10 })),
      );
      await storage.commit([], [put("/b", "2"), { ...put("/c", "2"), ttlSeconds: 30 }]);
      const seen: string[] = [];
      storage.log("/", 3, { ...ignored, events: (batch) => void seen.push(...batch.map(show)) });
      clock.advance(20_000);
      await until(() => seen.length >= 1);
      assert.deepEqual(await listed(storage, "/"), ["/b=2", "/c=2"]);
      clock.advance(20_000);
      await until(() => seen.length >= 2);
      assert.deepEqual(seen, ["delete /a@4=1 was 1@2/2", "delete /c@5=2 was 2@3/3"]);
      assert.deepEqual(await listed(storage, "/"), ["/b=2"]);
      await storage.close();
    });

    test("deletes many expired keys in bounded steps, and continues after a failure", async () => {
      const clock = manualClock();
      let failures = 0;
      const faults: StorageFaults = {
        beforeWrite() {
          if (failures-- > 0) throw new Error("no space left on device");
        },
      };
      const storage = await fresh({ clock, faults });
      for (let from = 0; from < 300; from += 100) {
        await storage.commit(
          [],
          Array.from({ length: 100 }, (_, index) => ({ ...put(`/${from + index}`, ""), ttlSeconds: 1 + (index % 3) })),
        );
      }
      failures = 1;
      await turnsUntil(async () => {
        clock.advance(100);
        return (await storage.count("/")) === 0;
      });
      await storage.close();
    });

    derivedWritesTogether(open);
    randomFailures(open);
  });
}
