/** The tests that every storage engine must pass; an engine's test file runs all of them. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { manualClock } from "../../test/support/manual-clock.ts";
import { seededRandom } from "../../test/support/seeded-random.ts";
import { systemClock } from "../apimachinery/clock.ts";
import {
  type Check,
  type DerivedWrite,
  type LogEvent,
  type LogSubscriber,
  RevisionCompacted,
  RevisionInFuture,
  type Storage,
  StorageLost,
  StorageUnavailable,
  type Subscription,
  type Write,
} from "./contract.ts";
import type { StorageFaults, StorageOptions } from "./options.ts";

export const suiteOptions: StorageOptions = {
  clock: systemClock,
  historyMs: 300_000,
  historyBytesMax: 1 << 30,
  valueBytesMax: 1000,
};

export interface Opened {
  readonly storage: Storage;
  /**
   * Closes the store and opens it again with other options; undefined when the engine does not
   * persist data.
   */
  readonly reopen: ((options: StorageOptions) => Promise<Storage>) | undefined;
}

const put = (key: string, text: string): Write => ({ key, value: Buffer.from(text) });
const remove = (key: string): Write => ({ key, value: null });
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const ignored: LogSubscriber = { events() {}, progress() {}, end() {} };
const show = ({ type, key, revision, previousRevision, value, previous }: LogEvent): string => {
  const before = previous?.();
  return `${type} ${key}@${revision}=${value} was ${before === undefined ? "absent" : `${before.value}@${before.revision}`}/${previousRevision}`;
};

/** Injects delays and failures into writes. */
interface Gate extends StorageFaults {
  /**
   * Blocks all further writes.
   * @returns a function that releases them, or fails them with the error
   */
  hold(): (error?: Error) => void;
}

function gate(): Gate {
  let held: Promise<void> | undefined;
  return {
    beforeWrite: () => held,
    hold() {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      held = promise;
      return (error) => {
        held = undefined;
        if (error === undefined) resolve();
        else reject(error);
      };
    },
  };
}

/**
 * Registers the tests of the storage contract.
 * @param open opens an empty store
 */
