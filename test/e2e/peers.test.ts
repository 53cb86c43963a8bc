/** Servers over one store that serve different resources: each forwards what it does not serve to the other. */
import assert from "node:assert/strict";
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import net from "node:net";
import { after, before, describe, test } from "node:test";
import { WebSocket } from "ws";
import { serverIdentity } from "../../src/apimachinery/server-identity.ts";
import type { ServerOptions } from "../../src/index.ts";
import { createAuthority } from "../../src/server/serving/x509.ts";
import type { Storage } from "../../src/storage/contract.ts";
import { field } from "../support/kubeconfig-fields.ts";
import { kubectls, runKubectl } from "../support/kubectl.ts";
import { skipWithout } from "../support/needs.ts";
import {
  createPeerFiles,
  type PeerFiles,
  type ScriptedPeer,
  startPeer,
  startScriptedPeer,
  storePeerAddress,
} from "../support/peer-servers.ts";
import { type RawClient, rawClient } from "../support/raw-client.ts";
import { openSharedStorage, startTestServer, type TestServer } from "../support/start-test-server.ts";
import { eventually } from "../support/until.ts";

const jobs = "/apis/batch/v1/namespaces/default/jobs";
const reviews = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
const leases = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";
const aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
const group = "scripted.example.com";
const things = `/apis/${group}/v1/namespaces/default/things`;
const review = { method: "POST", path: reviews, body: { kind: "SelfSubjectReview" } } as const;

const jobNamed = (name: string): object => ({
  apiVersion: "batch/v1",
  kind: "Job",
  metadata: { name },
  spec: {
    suspend: true,
    template: { spec: { restartPolicy: "Never", containers: [{ name: "a", image: "example.com/a" }] } },
  },
});

