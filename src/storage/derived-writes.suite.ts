/** The part of the storage contract about writes that are computed from the newest state. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { passTurns } from "../../test/support/pass-turns.ts";
import { gate, ignored, listed, type Open, put, show, suiteOptions, turn } from "../../test/support/storage-suite.ts";
import { type DerivedWrite, type Storage, StorageUnavailable } from "./contract.ts";
import type { StorageOptions } from "./options.ts";

/** A counter that each commit increments. */
const increment = (key: string): DerivedWrite => ({
  key,
  derive: (newest) => ({ value: Buffer.from(String(Number(newest?.value ?? 0) + 1)) }),
});

/**
 * Registers the tests of derived writes.
 * @param open opens an empty store
 */
export function derivedWrites(open: Open): void {
  const fresh = async (changes: Partial<StorageOptions> = {}): Promise<Storage> =>
    (await open({ ...suiteOptions, ...changes })).storage;

  test("derived writes replace the newest state, share the revision of their commit, and never conflict", async () => {
    const storage = await fresh();
    const commits = Array.from({ length: 50 }, (_none, index) =>
      storage.commit([{ key: `/o/${index}`, revision: 0 }], [put(`/o/${index}`, "x"), increment("/count")]),
    );
    const revisions = (await Promise.all(commits)).map((result) => (result.ok ? result.revision : 0));
    assert.deepEqual(
      revisions,
      Array.from({ length: 50 }, (_none, index) => index + 2),
    );
    assert.deepEqual(await listed(storage, "/count"), ["/count=50"]);
    assert.equal((await storage.get("/count"))?.revision, revisions.at(-1));
    const taken = await storage.commit([{ key: "/o/1", revision: 0 }], [put("/o/1", "y"), increment("/count")]);
    assert.deepEqual([taken.ok, await listed(storage, "/count")], [false, ["/count=50"]]);
    const unchanged = { key: "/count", derive: () => undefined };
    await storage.commit([], [put("/o/1", "z"), unchanged]);
    assert.equal((await storage.get("/count"))?.revision, revisions.at(-1));
    await storage.close();
  });

  test("an error of a derived write rejects the commit and changes nothing", async () => {
    const storage = await fresh();
    const quotaExceeded = new Error("quota exceeded");
    const failing: DerivedWrite = {
      key: "/count",
      derive() {
        throw quotaExceeded;
      },
    };
    await assert.rejects(storage.commit([], [put("/o/1", "x"), failing]), quotaExceeded);
    assert.deepEqual([await listed(storage, "/"), await storage.current()], [[], 1]);
    await storage.close();
  });
}

/**
 * Registers the tests of derived writes while the disk is slow or fails.
 * @param open opens an empty store of an embedded engine
 */
export function derivedWritesTogether(open: Open): void {
  const fresh = async (changes: Partial<StorageOptions> = {}): Promise<Storage> =>
    (await open({ ...suiteOptions, ...changes })).storage;

  test("derived writes that become durable together are logged once, and the log stays complete", async () => {
    const faults = gate();
    const { storage, reopen } = await open({ ...suiteOptions, faults });
    const seen: string[] = [];
    storage.log("/", 1, { ...ignored, events: (batch) => void seen.push(...batch.map(show)) });
    await storage.commit([], [put("/o/0", "x"), increment("/s"), increment("/t")]);
    const release = faults.hold();
    const writing = storage.commit([], [put("/o/1", "x"), increment("/s"), increment("/t")]);
    await passTurns(8);
    const commits = [
      storage.commit([], [put("/o/2", "x"), increment("/s"), increment("/t")]),
      storage.commit([], [put("/o/3", "x"), increment("/s"), increment("/t")]),
      storage.commit([], [put("/o/4", "x"), increment("/s")]), // What follows it is not merged: it has no "/t".
      storage.commit([], [put("/o/5", "x"), increment("/t"), increment("/s")]),
      storage.commit([], [increment("/t"), increment("/s")]),
      storage.commit([], [put("/o/6", "x"), increment("/t")]),
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
    const add = increment("/s");
    const release = faults.hold();
    const writing = storage.commit([], [put("/o/1", "x")]);
    await passTurns(8);
    const commits = [storage.commit([], [put("/o/2", "x"), add]), storage.commit([], [put("/o/3", "x"), add])];
    const conflict = storage.commit([{ key: "/s", revision: 1 }], [put("/s", "100")]);
    commits.push(storage.commit([], [put("/o/4", "x"), add]));
    release();
    await Promise.all([writing, ...commits]);
    const outcome = await conflict;
    assert.ok(!outcome.ok);
    assert.deepEqual([outcome.current?.value.toString(), outcome.current?.revision], ["2", 4]);
    assert.deepEqual([await listed(storage, "/s", 3), await listed(storage, "/s", 4)], [["/s=1"], ["/s=2"]]);
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
}