export function storageContract(name: string, open: (options: StorageOptions) => Promise<Opened>): void {
  const fresh = async (changes: Partial<StorageOptions> = {}): Promise<Storage> =>
    (await open({ ...suiteOptions, ...changes })).storage;
  const textAt = async (storage: Storage, key: string, revision?: number): Promise<string | undefined> =>
    (await storage.get(key, revision))?.value.toString();
  const listed = async (storage: Storage, prefix: string, revision?: number): Promise<string[]> =>
    (await storage.range(prefix, { revision })).entries.map(({ key, value }) => `${key}=${value}`);

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
      assert.ok(first.ok && !second.ok);
      assert.equal(second.current?.value.toString(), "1");
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

    test("returns values of 1.5 MiB unchanged", async () => {
      const storage = await fresh({ valueBytesMax: 1.5 * 1024 * 1024 });
      const value = Buffer.alloc(1.5 * 1024 * 1024, "0123456789");
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
      const answers = await Promise.all(ranges);
      assert.deepEqual(
        answers.map(({ entries }) => entries.length),
        [3000, 2000, 2900],
      );
      assert.ok(answers.every(({ entries }) => entries.every(({ value }) => value.toString() === "old")));
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
      while (progress.length === 0) await turn();
      await storage.commit([], [remove("/p/a")]);
      await storage.commit([], [put("/p/a", "5")]);
      await storage.commit([], [put("/q/b", "6")]);
      assert.deepEqual(seen, [
        "put /p/a@3=2 was 1@2/2", //
        "delete /p/a@4=2 was 2@3/3",
        "put /p/a@5=5 was absent/0",
      ]);
      assert.equal(progress.at(-1), 6);
      subscription.close();
      await storage.commit([], [put("/p/c", "7")]);
      assert.equal(seen.length, 3);
      await storage.compact(5);
      assert.throws(() => storage.log("/p/", 4, ignored), RevisionCompacted);
      assert.throws(() => storage.log("/p/", 8, ignored), RevisionInFuture);
      storage.log("/p/", 5, ignored).close();
      await storage.close();
    });

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
      while (seen.length < 600) await turn();
      assert.deepEqual(
        seen,
        Array.from({ length: 600 }, (_, index) => 102 + index),
      );
      assert.ok(Math.max(...sizes) <= 256);
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
      storage.log("/p/", 1, { ...ignored, events: () => void seen++ });
      await storage.commit([], [put("/p/a", "1")]);
      await storage.commit([], [put("/p/a", "2")]);
      assert.deepEqual([ends, seen], [[faulty], 2]);
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
      for (let turns = 0; turns < 5; turns++) await turn();
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

    test("derived writes replace the newest state, share the revision of their commit, and never conflict", async () => {
      const storage = await fresh();
      const increment: DerivedWrite = {
        key: "/count",
        derive: (newest) => ({ value: Buffer.from(String(Number(newest?.value ?? 0) + 1)) }),
      };
      const commits = Array.from({ length: 50 }, (_none, index) =>
        storage.commit([{ key: `/o/${index}`, revision: 0 }], [put(`/o/${index}`, "x"), increment]),
      );
      const revisions = (await Promise.all(commits)).map((result) => (result.ok ? result.revision : 0));
      assert.deepEqual(
        revisions,
        Array.from({ length: 50 }, (_none, index) => index + 2),
      );
      assert.deepEqual(await listed(storage, "/count"), ["/count=50"]);
      assert.equal((await storage.get("/count"))?.revision, revisions.at(-1));
      const taken = await storage.commit([{ key: "/o/1", revision: 0 }], [put("/o/1", "y"), increment]);
      assert.deepEqual([taken.ok, await listed(storage, "/count")], [false, ["/count=50"]]);
      const unchanged = { key: "/count", derive: () => undefined };
      await storage.commit([], [put("/o/1", "z"), unchanged]);
      assert.equal((await storage.get("/count"))?.revision, revisions.at(-1));
      await storage.close();
    });

    test("derived writes that become durable together are logged once, and the log stays complete", async () => {
      const faults = gate();
      const { storage, reopen } = await open({ ...suiteOptions, faults });
      const seen: string[] = [];
      storage.log("/", 1, { ...ignored, events: (batch) => void seen.push(...batch.map(show)) });
      const add = (key: string): DerivedWrite => ({
        key,
        derive: (newest) => ({ value: Buffer.from(String(Number(newest?.value ?? 0) + 1)) }),
      });
      await storage.commit([], [put("/o/0", "x"), add("/s"), add("/t")]);
      const release = faults.hold();
      const writing = storage.commit([], [put("/o/1", "x"), add("/s"), add("/t")]);
      for (let turns = 0; turns < 8; turns++) await turn();
      const commits = [
        storage.commit([], [put("/o/2", "x"), add("/s"), add("/t")]),
        storage.commit([], [put("/o/3", "x"), add("/s"), add("/t")]),
        storage.commit([], [put("/o/4", "x"), add("/s")]), // What follows it is not merged: it has no "/t".
        storage.commit([], [put("/o/5", "x"), add("/t"), add("/s")]),
        storage.commit([], [add("/t"), add("/s")]),
        storage.commit([], [put("/o/6", "x"), add("/t")]),
      ];
      release();
      const revisions = (await Promise.all([writing, ...commits])).map((result) => (result.ok ? result.revision : 0));
      assert.deepEqual(revisions, [3, 4, 5, 6, 7, 8, 9]);
      const logged = [
        ...["put /o/0@2=x was absent/0", "put /s@2=1 was absent/0", "put /t@2=1 was absent/0"],
        ...["put /o/1@3=x was absent/0", "put /s@3=2 was 1@2/2", "put /t@3=2 was 1@2/2"],
        "put /o/2@4=x was absent/0",
        "put /o/3@5=x was absent/0",
        "put /o/4@6=x was absent/0",
        "put /o/5@7=x was absent/0",
        ...["put /t@8=6 was 2@3/3", "put /s@8=7 was 2@3/3"],
        ...["put /o/6@9=x was absent/0", "put /t@9=7 was 6@8/8"],
      ];
      assert.deepEqual(seen, logged);
      assert.deepEqual(await listed(storage, "/s", 7), ["/s=2"]);
      const later = (await reopen?.(suiteOptions)) ?? storage;
      const again: string[] = [];
      await new Promise<void>((resolve) =>
        later.log("/", 1, {
          events: (batch) => void again.push(...batch.map(show)),
          progress: (revision) => void (revision === 9 && resolve()),
          end: (error) => void again.push(String(error)),
        }),
      );
      assert.deepEqual(again, logged);
      await later.compact(9);
      assert.deepEqual([await listed(later, "/s"), await listed(later, "/t")], [["/s=7"], ["/t=7"]]);
      await later.close();
    });

    test("a derived state that a conflict reports is in the log", async () => {
      const faults = gate();
      const storage = await fresh({ faults });
      const add: DerivedWrite = {
        key: "/s",
        derive: (newest) => ({ value: Buffer.from(String(Number(newest?.value ?? 0) + 1)) }),
      };
      const release = faults.hold();
      const writing = storage.commit([], [put("/o/1", "x")]);
      for (let turns = 0; turns < 8; turns++) await turn();
      const commits = [storage.commit([], [put("/o/2", "x"), add]), storage.commit([], [put("/o/3", "x"), add])];
      const conflict = storage.commit([{ key: "/s", revision: 1 }], [put("/s", "100")]);
      commits.push(storage.commit([], [put("/o/4", "x"), add]));
      release();
      await Promise.all([writing, ...commits]);
      const outcome = await conflict;
      assert.ok(!outcome.ok);
      assert.deepEqual([outcome.current?.value.toString(), outcome.current?.revision], ["2", 4]);
      assert.deepEqual([await textAt(storage, "/s", 3), await textAt(storage, "/s", 4)], ["1", "2"]);
      assert.deepEqual(await listed(storage, "/s"), ["/s=3"]);
      await storage.close();
    });

    test("an error of a derived write rejects the commit when the state that caused it is durable, and changes nothing", async () => {
      const faults = gate();
      const storage = await fresh({ faults });
      const full: DerivedWrite = {
        key: "/count",
        derive(newest) {
          if (newest !== undefined) throw new Error(`the count is ${newest.value}`);
          return { value: Buffer.from("1") };
        },
      };
      const order: string[] = [];
      const release = faults.hold();
      const first = storage.commit([], [put("/a", "1"), full]).then(() => order.push("first"));
      const second = storage.commit([], [put("/b", "1"), full]).catch((error: Error) => order.push(error.message));
      await turn();
      await turn();
      assert.deepEqual(order, []);
      release();
      await Promise.all([first, second]);
      assert.deepEqual(order, ["first", "the count is 1"]);
      assert.deepEqual(await listed(storage, "/"), ["/a=1", "/count=1"]);
      await storage.close();
    });

    test("an error of a derived write is not reported if the state that caused it is lost", async () => {
      const faults = gate();
      const storage = await fresh({ faults });
      const once: DerivedWrite = {
        key: "/count",
        derive(newest) {
          if (newest !== undefined) throw new Error("counted");
          return { value: Buffer.from("1") };
        },
      };
      const release = faults.hold();
      const commits = [storage.commit([], [once]), storage.commit([], [put("/b", "1"), once])];
      await turn();
      await turn();
      release(new Error("no space left on device"));
      for (const outcome of await Promise.allSettled(commits))
        assert.ok(outcome.status === "rejected" && outcome.reason instanceof StorageUnavailable);
      assert.deepEqual(await listed(storage, "/"), []);
      await storage.commit([], [once]);
      assert.deepEqual(await listed(storage, "/"), ["/count=1"]);
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

    test("close waits for requests in progress, ends subscriptions and rejects further requests", async () => {
      const storage = await fresh();
      const ends: (Error | undefined)[] = [];
      storage.log("/p/", 1, { ...ignored, end: (error) => void ends.push(error) });
      const [committed, ranged] = [storage.commit([], [put("/p/a", "1")]), storage.range("/p/")];
      await storage.close();
      assert.deepEqual(await committed, { ok: true, revision: 2 });
      assert.deepEqual((await ranged).entries, []);
      assert.deepEqual(ends, [undefined]);
      await assert.rejects(storage.commit([], [put("/a", "1")]), StorageUnavailable);
      await assert.rejects(storage.get("/a"), StorageUnavailable);
      assert.throws(() => storage.log("/", 1, ignored), StorageUnavailable);
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
        for (let turns = 0; turns < 20 || storage.compacted() < want; turns++) await turn();
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
      while (seen.length < 1) await turn();
      assert.deepEqual(await listed(storage, "/"), ["/b=2", "/c=2"]);
      clock.advance(20_000);
      while (seen.length < 2) await turn();
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
      for (let turns = 0; turns < 5000 && (await storage.count("/")) > 0; turns++) {
        clock.advance(100);
        await turn();
      }
      assert.equal(await storage.count("/"), 0);
      await storage.close();
    });

    randomOperations(open);
    randomConcurrency(open);
  });
}

