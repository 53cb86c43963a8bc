/** The tests that every storage engine must pass; an engine's test file runs all of them. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ignored, listed, type Open, put, remove, show, suiteOptions } from "../../test/support/storage-suite.ts";
import { until } from "../../test/support/until.ts";
import {
  type Check,
  type LogSubscriber,
  type RangeOptions,
  RevisionCompacted,
  RevisionInFuture,
  type Storage,
  StorageUnavailable,
  type Write,
} from "./contract.ts";
import { derivedWrites } from "./derived-writes.suite.ts";
import type { StorageOptions } from "./options.ts";
import { randomConcurrency, randomOperations } from "./random-operations.suite.ts";

/**
 * Registers the tests of the storage contract.
 * @param open opens an empty store
 */
export function storageContract(name: string, open: Open): void {
  const fresh = async (changes: Partial<StorageOptions> = {}): Promise<Storage> =>
    (await open({ ...suiteOptions, ...changes })).storage;
  const textAt = async (storage: Storage, key: string, revision?: number): Promise<string | undefined> =>
    (await storage.get(key, revision))?.value.toString();

  describe(`storage contract: ${name}`, () => {
    const commitRows: [what: string, checks: Check[], want: "committed" | "conflict"][] = [
      ["commits a create when the key is absent", [{ key: "/b", revision: 0 }], "committed"],
      ["rejects a create when the key exists", [{ key: "/a", revision: 0 }], "conflict"],
      ["commits an update when the key is at the revision", [{ key: "/a", revision: 2 }], "committed"],
      ["rejects an update when the key is at another revision", [{ key: "/a", revision: 1 }], "conflict"],
      ["rejects an update when the key is absent", [{ key: "/c", revision: 2 }], "conflict"],
      [
        "rejects a commit when one of two checks fails",
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

    const rejectedRows: [what: string, writes: Write[], error: RegExp][] = [
      ["a value over the limit", [put("/a", "x".repeat(1001))], /request is too large/],
      ["a key over 1900 bytes", [put(`/${"x".repeat(1900)}`, "1")], /request is too large/],
      ["129 writes", Array.from({ length: 129 }, (_, index) => put(`/${index}`, "1")), /at most 128/],
      ["a key twice", [put("/a", "1"), put("/a", "2")], /each key once/],
    ];
    for (const [what, writes, error] of rejectedRows) {
      test(`rejects a commit with ${what} and changes nothing`, async () => {
        const storage = await fresh();
        await assert.rejects(storage.commit([], writes), error);
        assert.equal(await storage.current(), 1);
        await storage.close();
      });
    }

    test("starts at revision 1, gives the writes of a commit one revision, and none to a commit without changes", async () => {
      const storage = await fresh();
      assert.equal(await storage.current(), 1);
      assert.deepEqual(await storage.commit([], [put("/a", "1"), put("/b", "1")]), { ok: true, revision: 2 });
      assert.deepEqual([(await storage.get("/a"))?.revision, (await storage.get("/b"))?.revision], [2, 2]);
      assert.deepEqual(await storage.commit([{ key: "/a", revision: 2 }], []), { ok: true, revision: 2 });
      assert.deepEqual(await storage.commit([], [remove("/none")]), { ok: true, revision: 2 });
      assert.equal(await storage.current(), 2);
      await storage.close();
    });

    test("a conflict returns the current state, including a concurrent commit that is not durable yet", async () => {
      const storage = await fresh();
      const [first, second] = await Promise.all([
        storage.commit([{ key: "/a", revision: 0 }], [put("/a", "1")]),
        storage.commit([{ key: "/a", revision: 0 }], [put("/a", "2")]),
      ]);
      const [winner, loser] = first.ok ? ["1", second] : ["2", first];
      assert.ok(first.ok !== second.ok && !loser.ok);
      assert.equal(loser.current?.value.toString(), winner);
      await storage.close();
    });

    test("returns values of arbitrary bytes and their seals unchanged", async () => {
      const storage = await fresh();
      const seal = { fingerprint: 0xfedcba98, versionOffset: 77, itemOffset: 33 };
      const value = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
      await storage.commit(
        [],
        [
          { key: "/a", value, seal },
          { key: "/b", value: Buffer.alloc(0) },
        ],
      );
      const [a, b] = [await storage.get("/a"), await storage.get("/b")];
      assert.deepEqual([a?.value, a?.seal, b?.value.length, b?.seal], [value, seal, 0, undefined]);
      assert.deepEqual((await storage.range("/")).entries, [a, b]);
      await storage.close();
    });

    test("returns values of almost 1.5 MiB, the limit of a request to etcd, unchanged", async () => {
      const storage = await fresh({ valueBytesMax: 1.5 * 1024 * 1024 });
      const value = Buffer.alloc(1.5 * 1024 * 1024 - 512, "0123456789");
      await Promise.all([
        storage.commit([], [{ key: "/a", value }]),
        storage.commit([], [{ key: "/b", value: value.subarray(1) }]),
      ]);
      assert.ok((await storage.get("/a"))?.value.equals(value));
      assert.ok((await storage.range("/")).entries[1]?.value.equals(value.subarray(1)));
      await storage.close();
    });

    test("reads older revisions until they are compacted", async () => {
      const storage = await fresh();
      await storage.commit([], [put("/p/a", "1")]); // 2
      await storage.commit([], [put("/p/a", "2"), put("/p/b", "2")]); // 3
      await storage.commit([], [remove("/p/a")]); // 4
      await storage.commit([], [put("/p/a", "5"), put("/q/a", "5")]); // 5
      const states: Record<number, string[]> = {
        1: [],
        2: ["/p/a=1"],
        3: ["/p/a=2", "/p/b=2"],
        4: ["/p/b=2"],
        5: ["/p/a=5", "/p/b=2"],
      };
      for (const [revision, want] of Object.entries(states))
        assert.deepEqual(await listed(storage, "/p/", Number(revision)), want);
      assert.deepEqual([await textAt(storage, "/p/a", 2), await textAt(storage, "/p/a", 4)], ["1", undefined]);
      await assert.rejects(storage.range("/p/", { revision: 6 }), RevisionInFuture);
      await assert.rejects(storage.get("/p/a", 6), RevisionInFuture);
      await assert.rejects(storage.compact(6), RevisionInFuture);
      await storage.compact(4);
      await assert.rejects(storage.get("/p/a", 3), RevisionCompacted);
      await assert.rejects(storage.range("/p/", { revision: 3 }), RevisionCompacted);
      assert.deepEqual(await listed(storage, "/p/", 4), ["/p/b=2"]);
      assert.deepEqual(await listed(storage, "/p/"), ["/p/a=5", "/p/b=2"]);
      assert.equal(storage.compacted(), 4);
      await storage.close();
    });

    test("returns ranges in pages, ordered by the bytes of the keys", async () => {
      const storage = await fresh();
      await storage.commit(
        [],
        ["/p/c", "/p/a", "/p/b", "/pp/a", "/o/z", "/p/\u{1f600}", "/p/\uffee", "/p/é"].map((key) => put(key, key)),
      );
      const pages: string[][] = [];
      for (let after: string | undefined, more = true; more; ) {
        const page = await storage.range("/p/", { limit: 2, after });
        pages.push(page.entries.map(({ key }) => key));
        after = page.entries.at(-1)?.key;
        more = page.more;
      }
      assert.deepEqual(pages, [
        ["/p/a", "/p/b"],
        ["/p/c", "/p/é"],
        ["/p/\uffee", "/p/\u{1f600}"],
      ]);
      assert.deepEqual([await storage.count("/p/"), await storage.count(""), await storage.count("/x")], [6, 8, 0]);
      const revisionsOf = async (options: RangeOptions): Promise<string[]> =>
        (await storage.range("/p/", options)).entries.map(({ key, revision }) => `${key}@${revision}`);
      assert.deepEqual(await revisionsOf({ limit: 4, keysOnly: true }), await revisionsOf({ limit: 4 }));
      await storage.close();
    });

    test("a long range returns one consistent state during concurrent writes", async () => {
      const storage = await fresh();
      for (let from = 0; from < 3000; from += 100) {
        await storage.commit(
          [],
          Array.from({ length: 100 }, (_, index) => put(`/p/${String(from + index).padStart(4, "0")}`, "old")),
        );
      }
      const revision = await storage.current();
      const ranges = [
        storage.range("/p/"),
        storage.range("/p/", { after: "/p/0999" }),
        storage.range("/p/", { revision: revision - 1 }),
      ];
      for (let index = 0; index < 3000; index += 10) {
        const key = `/p/${String(index).padStart(4, "0")}`;
        await storage.commit([], [index % 20 === 0 ? remove(key) : put(key, "new"), put(`${key}x`, "new")]);
      }
      const [whole, rest, older] = await Promise.all(ranges);
      assert.deepEqual(whole, await storage.range("/p/", { revision: whole?.revision }));
      assert.deepEqual(rest, await storage.range("/p/", { revision: rest?.revision, after: "/p/0999" }));
      assert.equal(older?.entries.length, 2900);
      assert.ok(older.entries.every(({ value }) => value.toString() === "old"));
      await storage.close();
    });

    test("an older state is complete after many later changes", async () => {
      const storage = await fresh();
      const keys = Array.from({ length: 1300 }, (_, index) => `/w/${String(index).padStart(4, "0")}`);
      const write = async (text: string): Promise<number> => {
        let revision = 0;
        for (let at = 0; at < keys.length; at += 100) {
          const outcome = await storage.commit(
            [],
            keys.slice(at, at + 100).map((key) => put(key, text)),
          );
          assert.ok(outcome.ok);
          revision = outcome.revision;
        }
        return revision;
      };
      const before = await write("old");
      await write("new");
      assert.deepEqual(
        await listed(storage, "/w/", before),
        keys.map((key) => `${key}=old`),
      );
      assert.equal(await textAt(storage, keys.at(-1) as string, before), "old");
      await storage.close();
    });

    test("the log delivers past events, then new ones, with the previous state, and only those of its prefix", async () => {
      const storage = await fresh();
      await storage.commit([], [put("/p/a", "1")]);
      await storage.commit([], [put("/p/a", "2"), put("/q/a", "2")]);
      const seen: string[] = [];
      const progress: number[] = [];
      const subscriber: LogSubscriber = {
        events: (batch) => void seen.push(...batch.map(show)),
        progress: (revision) => void progress.push(revision),
        end() {},
      };
      const subscription = storage.log("/p/", 2, subscriber);
      assert.deepEqual([seen, progress], [[], []]); // Never called before `log` has returned.
      await until(() => progress.length > 0);
      await storage.commit([], [remove("/p/a")]);
      await storage.commit([], [put("/p/a", "5")]);
      await storage.commit([], [put("/q/b", "6")]);
      assert.deepEqual(seen, [
        "put /p/a@3=2 was 1@2/2", //
        "delete /p/a@4=2 was 2@3/3",
        "put /p/a@5=5 was absent/0",
      ]);
      assert.equal(await storage.current(), 6);
      await until(() => progress.at(-1) === 6);
      subscription.close();
      await storage.commit([], [put("/p/c", "7")]);
      assert.equal(seen.length, 3);
      await storage.compact(5);
      assert.throws(() => storage.log("/p/", 4, ignored), RevisionCompacted);
      assert.throws(() => storage.log("/p/", 8, ignored), RevisionInFuture);
      storage.log("/p/", 5, ignored).close();
      await storage.close();
    });

    test("ends the subscription of a subscriber that throws, and keeps the others", async () => {
      const storage = await fresh();
      const ends: (Error | undefined)[] = [];
      let seen = 0;
      const faulty = new Error("faulty");
      const events = (): void => {
        throw faulty;
      };
      storage.log("/p/", 1, { events, progress() {}, end: (error) => void ends.push(error) });
      storage.log("/p/", 1, {
        ...ignored,
        events(batch) {
          seen += batch.length;
        },
      });
      await storage.commit([], [put("/p/a", "1")]);
      await storage.commit([], [put("/p/a", "2")]);
      await until(() => seen >= 2);
      assert.deepEqual(ends, [faulty]);
      await storage.close();
    });

    test("close waits for requests in progress, ends subscriptions and rejects further requests", async () => {
      const storage = await fresh();
      const ends: (Error | undefined)[] = [];
      storage.log("/p/", 1, { ...ignored, end: (error) => void ends.push(error) });
      const [committed, ranged] = [storage.commit([], [put("/p/a", "1")]), storage.range("/p/")];
      await storage.close();
      assert.deepEqual(await committed, { ok: true, revision: 2 });
      assert.ok((await ranged).entries.length <= 1);
      assert.deepEqual(ends, [undefined]);
      await assert.rejects(storage.commit([], [put("/a", "1")]), StorageUnavailable);
      await assert.rejects(storage.get("/a"), StorageUnavailable);
      assert.throws(() => storage.log("/", 1, ignored), StorageUnavailable);
      await storage.close();
    });

    derivedWrites(open);
    randomOperations(open);
    randomConcurrency(open);
  });
}
