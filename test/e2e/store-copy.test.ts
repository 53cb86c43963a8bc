/**
 * `coxswain store copy` as a process: it is killed at random moments and continued, follows a source
 * until the signal, and keeps its memory flat.
 */
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, before, describe, test } from "node:test";
import { systemClock } from "../../src/apimachinery/clock.ts";
import type { ServerOptions } from "../../src/index.ts";
import { EtcdClient } from "../../src/storage/etcd/api/client.ts";
import { etcdDefaults } from "../../src/storage/etcd/options.ts";
import { type EtcdCluster, skipWithoutEtcd, startEtcd } from "../support/etcd.ts";
import { peerLatency } from "../support/peer-latency.ts";
import { main } from "../support/program.ts";
import { rawClient } from "../support/raw-client.ts";
import { seed } from "../support/seed.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { startTestServer } from "../support/start-test-server.ts";
import { until } from "../support/until.ts";

const base = mkdtempSync(join(tmpdir(), "coxswain-store-copy-"));
after(() => rmSync(base, { recursive: true, force: true }));
const sizes =
  process.env.COXSWAIN_TEST_FULL === "1"
    ? { killed: 20_000, killDelaysMs: [300, 600, 900, 1200, 1500], large: 5000, peakMiB: 400 }
    : { killed: 12_000, killDelaysMs: [300, 600, 900], large: 2500, peakMiB: 290 };

interface CommandResult {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

function start(...args: string[]): { child: ChildProcess; result: Promise<CommandResult> } {
  const child = spawn(process.execPath, [main, "store", "copy", ...args], { stdio: ["ignore", "pipe", "pipe"] });
  const result = Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]).then(
    ([out, err, [code]]) => ({ code: code as number | null, out, err }),
  );
  return { child, result };
}

/** The run before was killed when its copy was complete. */
const wasComplete = ({ code, err }: CommandResult): boolean => code === 2 && err.includes("nothing is overwritten");

const copy = (...args: string[]): Promise<CommandResult> => start(...args).result;