const seedOf = (): number => Number(process.env.SEED ?? Date.now() % 1_000_000);
const stepsMax = process.env.COXSWAIN_TEST_FULL === "1" ? 5000 : 500;

/** The state at each revision; the last one is current. */
class Model {
  readonly states: ReadonlyMap<string, { value: string; revision: number }>[] = [new Map(), new Map()];

  get revision(): number {
    return this.states.length - 1;
  }

  get latest(): ReadonlyMap<string, { value: string; revision: number }> {
    return this.states[this.revision] as ReadonlyMap<string, { value: string; revision: number }>;
  }

  conflicts(checks: readonly Check[]): boolean {
    return checks.some(({ key, revision }) => (this.latest.get(key)?.revision ?? 0) !== revision);
  }

  /** @returns the revision */
  apply(writes: readonly Write[]): number {
    if (!writes.some(({ key, value }) => value !== null || this.latest.has(key))) return this.revision;
    const next = new Map(this.latest);
    for (const { key, value } of writes) {
      if (value === null) next.delete(key);
      else next.set(key, { value: value.toString(), revision: this.states.length });
    }
    this.states.push(next);
    return this.revision;
  }

  entries(prefix: string, revision: number, after: string | undefined): [string, string, number][] {
    return [...(this.states[revision] as Model["latest"])]
      .filter(([key]) => key.startsWith(prefix) && (after === undefined || key > after))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, state]) => [key, state.value, state.revision]);
  }
}

