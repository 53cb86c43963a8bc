/** Encrypted stores pass the tests of all engines, and what reaches the engine is encrypted. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { type Open, put, suiteOptions } from "../../../test/support/storage-suite.ts";
import { storageContract } from "../contract.suite.ts";
import type { LogEvent, Storage, Stored } from "../contract.ts";
import { openMemoryStorage } from "../memory.ts";
import { gcmCipher } from "./aes.ts";
import { type Encryption, EncryptionFailed, type ValueCipher } from "./contract.ts";
import { encryptStorage } from "./encrypted-storage.ts";

const gcm = gcmCipher(randomBytes(32));
const encryptionWith = (cipher: ValueCipher): Encryption => ({
  of: (key) => ({ cipher, context: { key, resource: "secrets" } }),
});
const openEncrypted: Open = async (options) => ({
  storage: encryptStorage(
    await openMemoryStorage({ ...options, valueBytesMax: options.valueBytesMax + 28 }),
    encryptionWith(gcm),
  ),
  reopen: undefined,
});
storageContract("memory, encrypted", openEncrypted);

/** A cipher that reverses values, whose key another process has until it was fetched. */
function remoteCipher() {
  const present = new Set<string>();
  const fetches: string[] = [];
  const state = { failure: undefined as Error | undefined, release: (): void => {} };
  const cipher: ValueCipher = {
    seal: (plain) => Buffer.from(plain).reverse(),
    open(data) {
      const text = data.toString();
      if (!present.has(text)) throw state.failure ?? new Error("no key");
      return { plain: Buffer.from(data).reverse(), isStale: text.includes("dlo") };
    },
    remote: {
      has: (data) => present.has(data.toString()),
      async fetch(data) {
        fetches.push(data.toString());
        if (state.failure === undefined) present.add(data.toString());
      },
    },
  };
  return { cipher, present, fetches, state };
}

async function openRemote() {
  const inner = await openMemoryStorage(suiteOptions);
  const remote = remoteCipher();
  return { inner, storage: encryptStorage(inner, encryptionWith(remote.cipher)), ...remote };
}

function collect(storage: Storage, from: number) {
  const events: string[] = [];
  const describe = ({ type, key, value, revision }: LogEvent): string => `${type} ${key} ${value} ${revision}`;
  const { promise, resolve } = Promise.withResolvers<number>();
  let ended: Error | undefined;
  const log = storage.log("/", from, {
    events: (batch) => events.push(...batch.map(describe)),
    progress: (revision) => {
      events.push(`progress ${revision}`);
      if (revision >= 4) resolve(revision);
    },
    end: (error) => {
      ended = error;
    },
  });
  return { events, reached: promise, log, ended: () => ended };
}

test("values are encrypted below, and equal values differ", async () => {
  const inner = await openMemoryStorage(suiteOptions);
  const storage = encryptStorage(inner, encryptionWith(gcm));
  await storage.commit([], [put("/a", "secret text"), put("/b", "secret text")]);
  const [a, b] = (await inner.range("/")).entries as [Stored, Stored];
  assert.doesNotMatch(a.value.toString("latin1"), /secret/);
  assert.notDeepEqual(a.value, b.value);
  assert.equal((await storage.get("/a"))?.value.toString(), "secret text");
});

test("a value that was moved to another key cannot be read", async () => {
  const inner = await openMemoryStorage(suiteOptions);
  const storage = encryptStorage(inner, encryptionWith(gcm));
  await storage.commit([], [put("/a", "1")]);
  const stored = (await inner.get("/a")) as Stored;
  await inner.commit([], [{ key: "/b", value: stored.value }]);
  const moved = await storage.get("/b");
  assert.deepEqual([moved?.unreadable, moved?.value], ["cipher: message authentication failed", stored.value]);
});

test("reads fetch the key of a value first, and have the reason when that fails", async () => {
  const { storage, fetches, state } = await openRemote();
  await storage.commit([], [put("/a", "abc"), put("/b", "abc old")]);
  assert.equal((await storage.get("/a"))?.value.toString(), "abc");
  const { entries } = await storage.range("/");
  assert.deepEqual(
    entries.map(({ value, isStale }) => [value.toString(), isStale]),
    [
      ["abc", undefined],
      ["abc old", true],
    ],
  );
  assert.deepEqual(fetches, ["cba", "dlo cba"]);
  state.failure = new Error("the service is down");
  await storage.commit([], [put("/c", "xyz")]);
  assert.deepEqual(
    [(await storage.get("/c"))?.unreadable, (await storage.get("/a"))?.value.toString()],
    ["the service is down", "abc"],
  );
});