describe("two servers of which one lacks group versions", () => {
  let files: PeerFiles;
  let shared: Storage;
  let whole: TestServer;
  let partial: TestServer;
  let client: RawClient;
  let scripted: ScriptedPeer;
  const identity = serverIdentity("scripted");

  const metric = async (pattern: RegExp): Promise<number> => {
    const { text } = await client.send({ path: "/metrics" });
    return Number(pattern.exec(text)?.[1] ?? 0);
  };
  const groupsOf = async (accept: string): Promise<string[]> => {
    const { body } = await client.send({ path: "/apis", headers: { accept } });
    return body.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name);
  };

  before(async () => {
    files = await createPeerFiles();
    shared = await openSharedStorage();
    whole = await startPeer(files, shared, "whole");
    partial = await startPeer(files, shared, "partial", {
      runtimeConfig: "batch/v1=false,authentication.k8s.io/v1=false",
    });
    client = rawClient(partial.kubeconfig);
    scripted = await startScriptedPeer(await files.issue(), group);
    await storePeerAddress(shared, identity, scripted.port);
    const labels = { "apiserver.kubernetes.io/identity": "kube-apiserver" };
    const now = new Date().toISOString().replace("Z", "000Z");
    const spec = { holderIdentity: "scripted_1", leaseDurationSeconds: 3600, renewTime: now };
    const created = await client.send({
      method: "POST",
      path: leases,
      body: { metadata: { name: identity, labels }, spec },
    });
    assert.equal(created.status, 201, created.text);
    await eventually("the peers are known", async () => {
      const groups = await groupsOf(aggregated);
      return groups.includes("batch") && groups.includes(group);
    });
  });
  after(async () => {
    client.close();
    scripted.close();
    await Promise.all([whole.close(), partial.close()]);
    await shared.close();
    files.remove();
  });

  test("all verbs work at both", async () => {
    const created = await client.send({ method: "POST", path: jobs, body: jobNamed("a") });
    assert.equal(created.status, 201, created.text);
    const other = rawClient(whole.kubeconfig);
    const got = await other.send({ path: `${jobs}/a` });
    assert.deepEqual(got.body, (await client.send({ path: `${jobs}/a` })).body);
    const patch = { method: "PATCH", path: `${jobs}/a`, body: { metadata: { labels: { of: "peer" } } } };
    const patched = await client.send({ ...patch, headers: { "content-type": "application/merge-patch+json" } });
    assert.equal(patched.body.metadata.labels.of, "peer");
    const list = await client.send({ path: "/apis/batch/v1/jobs?limit=1&labelSelector=of%3Dpeer" });
    assert.deepEqual(
      list.body.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name),
      ["a"],
    );
    const again = await client.send({ method: "POST", path: jobs, body: jobNamed("a") });
    assert.deepEqual([again.status, again.body.reason], [409, "AlreadyExists"]);
    assert.equal((await client.send({ method: "DELETE", path: `${jobs}/a` })).status, 200);
    other.close();
  });

  test("the peer serves the user that this server has authenticated, whatever headers the client sends", async () => {
    const { kubeconfig } = await partial.as("alice", ["team"]);
    const alice = rawClient(kubeconfig);
    const forged = {
      "x-remote-user": "root",
      "X-Remote-Group": "system:masters",
      "X-Remote-Uid": "0",
      "X-Remote-Extra-Scopes": "all",
      "X-Custom-User": "root",
      connection: "keep-alive, x-remote-user",
    };
    for (const headers of [{}, forged]) {
      const { status, body, text } = await alice.send({ ...review, headers });
      assert.equal(status, 201, text);
      const { username, groups, uid } = body.status.userInfo;
      assert.deepEqual([username, groups, uid], ["alice", ["team", "system:authenticated"], undefined]);
    }
    const denied = await alice.send({ path: jobs, headers: forged });
    assert.deepEqual([denied.status, denied.body.reason], [403, "Forbidden"]);
    alice.close();
  });

  test("impersonation ends at the first server", async () => {
    const headers = {
      "impersonate-user": "bob",
      "impersonate-group": "system:authenticated",
      "impersonate-extra-a": "b",
    };
    const { body } = await client.send({ ...review, headers });
    const { username, extra } = body.status.userInfo;
    assert.deepEqual([username, extra], ["bob", { a: ["b"] }]);
  });

  test("a request that is marked as forwarded is not forwarded again", async () => {
    for (const value of ["true", ["other", "true"]]) {
      const { status } = await client.send({ path: jobs, headers: { "x-kubernetes-peer-proxied": value } });
      assert.equal(status, 404);
    }
    const other = { path: jobs, headers: { "X-Kubernetes-Peer-Proxied": "other" } };
    assert.equal((await client.send(other)).status, 200);
  });

  test("a resource that no server serves is not found", async () => {
    for (const path of ["/apis/batch/v9/jobs", "/apis/none.example.com/v1/things"])
      assert.equal((await client.send({ path })).status, 404);
  });

  test("credentials are not forwarded, and the mark is that of this server", async () => {
    let seen: IncomingMessage["headers"] = {};
    scripted.handler = (request, response) => {
      seen = request.headers;
      response.end("{}");
    };
    const headers = {
      "x-kubernetes-peer-proxied": "false",
      authorization: "Basic dTpw",
      cookie: "a=b",
      "x-other": "kept",
    };
    assert.equal((await client.send({ path: `${things}?a=b&a=c`, headers })).status, 200);
    const { authorization, "x-kubernetes-peer-proxied": mark, "x-remote-group": groups, "x-other": kept } = seen;
    assert.deepEqual(
      [authorization, mark, groups, kept],
      [undefined, "true", "system:masters, system:authenticated", "kept"],
    );
    const [first] = scripted.discoveries;
    assert.equal(first?.headers.accept, `${aggregated};profile=nopeer,${aggregated},application/json`);
    assert.equal(first?.headers["x-remote-user"], "system:apiserver");
    assert.equal(first?.headers["x-kubernetes-peer-proxied"], "true");
  });

  test("a watch over each protocol is passed through", async () => {
    const socket = new WebSocket(`${partial.url.replace("https", "wss")}${jobs}?watch=1`, {
      origin: "https://page.example.com",
      ca: field(partial.kubeconfig, "certificate-authority-data"),
      cert: field(partial.kubeconfig, "client-certificate-data"),
      key: field(partial.kubeconfig, "client-key-data"),
    });
    const message = once(socket, "message");
    await once(socket, "open");
    await client.send({ method: "POST", path: jobs, body: jobNamed("watched") });
    const [data] = await message;
    assert.equal(JSON.parse(String(data)).object.metadata.name, "watched");
    socket.terminate();
    const { text } = await client.send({ path: `${jobs}?watch=1&timeoutSeconds=1&resourceVersion=0` });
    assert.match(text, /^\{"type":"ADDED",.*"name":"watched"/);
  });

  test("discovery contains the groups of peers, except for the profile nopeer", async () => {
    const own = await groupsOf(`${aggregated};profile=nopeer`);
    const all = await groupsOf(aggregated);
    assert.deepEqual(all.filter((name) => !own.includes(name)).sort(), ["authentication.k8s.io", "batch", group]);
    assert.deepEqual(
      all.filter((name) => own.includes(name)),
      own,
    );
    assert.ok((await metric(/^aggregator_discovery_nopeer_requests_total (\d+)$/m)) > 0);
    assert.ok((await metric(/^aggregator_discovery_peer_aggregated_cache_hits_total (\d+)$/m)) > 0);
    assert.ok((await metric(/^aggregator_discovery_peer_aggregated_cache_misses_total (\d+)$/m)) > 0);
  });

  test("kubectl reads what only the peer serves", { skip: skipWithout("kubectl") }, async () => {
    await client.send({ method: "POST", path: jobs, body: jobNamed("listed") });
    const run = await runKubectl(kubectls().at(-1) as string, ["get", "jobs", "-o", "name"], partial);
    assert.match(run.output, /^job.batch\/listed$/m);
  });

  test("a definition is not requested from peers", async () => {
    const metadata = { name: `things.${group}` };
    const schema = { openAPIV3Schema: { type: "object" } };
    const spec = {
      group,
      names: { plural: "things", kind: "Thing" },
      scope: "Namespaced",
      versions: [{ name: "v1", served: false, storage: true, schema }],
    };
    const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    assert.equal((await client.send({ path: things })).status, 200);
    assert.equal((await client.send({ method: "POST", path: definitions, body: { metadata, spec } })).status, 201);
    await eventually("the group version is excluded", async () => (await client.send({ path: things })).status === 404);
    assert.ok(!(await groupsOf(aggregated)).includes(group));
    await client.send({ method: "DELETE", path: `${definitions}/${metadata.name}` });
    // It is excluded for five minutes more, because peers may still serve it.
    assert.equal((await client.send({ path: things })).status, 404);
  });

  test("counts forwarded requests by resource and status", async () => {
    const count = () =>
      metric(/^apiserver_rerouted_request_total\{code="200",group="batch",version="v1",resource="jobs"\} (\d+)$/m);
    const before = await count();
    await client.send({ path: jobs });
    assert.equal(await count(), before + 1);
    assert.ok(
      (await metric(/^apiserver_rerouted_request_total\{code="200",group="",version="",resource=""\} (\d+)$/m)) > 0,
    );
  });
});