function randomOperations(open: (options: StorageOptions) => Promise<Opened>): void {
  const seed = seedOf();
  test(`random operations agree with a model (SEED=${seed})`, async () => {
    const random = seededRandom(seed);
    const options: StorageOptions = { ...suiteOptions, historyBytesMax: random(2) === 0 ? 1 << 30 : 5000 };
    let { storage, reopen } = await open(options);
    const model = new Model();
    const keyOf = (): string => `/${"pq"[random(2)]}/${random(12)}`;
    const operations: (() => Promise<void>)[] = [
      async function commit() {
        const keys = [...new Set(Array.from({ length: random(4) }, keyOf))];
        const checks = keys
          .filter(() => random(2) === 0)
          .map((key) => ({ key, revision: (model.latest.get(key)?.revision ?? 0) + Number(random(8) === 0) }));
        const writes = keys.map((key) => (random(3) === 0 ? remove(key) : put(key, `v${random(1000)}`)));
        const outcome = await storage.commit(checks, writes);
        if (model.conflicts(checks))
          assert.ok(!outcome.ok && outcome.current?.revision === model.latest.get(outcome.key)?.revision);
        else assert.deepEqual(outcome, { ok: true, revision: model.apply(writes) });
      },
      async function range() {
        const oldest = Math.max(1, storage.compacted());
        const revision = random(3) === 0 ? model.revision : oldest + random(model.revision - oldest + 1);
        const after = random(3) === 0 ? keyOf() : undefined;
        const limit = random(2) === 0 ? 1 + random(10) : undefined;
        const prefix = ["/p/", "/q/", ""][random(3)] as string;
        const found = await storage.range(prefix, { revision, after, limit });
        const want = model.entries(prefix, revision, after);
        assert.deepEqual(
          found.entries.map(({ key, value, revision: at }) => [key, value.toString(), at]),
          want.slice(0, limit),
        );
        assert.deepEqual([found.revision, found.more], [revision, want.length > (limit ?? want.length)]);
        assert.equal(await storage.count(prefix), model.entries(prefix, model.revision, undefined).length);
      },
      async function get() {
        const oldest = Math.max(1, storage.compacted());
        const revision = random(2) === 0 ? undefined : oldest + random(model.revision - oldest + 1);
        const key = keyOf();
        const want = model.states[revision ?? model.revision]?.get(key);
        const found = await storage.get(key, revision);
        assert.deepEqual([found?.value.toString(), found?.revision], [want?.value, want?.revision]);
      },
      async function compact() {
        if (random(4) === 0) await storage.compact(Math.max(1, model.revision - random(20)));
      },
      async function log() {
        const from = Math.max(1, storage.compacted(), model.revision - random(30));
        const state = new Map(model.states[from]);
        const { promise, resolve, reject } = Promise.withResolvers<void>();
        const subscription: Subscription = storage.log("", from, {
          events(batch) {
            for (const { type, key, value, revision, previous, previousRevision } of batch) {
              assert.deepEqual(
                [previous?.().value.toString(), previousRevision],
                [state.get(key)?.value, state.get(key)?.revision ?? 0],
              );
              if (type === "delete") state.delete(key);
              else state.set(key, { value: value.toString(), revision });
            }
          },
          progress: (revision) => void (revision === model.revision && resolve()),
          end: (error) => reject(error ?? new Error("closed")),
        });
        await promise;
        subscription.close();
        assert.deepEqual([...state].sort(), [...model.latest].sort());
      },
      async function reopened() {
        if (random(8) === 0 && reopen !== undefined) storage = await reopen(options);
      },
    ];
    for (let step = 0; step < stepsMax; step++) {
      const operation = operations[Math.max(0, random(9) - 3)] as (typeof operations)[number];
      await operation().catch((error: unknown) => {
        throw new Error(`step ${step}: ${operation.name}`, { cause: error });
      });
    }
    await storage.close();
  });
}

