/**
 * The streams of pods through several servers over one store. Guarantees: a server connects to the kubelet of
 * a pod that another server stored, and a server that does not serve pods forwards the stream to one that does.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { WebSocket } from "ws";
import { Closers } from "../../src/server/closers.ts";
import { startFakeKubelet } from "../support/fake-kubelet.ts";
import { credentialsOf } from "../support/kubeconfig-fields.ts";
import { kubeletOptions } from "../support/kubelet-options.ts";
import { createObjects } from "../support/kubelet-table.ts";
import { createPeerFiles, startPeer } from "../support/peer-servers.ts";
import { rawClient } from "../support/raw-client.ts";
import { openSharedStorage, type TestServer } from "../support/start-test-server.ts";
import { eventually } from "../support/until.ts";

const pod = "/api/v1/namespaces/default/pods/one";
const directory = mkdtempSync(join(tmpdir(), "coxswain-kubelet-replicas-"));
const opened = new Closers();
/** By host name: `stored` created the pod, `forwards` does not serve pods. */
const servers = new Map<string, TestServer>();

before(async () => {
  const files = await createPeerFiles();
  opened.add(() => files.remove());
  const kubelet = await startFakeKubelet();
  opened.add(() => kubelet.close());
  const shared = await openSharedStorage();
  opened.add(() => shared.close());
  const start = async (name: string, runtimeConfig: string): Promise<TestServer> => {
    const options = { ...kubeletOptions(kubelet, directory), admission: { enable: [], disable: ["ServiceAccount"] } };
    const server = await startPeer(files, shared, name, { ...options, runtimeConfig });
    opened.add(() => server.close());
    servers.set(name, server);
    return server;
  };
  const writer = rawClient((await start("stored", "")).kubeconfig);
  opened.add(() => writer.close());
  await createObjects(
    (line, body, contentType) => {
      const [method = "", path = ""] = line.split(" ");
      return writer.send({ method, path, body, headers: { "content-type": contentType } });
    },
    { host: "127.0.0.1", port: kubelet.port },
  );
  await start("other", "");
  const forwards = rawClient((await start("forwards", "v1=false")).kubeconfig);
  opened.add(() => forwards.close());
  await eventually("the peers are known", async () => (await forwards.send({ path: pod })).status === 200);
});
after(async () => {
  await opened.close();
  rmSync(directory, { recursive: true });
});

describe("through the server", () => {
  for (const [name, what] of [
    ["stored", "that stored the pod"],
    ["other", "that did not store the pod"],
    ["forwards", "that does not serve pods"],
  ] as const) {
    test(`${what}: logs`, async () => {
      const client = rawClient((servers.get(name) as TestServer).kubeconfig);
      const { status, text } = await client.send({ path: `${pod}/log?container=main&tailLines=5` });
      client.close();
      assert.equal(status, 200, text);
      assert.match(text, /^GET \/containerLogs\/default\/one\/main\?.*tailLines=5/);
    });

    test(`${what}: exec with input and output`, async () => {
      const { url, kubeconfig } = servers.get(name) as TestServer;
      const path = `${pod}/exec?container=main&stdin=true&stdout=true&command=cat`;
      const socket = new WebSocket(
        `${url.replace("https", "wss")}${path}`,
        "v5.channel.k8s.io",
        credentialsOf(kubeconfig),
      );
      const received: string[] = [];
      socket.on("message", (data: Buffer) => received.push(data.toString("latin1")));
      await once(socket, "open");
      const closed = once(socket, "close");
      socket.send("\x00hello");
      await eventually("the echo", async () => received.includes("\x01hello"));
      socket.send(Buffer.from([255, 0])); // Closes standard input.
      await closed;
      const last = received.at(-1) ?? "";
      assert.deepEqual([last[0], JSON.parse(last.slice(1)).status], ["\x03", "Success"]);
    });
  }
});