describe("peers that a server must not trust", () => {
  let files: PeerFiles;
  let shared: Storage;
  let server: TestServer;
  let client: RawClient;
  let peer: ScriptedPeer;
  const identity = serverIdentity("scripted");
  const leaseOf = (name: string, annotations = {}): object => ({
    metadata: { name, labels: { "apiserver.kubernetes.io/identity": "kube-apiserver" }, annotations },
    spec: { holderIdentity: `${name}_1`, leaseDurationSeconds: 3600, renewTime: "2100-01-01T00:00:00.000000Z" },
  });

  before(async () => {
    files = await createPeerFiles();
    shared = await openSharedStorage();
    peer = await startScriptedPeer(await files.issue(), group);
    await storePeerAddress(shared, identity, peer.port);
    server = await startPeer(files, shared, "server", { requestTimeoutMs: 2_000 });
    client = rawClient(server.kubeconfig);
    assert.equal((await client.send({ method: "POST", path: leases, body: leaseOf(identity) })).status, 201);
    await eventually("the peer is known", async () => (await client.send({ path: things })).status === 200);
  });
  after(async () => {
    client.close();
    peer.close();
    await server.close();
    await shared.close();
    files.remove();
  });

  test("the address in a Lease is not connected to", async () => {
    let connections = 0;
    const trap = net.createServer(() => connections++);
    await new Promise<void>((resolve) => trap.listen(0, "127.0.0.1", resolve));
    const { port } = trap.address() as net.AddressInfo;
    const annotations = { "kubernetes.io/peer-advertise-address": `127.0.0.1:${port}` };
    const failures = async (): Promise<number> => {
      const { text } = await client.send({ path: "/metrics" });
      const found = /^apiserver_peer_discovery_sync_errors_total\{type="hostport_resolution"\} (\d+)$/m.exec(text);
      return Number(found?.[1] ?? 0);
    };
    const before = await failures();
    const path = `${leases}/${serverIdentity("trap")}`;
    assert.equal(
      (await client.send({ method: "POST", path: leases, body: leaseOf(serverIdentity("trap"), annotations) })).status,
      201,
    );
    await eventually("the server has looked for the address", async () => (await failures()) > before);
    assert.equal((await client.send({ path: things })).status, 200);
    assert.equal(connections, 0);
    assert.equal((await client.send({ method: "DELETE", path })).status, 200);
    trap.close();
  });

  test("a peer that hangs ends with the time limit of the request", async () => {
    peer.handler = () => {};
    const answer = await client.send({ path: things });
    assert.equal(answer.status, 504, answer.text);
  });

  const failing: [title: string, names: string[], isKnown: boolean, message: RegExp][] = [
    ["another authority", ["kubernetes.default.svc"], false, /certificate signed by unknown authority/],
    [
      "another name",
      ["127.0.0.1", "localhost"],
      true,
      /certificate is valid for localhost, not kubernetes\.default\.svc/,
    ],
  ];
  for (const [title, names, isKnown, message] of failing) {
    test(`a certificate of ${title} is rejected`, async () => {
      const other = await createAuthority({
        subject: { commonName: "other" },
        notBefore: Date.now() - 1000,
        notAfter: Date.now() + 3_600_000,
      });
      peer.use(await files.issue(names, isKnown ? files.authority : other));
      let isAsked = false;
      peer.handler = (_, response) => {
        isAsked = true;
        response.end();
      };
      const answer = await client.send({ path: things });
      assert.equal(answer.status, 503);
      assert.match(answer.text, /^error trying to reach service: tls: failed to verify certificate: x509: /);
      assert.match(answer.text, message);
      assert.equal(isAsked, false);
    });
  }

  test("a peer without an address is unavailable", async () => {
    await shared.commit([], [{ key: `/registry/peerserverleases/${identity}`, value: null }]);
    const answer = await client.send({ path: things });
    assert.deepEqual([answer.status, answer.body.reason], [503, "ServiceUnavailable"]);
    assert.equal(answer.body.message, "Error getting ip and port info of the remote server while proxying");
  });

  test("a server that stops removes its own address", async () => {
    const other = await startPeer(files, shared, "other");
    const key = `/registry/peerserverleases/${serverIdentity("other")}`;
    const record = (await shared.get(key))?.value.toString() ?? "{}";
    assert.equal(JSON.parse(record).metadata.labels.apiserverIdentity, serverIdentity("other"));
    assert.deepEqual(JSON.parse(record).subsets, [
      { addresses: [{ ip: "127.0.0.1" }], ports: [{ name: "https", port: other.port, protocol: "TCP" }] },
    ]);
    await other.close();
    assert.equal(await shared.get(key), undefined);
  });
});