/**
 * Concurrent writers and readers while every fifth write fails. Guarantees: a counter equals the
 * number of acknowledged commits; the log has each of them once, in order; a failed commit leaves
 * no trace; derived counters equal the number of commits that count in them, in every visible state,
 * and the log gives the current state.
 */
function randomConcurrency(open: (options: StorageOptions) => Promise<Opened>): void {
  const seed = seedOf();
  test(`acknowledged commits, and no others, are stored while writes fail at random (SEED=${seed})`, async () => {
    const random = seededRandom(seed);
    const faults: StorageFaults = {
      beforeWrite() {
        if (random(5) === 0) throw new Error("input/output error");
      },
    };
    const { storage } = await open({ ...suiteOptions, faults });
    const acknowledged = new Map<string, number>();
    const seen: string[] = [];
    storage.log("/n/", 1, {
      ...ignored,
      events: (batch) => void seen.push(...batch.map(({ key, value, revision }) => `${key}=${value}@${revision}`)),
    });
    const answered: string[] = [];
    const counter = (name: string): DerivedWrite => ({
      key: `/t/${name}`,
      derive: (newest) => ({ value: Buffer.from(String(Number(newest?.value ?? 0) + 1)) }),
    });
    const counters = (next: number): DerivedWrite[] => (next % 3 === 0 ? ["a", "b"] : ["a"]).map(counter);
    const increment = async (key: string): Promise<void> => {
      const current = await storage.get(key);
      const next = Number(current?.value.toString() ?? 0) + 1;
      try {
        const outcome = await storage.commit(
          [{ key, revision: current?.revision ?? 0 }],
          [put(key, String(next)), put(`/log${key}/${next}`, ""), ...counters(next)],
        );
        if (!outcome.ok) return;
        acknowledged.set(key, (acknowledged.get(key) ?? 0) + 1);
        answered.push(`${key}=${next}@${outcome.revision}`);
      } catch (error) {
        assert.ok(error instanceof StorageUnavailable);
      }
    };
    const writer = async (): Promise<void> => {
      for (let step = 0; step < stepsMax / 10; step++) {
        await increment(`/n/${random(3)}`);
        for (let turns = random(3); turns > 0; turns--) await turn();
      }
    };
    const reader = async (): Promise<void> => {
      for (let step = 0; step < stepsMax / 20; step++) {
        const { entries } = await storage.range("/n/");
        for (const { key, value } of entries)
          assert.equal((await storage.count(`/log${key}/`)) >= Number(value.toString()), true);
        const values = new Map((await storage.range("/")).entries.map(({ key, value }) => [key, Number(value)]));
        const counts = [...values].filter(([key]) => key.startsWith("/n/")).map(([, count]) => count);
        assert.equal(values.get("/t/a") ?? 0, sum(counts));
        assert.equal(values.get("/t/b") ?? 0, sum(counts.map((count) => Math.floor(count / 3))));
        await turn();
      }
    };
    await Promise.all([...Array.from({ length: 8 }, writer), reader()]);
    for (const [key, count] of acknowledged) {
      assert.equal((await storage.get(key))?.value.toString(), String(count));
      assert.equal(await storage.count(`/log${key}/`), count);
    }
    assert.deepEqual(seen, answered);
    const current = await storage.current();
    const replayed = new Map<string, string>();
    await new Promise<void>((resolve, reject) =>
      storage.log("", 1, {
        events(batch) {
          for (const { key, value, revision, previousRevision } of batch) {
            assert.equal(String(previousRevision), replayed.get(key)?.split("@")[1] ?? "0");
            replayed.set(key, `${value}@${revision}`);
          }
        },
        progress: (revision) => void (revision === current && resolve()),
        end: reject,
      }),
    );
    const stored = (await storage.range("")).entries.map(({ key, value, revision }) => [key, `${value}@${revision}`]);
    assert.deepEqual([...replayed].sort(), stored.sort());
    await storage.close();
  });
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
