/** Connections to etcd: TLS, client certificates, unix sockets, IPv6, members that are down, users with roles. */
import assert from "node:assert/strict";
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { credentials, Client as GrpcClient } from "@grpc/grpc-js";
import { type EtcdCluster, etcdOptions, freePorts, skipWithoutEtcd, startEtcd } from "../../../test/support/etcd.ts";
import { peerLatency } from "../../../test/support/peer-latency.ts";
import { eventually } from "../../../test/support/until.ts";
import { encodeMessage, type Field, type Message } from "../../lib/grpc/codec.ts";
import { callUnary } from "../../lib/grpc/unary-call.ts";
import { createAuthority, issueCertificate, type KeyPair } from "../../server/serving/x509.ts";
import type { EtcdTls } from "./api/endpoints.ts";
import { openEtcdStorage } from "./etcd-storage.ts";

const directory = mkdtempSync(join(tmpdir(), "coxswain-etcd-tls-"));
const file = (name: string): string => join(directory, name);
const hourMs = 3_600_000;

describe("connections to etcd", { skip: skipWithoutEtcd }, () => {
  let cluster: EtcdCluster;
  let port: number;
  let down: number;

  before(async () => {
    [port, down] = (await freePorts(2)) as [number, number];
    await writeCertificates();
    cluster = await startEtcd({
      moreUrls: [`https://127.0.0.1:${port}`, `https://[::1]:${port}`, `unix://${file("socket")}`],
      flags: [
        "--client-cert-auth",
        `--cert-file=${file("server.crt")}`,
        `--key-file=${file("server.key")}`,
        `--trusted-ca-file=${file("ca.crt")}`,
      ],
    });
  });
  after(async () => {
    await cluster.close();
    rmSync(directory, { recursive: true, force: true });
  });

  /** Opens a store, writes and reads. @returns "written", or the error */
  async function attempt(servers: readonly string[], tls: EtcdTls = {}): Promise<string> {
    const options = { ...etcdOptions, servers, tls, startTimeoutMs: 5_000 };
    try {
      const storage = await openEtcdStorage(options);
      const key = "/registry/configmaps/default/a";
      await storage.commit([], [{ key, value: Buffer.from("x") }]);
      const read = await storage.get(key);
      await storage.close();
      return read === undefined ? "lost" : "written";
    } catch (error) {
      return (error as Error).message;
    }
  }

  const user: EtcdTls = { caFile: file("ca.crt"), certFile: file("client.crt"), keyFile: file("client.key") };
  const secure = (host = "127.0.0.1"): string => `https://${host}:${port}`;

  const rows: [what: string, servers: () => string[], tls: EtcdTls, want: RegExp][] = [
    ["a certificate and an authority", () => [secure()], user, /^written$/],
    ["an IPv6 address", () => [secure("[::1]")], user, /^written$/],
    ["a host without a scheme, with a certificate", () => [`127.0.0.1:${port}`], user, /^written$/],
    ["a unix socket", () => [`unix://${file("socket")}`], {}, /^written$/],
    [
      "one member of three that is up",
      () => [`https://127.0.0.1:${down}`, secure(), `https://127.0.0.1:${down}`],
      user,
      /^written$/,
    ],
    ["no member that is up", () => [`https://127.0.0.1:${down}`], user, /ECONNREFUSED|connection refused/],
    [
      "another authority",
      () => [secure()],
      { ...user, caFile: file("other-ca.crt") },
      /unable to verify|self-signed|signature/,
    ],
    ["a name that is not in the certificate", () => [secure("localhost")], user, /localhost.*(altnames|cert)/i],
    ["no client certificate", () => [secure()], { caFile: file("ca.crt") }, /certificate|Unavailable/],
    [
      "an expired client certificate",
      () => [secure()],
      { ...user, certFile: file("expired.crt"), keyFile: file("expired.key") },
      /certificate|Unavailable/,
    ],
    [
      "a file that does not exist",
      () => [secure()],
      { ...user, caFile: file("none") },
      /^cannot use the TLS files of etcd \(.*none.*\): ENOENT/,
    ],
    [
      "a key of another certificate",
      () => [secure()],
      { ...user, keyFile: file("expired.key") },
      /^cannot use the TLS files of etcd .*mismatch/,
    ],
    [
      "a file that is not PEM",
      () => [secure()],
      { ...user, certFile: file("text") },
      /^cannot use the TLS files of etcd .*PEM/,
    ],
    ["plain HTTP at a port with TLS", () => [`http://127.0.0.1:${port}`], {}, /Unavailable/],
    ["no valid host", () => ["https://[::1:2379"], user, /^invalid URL of an etcd server: "https:/],
    ["an unknown scheme", () => ["ftp://127.0.0.1:1"], {}, /^invalid URL of an etcd server: "ftp:/],
  ];
  describe("with", { concurrency: true }, () => {
    for (const [what, servers, tls, want] of rows) {
      test(`${what}: ${want}`, async () => assert.match(await attempt(servers(), tls), want));
    }
  });

  test("uses replaced files for new connections", async () => {
    for (const name of ["crt", "key"]) copyFileSync(file(`expired.${name}`), file(`replaced.${name}`));
    const tls = { ...user, certFile: file("replaced.crt"), keyFile: file("replaced.key") };
    const opening = openEtcdStorage({ ...etcdOptions, servers: [secure()], tls });
    await peerLatency(300); // etcd rejects connections.
    for (const name of ["crt", "key"]) copyFileSync(file(`client.${name}`), file(`replaced.${name}`));
    const storage = await opening;
    assert.equal(await storage.count("/registry/none/"), 0);
    await storage.close();
  });

  describe("with users and roles", () => {
    before(() => enableAuth(cluster.urls[0] as string));

    // It may not read the versions of members either, so that all logs share one watch.
    test("a user whose role allows only the prefix reads, writes and watches", async () => {
      const warnings: string[] = [];
      const logger = { info() {}, warn: (text: string) => void warnings.push(text), error() {} };
      const storage = await openEtcdStorage({ ...etcdOptions, servers: [secure()], tls: user, logger });
      assert.equal(storage.reportsProgress, false);
      const received: string[] = [];
      for (const prefix of ["/registry/", "/registry/b"])
        storage.log(prefix, await storage.current(), {
          events: (batch) => void received.push(...batch.map(({ key }) => key)),
          progress() {},
          end: (error) => assert.equal(error, undefined),
        });
      await eventually("the key of compactions was denied", async () => warnings.length > 0);
      await storage.commit([], [{ key: "/registry/a", value: Buffer.from("x") }]);
      await storage.commit([], [{ key: "/registry/b", value: Buffer.from("x"), ttlSeconds: 100 }]);
      await eventually("the events arrive", async () => received.length === 3);
      await assert.rejects(storage.get("/other"), /^SharedStoreError: etcdserver: permission denied$/);
      await storage.close();
      assert.deepEqual(new Set(warnings), new Set(["Cannot watch the compactions of etcd"]));
    });

    test("a client without a user is rejected", async () => {
      const { certFile: _cert, keyFile: _key, ...anonymous } = user;
      assert.match(await attempt([secure()], anonymous), /certificate/);
      assert.match(await attempt([cluster.urls[0] as string]), /etcdserver: user name is empty$/);
    });
  });
});

/** Messages of etcd's API of users, `etcdserverpb.Auth`: all fields are strings, or messages of such. */
const text = (id: number): Field => ({ id, type: "string" });
const part = (id: number, fields: Message["fields"]): Field => ({ id, type: { name: "", fields } });
const authRequests = {
  RoleAdd: { name: text(1) },
  RoleGrantPermission: {
    name: text(1),
    perm: part(2, { permType: { id: 1, type: "int64" }, key: text(2), range_end: text(3) }),
  },
  UserAdd: { name: text(1), password: text(2), options: part(3, { no_password: { id: 1, type: "bool" } }) },
  UserGrantRole: { user: text(1), role: text(2) },
  AuthEnable: {},
};

/** Creates the user `coxswain`, whose role has the keys below `/registry/`, and enables users. */
async function enableAuth(url: string): Promise<void> {
  const client = new GrpcClient(new URL(url).host, credentials.createInsecure());
  const call = async (method: keyof typeof authRequests, request: object): Promise<void> => {
    const bytes = encodeMessage({ name: method, fields: authRequests[method] }, request);
    await callUnary(client.getChannel(), `/etcdserverpb.Auth/${method}`, bytes, Date.now() + 60_000);
  };
  await call("RoleAdd", { name: "root" });
  await call("RoleAdd", { name: "objects" });
  const readWrite = 2;
  const perm = { permType: readWrite, key: "/registry/", range_end: "/registry0" };
  await call("RoleGrantPermission", { name: "objects", perm });
  await call("UserAdd", { name: "root", password: "root" });
  await call("UserGrantRole", { user: "root", role: "root" });
  await call("UserAdd", { name: "coxswain", options: { no_password: true } });
  await call("UserGrantRole", { user: "coxswain", role: "objects" });
  await call("AuthEnable", {});
  client.close();
}

async function writeCertificates(): Promise<void> {
  const now = Date.now();
  const validity = { notBefore: now - hourMs, notAfter: now + hourMs };
  const authority = await createAuthority({ subject: { commonName: "etcd" }, ...validity });
  const other = await createAuthority({ subject: { commonName: "other" }, ...validity });
  const leaf = { subject: { commonName: "coxswain" }, names: [], ...validity };
  const server = { subject: { commonName: "m0" }, usage: "server", names: ["127.0.0.1", "::1"], ...validity } as const;
  const expired = { notBefore: now - 2 * hourMs, notAfter: now - hourMs };
  write("ca", authority);
  write("other-ca", other);
  write("server", await issueCertificate(authority, server));
  write("client", await issueCertificate(authority, { ...leaf, usage: "client" }));
  write("expired", await issueCertificate(authority, { ...leaf, usage: "client", ...expired }));
  writeFileSync(file("text"), "no certificate");
}

function write(name: string, { cert, key }: KeyPair): void {
  writeFileSync(file(`${name}.crt`), cert);
  writeFileSync(file(`${name}.key`), key);
}