const gateOff = "UnknownVersionInteroperabilityProxy=false";
const invalid: [title: string, options: Partial<ServerOptions>, message: string][] = [
  [
    "an address without the gate",
    { featureGates: gateOff, peerAdvertiseIp: "192.0.2.1" },
    "--peer-advertise-ip requires UnknownVersionInteroperabilityProxy feature to be turned on",
  ],
  [
    "all without the gate",
    { featureGates: gateOff, peerCaFile: "a", peerAdvertiseIp: "192.0.2.1", peerAdvertisePort: 1 },
    "[--peer-ca-file requires UnknownVersionInteroperabilityProxy feature to be turned on, --peer-advertise-ip requires UnknownVersionInteroperabilityProxy feature to be turned on, --peer-advertise-port requires UnknownVersionInteroperabilityProxy feature to be turned on]",
  ],
  [
    "authorities without a certificate",
    { peerCaFile: "a" },
    "error building peer proxy handler, proxy-cert-file not specified",
  ],
  [
    "authorities without a key",
    { peerCaFile: "a", proxyClientCertFile: "b" },
    "error building peer proxy handler, proxy-key-file not specified",
  ],
];
for (const [title, options, message] of invalid)
  test(`does not start with ${title}`, () => assert.rejects(startTestServer(options), { message }));
