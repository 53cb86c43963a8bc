/**
 * Servers of the previous and of this version over one etcd, as during an upgrade. COXSWAIN_PREVIOUS names the
 * directory of the unpacked package of the previous version (`npm pack`); without it, both are of this version.
 * Guarantees: each reads and changes what the other has written; the controllers move to the other version; while
 * servers are replaced one after the other, in both directions, no acknowledged write is lost.
 */
import assert from "node:assert/strict";
import { cpSync, existsSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { freePort } from "../support/aggregated-server.ts";
import { type EtcdCluster, skipWithoutEtcd, startEtcd } from "../support/etcd.ts";
import { skipWithout } from "../support/needs.ts";
import { type ClientCredentials, type RetryingClient, retryingClient } from "../support/retrying-client.ts";
import { type ServerProcess, startServerProcess } from "../support/server-process.ts";
import { type SharedCertificates, writeSharedCertificates } from "../support/shared-certificates.ts";
import { eventually } from "../support/until.ts";

type Version = "previous" | "this";

const core = "/api/v1/namespaces/default";
const things = "/apis/upgrade.example.com/v1/namespaces/default/things";
const containers = [{ name: "c", image: "i", resources: { limits: { cpu: "1500m" } } }];
const template = { metadata: { labels: { a: "b" } }, spec: { containers } };

const creations: [path: string, body: object][] = [
  [`${core}/configmaps`, { data: { z: "1", a: "2" }, binaryData: { b: "AAEC" } }],
  [`${core}/secrets`, { stringData: { k: "v" } }],
  [`${core}/services`, { spec: { selector: { a: "b" }, ports: [{ port: 80 }] } }],
  [`${core}/pods`, { spec: { containers, automountServiceAccountToken: false } }],
  [`${core}/serviceaccounts`, {}],
  ["/apis/apps/v1/namespaces/default/deployments", { spec: { selector: { matchLabels: { a: "b" } }, template } }],
  [
    "/apis/rbac.authorization.k8s.io/v1/clusterroles",
    { rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }] },
  ],
  ["/apis/networking.k8s.io/v1/namespaces/default/networkpolicies", { spec: { podSelector: {} } }],
  ["/apis/storage.k8s.io/v1/storageclasses", { provisioner: "p" }],
  [things, { apiVersion: "upgrade.example.com/v1", kind: "Thing", spec: { n: 1 } }],
];

const definition = {
  metadata: { name: "things.upgrade.example.com" },
  spec: {
    group: "upgrade.example.com",
    names: { plural: "things", kind: "Thing" },
    scope: "Namespaced",
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
      },
    ],
  },
};

/** Copies the package to a directory where it finds the dependencies of this repository, unless it has its own. */
function previousProgram(directory: string): string | undefined {
  const source = process.env.COXSWAIN_PREVIOUS;
  if (source === undefined) return undefined;
  const program = join(directory, "package", "dist", "main.js");
  cpSync(source, join(directory, "package"), { recursive: true });
  if (!existsSync(program)) throw new Error(`COXSWAIN_PREVIOUS: ${source} has no dist/main.js`);
  symlinkSync(realpathSync(join(import.meta.dirname, "../../node_modules")), join(directory, "node_modules"));
  return program;
}

interface Replica {
  readonly port: number;
  readonly client: RetryingClient;
  process: ServerProcess | undefined;
}

const skip =
  skipWithoutEtcd ||
  (process.env.COXSWAIN_PREVIOUS === undefined && process.env.COXSWAIN_TEST_FULL !== "1" ? skipWithout("full") : false);

