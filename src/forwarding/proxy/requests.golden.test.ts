/** Requests through proxies, with kube-apiserver's answers (tools/golden/server/proxy). */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { credentialsOf } from "../../../test/support/kubeconfig-fields.ts";
import { type ProxyBackend, startProxyBackend } from "../../../test/support/proxy-backend.ts";
import { createObjects, type ProxyAnswer, type ProxyRow, sendRow } from "../../../test/support/proxy-table.ts";
import { rawClient } from "../../../test/support/raw-client.ts";
import { startTestServer, type TestServer } from "../../../test/support/start-test-server.ts";
import { proxyableAddress } from "./check-address.ts";

type Row = ProxyRow & { readonly answer: ProxyAnswer };

const rows: Row[] = readFileSync(join(import.meta.dirname, "testdata/requests.jsonl"), "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line));

/** Endpoints cannot have loopback addresses. */
const host = Object.values(networkInterfaces())
  .flat()
  .find((one) => one !== undefined && one.family === "IPv4" && proxyableAddress(one.address, { allowLoopback: false }))
  ?.address as string;
const skip = host === undefined ? "this machine has only loopback addresses" : false;

let backend: ProxyBackend;
let server: TestServer;
let target: Parameters<typeof sendRow>[1];

before(async () => {
  if (skip) return;
  backend = await startProxyBackend(host);
  server = await startTestServer();
  const { kubeconfig, port } = server;
  target = {
    host: "127.0.0.1",
    port,
    ...credentialsOf(kubeconfig),
  };
  const client = rawClient(kubeconfig);
  await createObjects((line, body, contentType) => {
    const [method = "", path = ""] = line.split(" ");
    return client.send({ method, path, body, headers: { "content-type": contentType } });
  }, backend);
  client.close();
});
after(async () => {
  if (skip) return;
  await server.close();
  backend.close();
});

for (const { answer, ...row } of rows) {
  test(`${row.line} ${JSON.stringify(row.headers ?? {})}`, { skip }, async () => {
    assert.deepEqual(await sendRow(row, target, backend), answer);
  });
}