test("events wait for keys in order, and progress waits with them", async () => {
  const { storage } = await openRemote();
  const { events, reached } = collect(storage, 1);
  await storage.commit([], [put("/a", "1a")]);
  await storage.commit([], [put("/a", "2b")]);
  await storage.commit([], [{ key: "/a", value: null }]);
  await reached;
  const kinds = events.filter((text) => !text.startsWith("progress"));
  assert.deepEqual(kinds, ["put /a 1a 2", "put /a 2b 3", "delete /a 2b 4"]);
  assert.ok(events.indexOf("progress 4") > events.indexOf("delete /a 2b 4"));
});

test("a log that is closed while a key is fetched delivers nothing more", async () => {
  const { storage } = await openRemote();
  const { events, log, ended } = collect(storage, 1);
  await storage.commit([], [put("/a", "1")]);
  const before = events.filter((text) => text.startsWith("put")).length;
  log.close();
  await storage.commit([], [put("/a", "2")]);
  await new Promise(setImmediate);
  assert.ok(events.filter((text) => text.startsWith("put")).length <= before + 0);
  assert.equal(ended(), undefined);
});

test("derived writes wait for the key of the value that they replace", async () => {
  const { storage, fetches } = await openRemote();
  await storage.commit([], [put("/a", "12")]);
  const outcome = await storage.commit(
    [],
    [{ key: "/a", derive: (newest) => ({ value: Buffer.from(`${newest?.value}3`) }) }],
  );
  assert.equal(outcome.ok, true);
  assert.equal((await storage.get("/a"))?.value.toString(), "123");
  assert.deepEqual(fetches, ["21", "321"]);
});

/** A cipher whose values have a key of their own, of which the service has encrypted the name. */
function keyedCipher(name: string) {
  const made: string[] = [];
  const state = { failure: undefined as Error | undefined, during: (): void => {} };
  const cipher: ValueCipher = {
    async newKey() {
      await Promise.resolve();
      if (state.failure !== undefined) throw state.failure;
      const key = `${name}${made.length}`;
      made.push(key);
      state.during();
      return { secret: Buffer.from(key), encrypted: Buffer.from(key), requestedAt: 0 };
    },
    seal: (plain, _context, { key } = {}) => Buffer.from(`${key?.encrypted}:${plain}`),
    open: (data) => ({ plain: data.subarray(data.indexOf(":") + 1), isStale: false }),
  };
  return { cipher, made, state };
}

test("each value gets a key of another process, and a derived one the key of its commit", async () => {
  const inner = await openMemoryStorage(suiteOptions);
  const { cipher, made, state } = keyedCipher("k");
  const storage = encryptStorage(inner, encryptionWith(cipher));
  await storage.commit([], [put("/a", "1"), put("/b", "2")]);
  await storage.commit([], [{ key: "/a", derive: (newest) => ({ value: Buffer.from(`${newest?.value}+`) }) }]);
  const stored = async (key: string) => String((await inner.get(key))?.value);
  assert.deepEqual([await stored("/a"), await stored("/b"), made.length], ["k2:1+", "k1:2", 3]);
  state.failure = new Error("the vault is sealed");
  await assert.rejects(storage.commit([], [put("/c", "1")]), new EncryptionFailed("the vault is sealed"));
  assert.equal(await inner.get("/c"), undefined);
});

test("when the configuration changes while a key is made, one of the new configuration is used", async () => {
  const inner = await openMemoryStorage(suiteOptions);
  const [old, next] = [keyedCipher("old"), keyedCipher("new")];
  let { cipher } = old;
  const storage = encryptStorage(inner, { of: (key) => ({ cipher, context: { key, resource: "secrets" } }) });
  old.state.during = () => {
    cipher = next.cipher;
  };
  await storage.commit([], [put("/a", "1")]);
  assert.equal(String((await inner.get("/a"))?.value), "new0:1");
  assert.deepEqual([old.made, next.made], [["old0"], ["new0"]]);
});

test("a value that cannot be encrypted fails its commit, and nothing is written", async () => {
  const inner = await openMemoryStorage(suiteOptions);
  const failing: ValueCipher = {
    ...gcm,
    seal() {
      throw new Error("the key has expired");
    },
  };
  const storage = encryptStorage(inner, encryptionWith(failing));
  await assert.rejects(storage.commit([], [put("/a", "1")]), new EncryptionFailed("the key has expired"));
  assert.equal(await inner.current(), 1);
});