describe("the previous and this version over one etcd", { skip, timeout: 600_000 }, () => {
  const directory = mkdtempSync(join(tmpdir(), "coxswain-upgrade-"));
  let programs: Record<Version, string | undefined>;
  let etcd: EtcdCluster;
  let certificates: SharedCertificates;
  let first: Replica;
  let second: Replica;

  before(async () => {
    programs = { previous: previousProgram(directory), this: undefined };
    etcd = await startEtcd();
    certificates = await writeSharedCertificates(directory);
    const admin = { ca: certificates.ca, ...(await certificates.client("admin", ["system:masters"])) };
    first = await replica(admin);
    second = await replica(admin);
    await start(first, "previous");
    await start(second, "this");
    await send(first, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition);
    for (const one of [first, second])
      await until("things are served", async () => (await one.client.send("GET", things)).status === 200);
  });
  after(async () => {
    for (const one of [first, second]) {
      one?.client.close();
      await one?.process?.end("SIGKILL");
    }
    await etcd?.close();
    rmSync(directory, { recursive: true, force: true });
  });

  async function replica(admin: ClientCredentials): Promise<Replica> {
    const port = await freePort();
    return { port, client: retryingClient(`https://localhost:${port}`, admin), process: undefined };
  }

  async function start(one: Replica, version: Version): Promise<void> {
    const { servingFlags, tokenFlags, ca } = certificates;
    const flags = [
      ...["--data-dir", join(directory, `server-${one.port}`), "--etcd-servers", etcd.urls.join()],
      ...servingFlags,
      ...tokenFlags,
    ];
    const program = programs[version];
    one.process = await startServerProcess({ port: one.port, flags, ca, ...(program !== undefined && { program }) });
  }

  async function stop(one: Replica): Promise<void> {
    const running = one.process;
    one.process = undefined;
    assert.equal(await running?.end("SIGTERM"), 0, running?.output() ?? "");
  }

  async function send({ client }: Replica, method: string, path: string, body?: object) {
    const { status, text } = await client.send(method, path, body);
    assert.ok(status < 300, `${method} ${path}: ${status} ${text}`);
    return JSON.parse(text);
  }

  const until = (what: string, holds: () => Promise<boolean>): Promise<true> => eventually(what, holds);

  async function leads({ client }: Replica): Promise<boolean> {
    const { text } = await client.send("GET", "/metrics");
    return /^leader_election_master_status\{name="kube-controller-manager"\} 1$/m.test(text);
  }

  for (const direction of ["previous", "this"] as const) {
    test(`what ${direction} version writes is read and changed by the other`, async () => {
      const [writer, other] = direction === "previous" ? [first, second] : [second, first];
      for (const [path, body] of creations) {
        const name = `of-${direction}`;
        const created = await send(writer, "POST", path, { ...body, metadata: { name } });
        assert.deepEqual(await send(other, "GET", `${path}/${name}`), created);
        created.metadata.labels = { changed: "yes" };
        const changed = await send(other, "PUT", `${path}/${name}`, created);
        assert.deepEqual(await send(writer, "GET", `${path}/${name}`), changed);
        const { items } = await send(writer, "GET", path);
        const listed = items.find(({ metadata }: { metadata: { name: string } }) => metadata.name === name);
        assert.deepEqual(listed.metadata, changed.metadata);
      }
    });
  }

  test("the controllers move to the other version", async () => {
    await until("one leads", async () => (await leads(first)) || (await leads(second)));
    const [leader, other] = (await leads(first)) ? [first, second] : [second, first];
    await stop(leader);
    await until("the other leads", () => leads(other));
    await send(other, "POST", "/api/v1/namespaces", { metadata: { name: "after" } });
    const account = "/api/v1/namespaces/after/serviceaccounts/default";
    await until("its controllers work", async () => (await other.client.send("GET", account)).status === 200);
    await start(leader, leader === first ? "previous" : "this");
  });

  test("no acknowledged write is lost while servers are replaced, upwards and downwards", async () => {
    const acknowledged = new Set<string>();
    let isOver = false;
    /** Creates objects at any server that answers. */
    const write = async (writer: number): Promise<void> => {
      for (let number = 0; !isOver; number++) {
        const name = `kept-${writer}-${number}`;
        await until(`${name} is created`, async () => {
          const running = [first, second].filter((one) => one.process !== undefined);
          const one = running[number % running.length];
          const body = { metadata: { name }, data: { name } };
          const answer = await one?.client.send("POST", `${core}/configmaps`, body).catch(() => undefined);
          // A server may have created it before its connection ended.
          return answer?.status === 201 || answer?.status === 409;
        });
        acknowledged.add(name);
      }
    };
    const writing = Promise.all([0, 1, 2].map(write));
    const replacements: [Replica, Version][] = [
      [first, "this"],
      [second, "previous"],
      [first, "previous"],
      [second, "this"],
    ];
    for (const [one, version] of replacements) {
      const before = acknowledged.size;
      await stop(one);
      await start(one, version);
      await until("writes continue", async () => acknowledged.size > before + 10);
    }
    isOver = true;
    await writing;
    for (const one of [first, second]) {
      const { items } = await send(one, "GET", `${core}/configmaps`);
      const found = new Map(
        items.map(({ metadata, data }: { metadata: { name: string }; data: unknown }) => [metadata.name, data]),
      );
      for (const name of acknowledged) assert.deepEqual(found.get(name), { name });
    }
  });
});