describe("store copy", { skip: skipWithoutEtcd }, () => {
  let clusters: EtcdCluster[];
  let clients: EtcdClient[];
  const url = (at: number, prefix: string): string =>
    `etcd://${(clusters[at] as EtcdCluster).urls[0]?.replace("http://", "")}${prefix}`;
  before(async () => {
    clusters = await Promise.all([startEtcd(), startEtcd()]);
    clients = clusters.map(({ urls }) => new EtcdClient({ servers: urls, clock: systemClock }));
  });
  after(async () => {
    for (const client of clients) client.close();
    await Promise.all(clusters.map((cluster) => cluster.close()));
  });

  /** Puts objects of about the size, 50 in a transaction. */
  async function fill(at: number, prefix: string, { count, bytes }: { count: number; bytes: number }): Promise<void> {
    const client = clients[at] as EtcdClient;
    const value = Buffer.alloc(bytes, "v");
    for (let first = 0; first < count; first += 50) {
      const keys = Array.from(
        { length: Math.min(50, count - first) },
        (_, index) => `${prefix}/pods/n/${first + index}`,
      );
      const success = keys.map((key) => ({
        request_put: { key: Buffer.from(key), value: Buffer.concat([Buffer.from(key), value]) },
      }));
      await client.txn({ compare: [], success, failure: [] });
    }
  }

  async function contents(at: number, prefix: string): Promise<string[]> {
    const found: string[] = [];
    const end = Buffer.from(`${prefix}0`);
    for (let key = Buffer.from(`${prefix}/`); ; ) {
      const { kvs = [], more } = await (clients[at] as EtcdClient).range({ key, range_end: end, limit: 1000 });
      for (const kv of kvs) found.push(`${kv.key.toString().slice(prefix.length)}=${checksum(kv.value)}`);
      if (!more) return found;
      key = Buffer.concat([kvs.at(-1)?.key as Buffer, Buffer.from([0])]);
    }
  }

  test(`is continued after it was killed at any moment, to a directory and back (SEED=${seed})`, async () => {
    const random = seededRandom(seed);
    await fill(0, "/killed", { count: sizes.killed, bytes: 300 }); // More than the objects between two marks.
    const dir = join(base, "killed");
    const steps: [from: string, to: string][] = [
      [url(0, "/killed"), dir],
      [dir, url(1, "/killed")],
    ];
    for (const [from, to] of steps) {
      let kills = 0;
      for (const delayMs of sizes.killDelaysMs) {
        const { child, result } = start("--from", from, "--to", to);
        void peerLatency(delayMs + random(300)).then(() => child.kill("SIGKILL"));
        const ran = await result;
        if (ran.code !== null) {
          assert.ok(ran.code === 0 || (kills > 0 && wasComplete(ran)), ran.err);
          break;
        }
        kills++;
      }
      if (kills === sizes.killDelaysMs.length) {
        const ran = await copy("--from", from, "--to", to);
        assert.ok(ran.code === 0 || wasComplete(ran), ran.err);
      }
    }
    assert.deepEqual(await contents(1, "/killed"), await contents(0, "/killed"));
    assert.deepEqual(readdirSync(dir), ["storage"]);
    for (const name of readdirSync(join(dir, "storage")))
      assert.equal(statSync(join(dir, "storage", name)).mode & 0o077, 0, name);
  });

  test("follows the source until the signal", async () => {
    await fill(0, "/followed", { count: 500, bytes: 100 });
    const { child, result } = start(
      "--from",
      url(0, "/followed"),
      "--to",
      url(1, "/followed"),
      "--follow",
      "-o",
      "json",
    );
    let err = "";
    child.stderr?.on("data", (piece) => (err += piece));
    await until(() => err.includes("Following the source"));
    await fill(0, "/followed", { count: 900, bytes: 200 });
    child.kill("SIGUSR2");
    const { code, out } = await result;
    assert.equal(code, 0, err);
    assert.match(err, /revisions behind. To cut over, stop its servers, then: kill -USR2 \d+/);
    const { objects, checksum, isOutdated, sourceRevision, targetRevision } = JSON.parse(out);
    assert.deepEqual([objects, isOutdated, checksum.length], [900, false, 64]);
    assert.ok(targetRevision > sourceRevision);
    assert.deepEqual(await contents(1, "/followed"), await contents(0, "/followed"));
  });

  test("needs a bounded amount of memory", async () => {
    // The limit is what a copy needs, and twice the values.
    await fill(0, "/large", { count: sizes.large, bytes: 20_000 });
    const dir = join(base, "large");
    const { child, result } = start("--from", url(0, "/large"), "--to", dir);
    let peak = 0;
    await until(() => {
      if (child.exitCode !== null || child.signalCode !== null) return true;
      peak = Math.max(peak, anonymousBytes(child.pid as number));
      return false;
    });
    const { code, err } = await result;
    assert.equal(code, 0, err);
    if (process.platform === "linux") assert.ok(peak < sizes.peakMiB << 20, `${peak >> 20} MiB`);
  });

  test("servers continue on the copy: objects are the same, older versions are gone or conflict", async () => {
    const path = "/api/v1/namespaces/default/configmaps";
    const etcd = { ...etcdDefaults, servers: (clusters[1] as EtcdCluster).urls, prefix: "/moved" };
    const [before, later] = [join(base, "before"), join(base, "later")];
    const lmdb = (dataDir: string) => ({ storage: "lmdb", durability: "relaxed", dataDir }) as const;
    let version = await withServer(lmdb(before), async (client) => {
      await client.send({ method: "POST", path, body: { metadata: { name: "a" }, data: { round: "0" } } });
      const { body } = await client.send({ path });
      return body.metadata.resourceVersion as string;
    });
    const rounds = [
      { from: before, to: url(1, "/moved"), options: { storage: "etcd", etcd, dataDir: join(base, "certificates") } },
      { from: url(1, "/moved"), to: later, options: lmdb(later) },
    ] as const;
    for (const [round, { from, to, options }] of rounds.entries()) {
      const { code, err } = await copy("--from", from, "--to", to);
      assert.equal(code, 0, err);
      version = await withServer(options, async (client) => {
        const { body: found } = await client.send({ path: `${path}/a` });
        assert.equal(found.data.round, String(round));
        assert.ok(Number(found.metadata.resourceVersion) > Number(version));
        const watch = await client.send({ path: `${path}?watch=true&timeoutSeconds=5&resourceVersion=${version}` });
        assert.equal(watch.body?.object?.code ?? watch.status, 410);
        const stale = { metadata: { name: "a", resourceVersion: version }, data: {} };
        const conflict = await client.send({ method: "PUT", path: `${path}/a`, body: stale });
        assert.equal(conflict.status, 409);
        const next = { metadata: { name: "a" }, data: { round: String(round + 1) } };
        const { body, status } = await client.send({ method: "PUT", path: `${path}/a`, body: next });
        assert.equal(status, 200);
        return body.metadata.resourceVersion as string;
      });
    }
  });

  test("copies a directory that a server uses, and its last changes when the server has stopped", async () => {
    const path = "/api/v1/namespaces/default/configmaps";
    const dataDir = join(base, "served");
    const { result } = await withServer({ storage: "lmdb", durability: "relaxed", dataDir }, async (client) => {
      const send = (method: string, name: string) =>
        client.send({ method, path: method === "POST" ? path : `${path}/${name}`, body: { metadata: { name } } });
      for (const name of ["a", "b"]) await send("POST", name);
      const copied = start("--from", dataDir, "--to", url(1, "/served"), "--follow", "-o", "json");
      let err = "";
      copied.child.stderr?.on("data", (piece) => (err += piece));
      await until(() => err.includes("stop the server") || copied.child.exitCode !== null);
      assert.equal(copied.child.exitCode, null, err);
      await send("DELETE", "a");
      await send("POST", "c");
      return copied;
    });
    const { code, out, err } = await result;
    assert.equal(code, 0, err);
    const { objects, isOutdated } = JSON.parse(out);
    const keys = (await contents(1, "/served")).map((line) => line.split("=")[0] as string);
    assert.deepEqual([keys.length, isOutdated], [objects, false]);
    assert.deepEqual(
      keys.filter((key) => key.startsWith("/configmaps/default/")),
      ["/configmaps/default/b", "/configmaps/default/c"],
    );
    assert.deepEqual(
      readdirSync(dataDir).filter((name) => name.includes("copy")),
      [],
    );
  });

  for (const [name, args, message] of [
    ["a user in a URL", ["--from", "etcd://a:secret@127.0.0.1:1/x", "--to", "x"], /without a user: "…@127/],
    ["an unknown scheme", ["--from", "ftp://x", "--to", "x"], /neither a directory nor a URL/],
    ["an unknown parameter", ["--from", "etcd://h:1/x?user=a", "--to", "x"], /invalid parameter "user"/],
    ["a directory without a store", ["--from", base, "--to", "x"], /is not the --data-dir of a server/],
  ] as const) {
    test(`rejects ${name}`, async () => {
      const { code, err } = await copy(...args);
      assert.equal(code, 2);
      assert.match(err, message);
      assert.ok(!err.includes("secret"));
    });
  }
});

async function withServer<T>(
  options: Partial<ServerOptions>,
  run: (client: ReturnType<typeof rawClient>) => Promise<T>,
): Promise<T> {
  const server = await startTestServer(options);
  const client = rawClient(server.kubeconfig);
  try {
    return await run(client);
  } finally {
    client.close();
    await server.close();
  }
}

const checksum = (value: Buffer): string => createHash("sha256").update(value).digest("base64");

/** Memory of a process without the mapped file of the store; 0 on platforms other than Linux. */
function anonymousBytes(pid: number): number {
  if (process.platform !== "linux") return 0;
  try {
    const kiB = /^RssAnon:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
    return Number(kiB ?? 0) * 1024;
  } catch {
    return 0; // It has ended.
  }
}
