/** Requests for the logs and streams of pods, with kube-apiserver's answers (tools/golden/server/kubelet). */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { type FakeKubelet, startFakeKubelet } from "../../../test/support/fake-kubelet.ts";
import { credentialsOf } from "../../../test/support/kubeconfig-fields.ts";
import { kubeletOptions } from "../../../test/support/kubelet-options.ts";
import {
  createObjects,
  type KubeletAnswer,
  type KubeletRow,
  type Send,
  sendRow,
  type Target,
} from "../../../test/support/kubelet-table.ts";
import { rawClient } from "../../../test/support/raw-client.ts";
import { startTestServer, type TestServer } from "../../../test/support/start-test-server.ts";
import { defaultOptions } from "../../index.ts";

const withoutAccounts = { ...defaultOptions.admission, disable: ["ServiceAccount"] };

type Row = KubeletRow & { readonly answer: KubeletAnswer };

const rows: Row[] = readFileSync(join(import.meta.dirname, "testdata/requests.jsonl"), "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line));

let kubelet: FakeKubelet;
let server: TestServer;
let target: Target;

before(async () => {
  kubelet = await startFakeKubelet();
  server = await startTestServer({ ...kubeletOptions(kubelet), admission: withoutAccounts });
  const { kubeconfig, port } = server;
  target = {
    host: "127.0.0.1",
    port,
    ...credentialsOf(kubeconfig),
  };
  const client = rawClient(kubeconfig);
  const send: Send = (line, body, contentType) => {
    const [method, path = ""] = line.split(" ");
    return client.send({
      ...(method !== undefined && { method }),
      path,
      body,
      headers: { "content-type": contentType },
    });
  };
  await createObjects(send, { host: "127.0.0.1", port: kubelet.port });
  client.close();
});
after(async () => {
  await server.close();
  await kubelet.close();
});

/** Bodies that differ, by the start of the request's path. */
const ours: Readonly<Record<string, string>> = {
  // Upstream loses the last bytes of a short log over a WebSocket.
  "one/logbinary.k8s.io": "\x82\0\x821GET /containerLogs/default/one/main\n0 parameters\n\x88\x02\x03\xe8",
  // Upstream waits for 30 s for a stream after the kubelet broke the protocol.
  "one/exec?stdout=true&stderr=true&command=garbagev5.channel.k8s.io": `\x82\x01\x01\x82~\0\xc3\x03${JSON.stringify({
    metadata: {},
    status: "Failure",
    message: "Internal error occurred: the connection is closed",
    reason: "InternalError",
    details: { causes: [{ message: "the connection is closed" }] },
    code: 500,
  })}\x88\x02\x03\xe8`,
};

describe("answers like kube-apiserver", { concurrency: 8 }, () => {
  for (const { answer, ...row } of rows) {
    test(`${row.method} ${row.path} ${JSON.stringify(row.headers)}`, async () => {
      const body = ours[`${row.path}${row.headers["sec-websocket-protocol"]}`] ?? answer.body;
      const got = await sendRow(row, target, { host: "127.0.0.1", port: kubelet.port }, body);
      assert.deepEqual(got, { ...answer, body });
    });
  }
});
