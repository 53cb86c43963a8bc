/**
 * Streams that a server forwards to a peer: watches over each protocol, and upgrades. Guarantees:
 * - events and bytes pass in both directions at the pace of the reader;
 * - a stream may take longer than the limit of other requests;
 * - when the client or the peer ends a stream, the other one's ends.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import https from "node:https";
import type { Duplex } from "node:stream";
import { after, before, describe, test } from "node:test";
import { WebSocket } from "ws";
import { serverIdentity } from "../../src/apimachinery/server-identity.ts";
import type { Storage } from "../../src/storage/contract.ts";
import { http2Client } from "../support/http2-client.ts";
import { credentialsOf } from "../support/kubeconfig-fields.ts";
import {
  createPeerFiles,
  type PeerFiles,
  type ScriptedPeer,
  startPeer,
  startScriptedPeer,
  storePeerAddress,
} from "../support/peer-servers.ts";
import { type RawClient, rawClient } from "../support/raw-client.ts";
import { openSharedStorage, type TestServer } from "../support/start-test-server.ts";
import { eventually } from "../support/until.ts";

const budgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
const group = "scripted.example.com";
const things = `/apis/${group}/v1/namespaces/default/things`;

let files: PeerFiles;
let shared: Storage;
let whole: TestServer;
let partial: TestServer;
let client: RawClient;
/** Of the server that serves the resource. */
let peerClient: RawClient;
let scripted: ScriptedPeer;

before(async () => {
  files = await createPeerFiles();
  shared = await openSharedStorage();
  whole = await startPeer(files, shared, "whole");
  partial = await startPeer(files, shared, "partial", { runtimeConfig: "policy/v1=false", requestTimeoutMs: 5_000 });
  client = rawClient(partial.kubeconfig);
  peerClient = rawClient(whole.kubeconfig);
  scripted = await startScriptedPeer(await files.issue(), group);
  const identity = serverIdentity("scripted");
  await storePeerAddress(shared, identity, scripted.port);
  const labels = { "apiserver.kubernetes.io/identity": "kube-apiserver" };
  const now = new Date().toISOString().replace("Z", "000Z");
  const spec = { holderIdentity: "scripted_1", leaseDurationSeconds: 3600, renewTime: now };
  const path = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";
  await client.send({ method: "POST", path, body: { metadata: { name: identity, labels }, spec } });
  await eventually("the peers are known", async () => {
    const found = await Promise.all([budgets, things].map((one) => client.send({ path: one })));
    return found.every(({ status }) => status === 200);
  });
});
after(async () => {
  client.close();
  peerClient.close();
  scripted.close();
  await Promise.all([whole.close(), partial.close()]);
  await shared.close();
  files.remove();
});

/** A watch through the server that does not serve the resource. */
interface Watch {
  /** Names of objects in events so far. */
  readonly names: string[];
  end(): void;
}

const watchPath = `${budgets}?watch=1&resourceVersion=0`;
const nameIn = (line: string): string => JSON.parse(line).object.metadata.name;

const protocols: Record<string, () => Watch> = {
  "HTTP/2"() {
    const session = http2Client(partial.kubeconfig);
    const names: string[] = [];
    const stop = session.watch(watchPath, ({ object }) => names.push(object.metadata?.name));
    return {
      names,
      end() {
        stop();
        session.close();
      },
    };
  },
  "HTTP/1.1"() {
    const names: string[] = [];
    const request = https.get(`${partial.url}${watchPath}`, { ...credentialsOf(partial.kubeconfig), agent: false });
    request.on("error", () => {}); // The test ends it.
    request.on("response", (response) => {
      let rest = "";
      response.setEncoding("utf8").on("data", (piece: string) => {
        const lines = (rest + piece).split("\n");
        rest = lines.pop() as string;
        names.push(...lines.map(nameIn));
      });
    });
    return { names, end: () => request.destroy() };
  },
  WebSocket() {
    const names: string[] = [];
    const options = { origin: "https://page.example.com", ...credentialsOf(partial.kubeconfig) };
    const socket = new WebSocket(`${partial.url.replace("https", "wss")}${watchPath}`, options);
    socket.on("message", (data) => names.push(nameIn(String(data))));
    return { names, end: () => socket.terminate() };
  },
};

/** The number of watches that the peer serves. */
async function watchesAtPeer(): Promise<number> {
  const { text } = await peerClient.send({ path: "/metrics" });
  const pattern = /^apiserver_longrunning_requests\{[^}]*resource="poddisruptionbudgets"[^}]*\} (\d+)$/m;
  return Number(pattern.exec(text)?.[1] ?? 0);
}

let budgetCount = 0;
async function createBudget(): Promise<string> {
  const name = `budget-${budgetCount++}`;
  const body = { metadata: { name }, spec: { minAvailable: 1, selector: { matchLabels: { a: "b" } } } };
  const { status, text } = await peerClient.send({ method: "POST", path: budgets, body });
  assert.equal(status, 201, text);
  return name;
}

async function rerouted(code: number, resource: string): Promise<number> {
  const { text } = await client.send({ path: "/metrics" });
  const line = new RegExp(
    `^apiserver_rerouted_request_total\\{code="${code}",.*resource="${resource}"\\} (\\d+)$`,
    "m",
  );
  return Number(line.exec(text)?.[1] ?? 0);
}

