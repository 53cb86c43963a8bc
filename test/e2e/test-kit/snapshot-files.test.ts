/** Files of snapshots: another server begins with one, and a file that is not whole is rejected. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { loadSnapshot, startTestServer } from "../../../src/testing/index.ts";
import { configMap, kitClient } from "../../support/kit-client.ts";

const maps = "/api/v1/namespaces/default/configmaps";
const directory = mkdtempSync(join(tmpdir(), "coxswain-snapshots-"));
after(() => rmSync(directory, { recursive: true, force: true }));

test("a server begins with a snapshot from a file, and accepts the credentials of its origin", async (context) => {
  const origin = await startTestServer();
  const client = kitClient(origin);
  context.after(() => client.close());
  await client.ok("POST", maps, configMap("a", "ü"));
  await client.ok("POST", "/api/v1/namespaces/default/events", {
    metadata: { name: "e" },
    involvedObject: { namespace: "default" },
  });
  const accounts = "/api/v1/namespaces/default/serviceaccounts";
  await client.ok("POST", accounts, { metadata: { name: "robot" } });
  const token: string = (await client.ok("POST", `${accounts}/robot/token`, { spec: {} })).body.status.token;
  const before = (await client.ok("GET", maps)).body;
  const file = join(directory, "a.snapshot");
  const taken = await origin.snapshot();
  await taken.save(file);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  const { kubeconfig, port } = origin;
  await client.ok("DELETE", "/api/v1/namespaces/default/events/e");

  const snapshot = await loadSnapshot(file);
  assert.equal(snapshot.resourceVersion, taken.resourceVersion);
  await origin.restore(snapshot); // It is of this server.
  assert.deepEqual((await client.ok("GET", maps)).body.items, before.items);
  assert.equal((await client.send("GET", "/api/v1/namespaces/default/events/e")).status, 200);
  await origin.close();

  const server = await startTestServer({ snapshot });
  const old = kitClient({ kubeconfig: kubeconfig.replace(`:${port}`, `:${server.port}`) });
  context.after(async () => {
    old.close();
    await server.close();
  });
  assert.deepEqual((await old.ok("GET", maps)).body.items, before.items);
  const review = { kind: "TokenReview", apiVersion: "authentication.k8s.io/v1", spec: { token } };
  const reviewed = await old.ok("POST", "/apis/authentication.k8s.io/v1/tokenreviews", review);
  assert.equal(reviewed.body.status.user?.username, "system:serviceaccount:default:robot");
  const written = await old.ok("POST", maps, configMap("new", "1"));
  assert.ok(Number(written.body.metadata.resourceVersion) > Number(snapshot.resourceVersion));
});

test("files that are not whole snapshots are rejected", async () => {
  const server = await startTestServer();
  const file = join(directory, "b.snapshot");
  await (await server.snapshot()).save(file);
  await server.close();
  const whole = readFileSync(file);
  const flipped = (at: number): Buffer => {
    const bytes = Buffer.from(whole);
    bytes[at] = (bytes[at] as number) ^ 1;
    return bytes;
  };
  const rows: [name: string, bytes: Buffer, problem: RegExp][] = [
    ["empty", Buffer.alloc(0), /is not a snapshot of a test server/],
    ["another file", Buffer.from("coxswain backup 1\n"), /is not a snapshot of a test server/],
    [
      "a newer version",
      Buffer.concat([Buffer.from("coxswain snapshot 2\n"), whole.subarray(20)]),
      /has version 2 of its format/,
    ],
    ["only the name", whole.subarray(0, 20), /is damaged/],
    ["cut off", whole.subarray(0, whole.length - 1), /is damaged: its checksum does not match/],
    ["longer", Buffer.concat([whole, Buffer.from("x")]), /is damaged: its checksum does not match/],
    ["a flipped bit in the checksum", flipped(25), /is damaged/],
    ["a flipped bit in an object", flipped(whole.length - 50), /is damaged/],
  ];
  for (const [name, bytes, problem] of rows) {
    writeFileSync(file, bytes);
    await assert.rejects(loadSnapshot(file), problem, name);
  }
  await assert.rejects(loadSnapshot(join(directory, "absent")), { code: "ENOENT" });
});