describe("watches", () => {
  test("over each protocol outlive the limit of requests, and end at the peer when the client ends them", async () => {
    const watches = Object.values(protocols).map((open) => open());
    const receive = async (): Promise<void> => {
      const name = await createBudget();
      await eventually("the event", async () => watches.every(({ names }) => names.includes(name)));
    };
    await receive();
    scripted.handler = () => {}; // A request that the limit ends.
    assert.equal((await client.send({ path: things })).status, 504);
    await receive();
    for (let left = watches.length; left > 0; left--) {
      assert.equal(await watchesAtPeer(), left);
      watches[left - 1]?.end();
      await eventually("the peer ends the watch", async () => (await watchesAtPeer()) === left - 1);
    }
  });

  test("end at the client when the peer ends", async () => {
    const line = `${JSON.stringify({ type: "ADDED", object: { metadata: { name: "a" } } })}\n`;
    let answer: ServerResponse | undefined;
    scripted.handler = (_, response) => {
      answer = response;
      response.writeHead(200, { "content-type": "application/json" });
      response.write(line);
    };
    const credentials = credentialsOf(partial.kubeconfig);
    const request = https.get(`${partial.url}${things}?watch=1`, { ...credentials, agent: false });
    const [response] = (await once(request, "response")) as [IncomingMessage];
    const [first] = await once(response.setEncoding("utf8"), "data");
    assert.equal(first, line);
    answer?.end(line);
    const [second] = await once(response, "data");
    assert.equal(second, line);
    await once(response, "end");
  });
});

describe("upgrades", () => {
  const path = `${things}/a/exec?command=sh&command=-c`;
  const protocols = ["SPDY/3.1", "websocket"] as const;

  interface Pair {
    readonly received: IncomingMessage;
    /** The connections of the client and of the peer, after the upgrade. */
    readonly client: Duplex;
    readonly peer: Duplex;
  }

  async function upgrade(protocol: string, headers: Record<string, string> = {}): Promise<Pair> {
    const accepted = new Promise<{ received: IncomingMessage; peer: Duplex }>((resolve) => {
      scripted.upgrade = (received, peer) => {
        peer.on("error", () => {}); // The test ends connections.
        peer.write(
          `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${protocol}\r\nX-Kept: yes\r\n\r\n`,
        );
        resolve({ received, peer });
      };
    });
    const request = https.request(`${partial.url}${path}`, {
      ...credentialsOf(partial.kubeconfig),
      agent: false,
      method: "POST",
      headers: { connection: "Upgrade", upgrade: protocol, ...headers },
    });
    request.end();
    const [response, socket] = (await once(request, "upgrade")) as [IncomingMessage, Duplex];
    assert.deepEqual([response.statusCode, response.headers["x-kept"]], [101, "yes"]);
    socket.on("error", () => {}); // The test ends connections.
    return { ...(await accepted), client: socket };
  }

  for (const protocol of protocols) {
    test(`to ${protocol} pass bytes in both directions, as the user and without credentials`, async () => {
      const before = await rerouted(0, "things");
      const headers = {
        authorization: "Basic dTpw",
        "x-remote-user": "root",
        "x-stream-protocol-version": "v4.channel.k8s.io",
      };
      const { received, client: socket, peer } = await upgrade(protocol, headers);
      assert.equal(received.url, path);
      const { authorization, upgrade: asked, "x-remote-user": user, "x-remote-group": groups } = received.headers;
      assert.deepEqual([authorization, asked, user], [undefined, protocol, "kubernetes-admin"]);
      assert.match(String(groups), /system:masters/);
      assert.equal(received.headers["x-stream-protocol-version"], "v4.channel.k8s.io");
      assert.equal(received.headers["x-kubernetes-peer-proxied"], "true");
      for (const [from, to] of [
        [socket, peer],
        [peer, socket],
      ] as const) {
        const sent = Buffer.from([0, 255, 13, 10, 128]);
        from.write(sent);
        const [piece] = await once(to, "data");
        assert.deepEqual(piece, sent);
      }
      socket.destroy();
      await once(peer, "close");
      await eventually("the request is counted", async () => (await rerouted(0, "things")) === before + 1);
    });
  }

  test("end at the client when the peer ends", async () => {
    const { client: socket, peer } = await upgrade("SPDY/3.1");
    const closed = once(socket.resume(), "close");
    peer.end();
    await closed;
  });

  test("send no more than the reader reads", async () => {
    const { client: socket, peer } = await upgrade("SPDY/3.1");
    const total = 64 * 2 ** 20;
    let written = 0;
    let read = 0;
    let lead = 0;
    let isBlocked = (): void => {};
    const sending = (async () => {
      for (const piece = Buffer.alloc(2 ** 16); written < total; ) {
        written += piece.length;
        if (peer.write(piece)) continue;
        isBlocked();
        await once(peer, "drain");
      }
      isBlocked();
    })();
    // The client reads only when the peer cannot send more.
    await new Promise<void>((resolve) => {
      isBlocked = resolve;
    });
    socket.on("data", (piece: Buffer) => {
      read += piece.length;
      lead = Math.max(lead, written - read);
    });
    await sending;
    await eventually("all bytes arrive", async () => read === total);
    assert.ok(lead < total / 2, `${lead} bytes were buffered`);
    socket.destroy();
  });

  test("that the peer rejects have its answer", async () => {
    scripted.upgrade = (_, peer) => peer.end("HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno");
    const headers = { connection: "Upgrade", upgrade: "SPDY/3.1" };
    const answer = await client.send({ method: "POST", path, headers });
    assert.deepEqual([answer.status, answer.text], [403, "no"]);
  });
});
