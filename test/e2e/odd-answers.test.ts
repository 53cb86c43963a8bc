/**
 * Webhooks, kubelets and aggregated servers that answer with an odd status or header: each request ends at once, as
 * recorded from kube-apiserver, or with an error that names the backend, and no answer is an unexpected error.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { Closers } from "../../src/server/closers.ts";
import { eventually } from "../../src/testing/eventually.ts";
import { credentialsOf } from "../support/kubeconfig-fields.ts";
import {
  createObjects,
  type OddBackend,
  type OddResult,
  type OddRow,
  oddRows,
  sendRow,
  startOddBackend,
} from "../support/odd-answers.ts";
import { rawClient } from "../support/raw-client.ts";
import { startTestServer, type TestServer } from "../support/start-test-server.ts";

const opened = new Closers();
const unexpected: string[] = [];
let backend: OddBackend;
let server: TestServer;

before(async () => {
  backend = await startOddBackend("127.0.0.1");
  opened.add(() => backend.close());
  server = await startTestServer({
    proxiedAddresses: { allowLoopback: true },
    admission: { enable: [], disable: ["ServiceAccount"] },
    logger: { info() {}, warn() {}, error: (message, values) => void unexpected.push(`${message} ${values?.error}`) },
  });
  opened.add(() => server.close());
  const client = rawClient(server.kubeconfig);
  opened.add(() => client.close());
  const send = async (line: string, body: object, contentType: string): Promise<void> => {
    const [method = "", path = ""] = line.split(" ");
    const { status, text } = await client.send({ method, path, body, headers: { "content-type": contentType } });
    assert.ok(status < 300, `${line}: ${text}`);
  };
  await createObjects(send, "127.0.0.1", backend);
  const path = "/apis/apiregistration.k8s.io/v1/apiservices/v1.odd.example.com";
  await eventually(async () => (await client.send({ path })).text.includes("all checks passed"));
});
after(() => opened.close());

const file = new URL("testdata/odd-answers.jsonl", import.meta.url);
const recorded: readonly (OddRow & { readonly result: OddResult })[] = readFileSync(file, "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line));

/** Rows that are answered in another way than by kube-apiserver, with the status and the body. */
const differing: readonly (readonly [what: RegExp, status: number, body: RegExp])[] = [
  // kube-apiserver breaks the connection, or HTTP/2 of Node.js has no such status: the answer names the backend.
  [/ webhook code:(?:1000|2147483647)$/, 500, /cannot carry the status code \d+: admission webhook .*"odd-/],
  [/^HTTP\/2 webhook code:/, 500, /HTTP\/2.0 cannot carry the status code \d+: admission webhook .*"odd-/],
  [/ kubelet status:099$/, 500, /cannot carry the status code 99: .* pods\/log odd/],
  [/^HTTP\/2 kubelet status:(?:600|999)$/, 500, /HTTP\/2.0 cannot carry the status code \d+: .* pods\/log odd/],
  [/ aggregated status:0/, 502, /backend BACKEND cannot be forwarded: .* cannot carry the status code \d+$/],
  [/^HTTP\/2 aggregated status:(?:600|999)$/, 502, /backend BACKEND cannot be forwarded: HTTP\/2.0 cannot carry/],
  // The parser of Node.js rejects the same bytes with other words, and a name with a space.
  [/ webhook status:(?:[01].*|-01|)$/, 500, /failed calling webhook .*"odd-.*transport connection broken: /],
  [/ kubelet (?:status:(?:1.*|-01|)|head:.*)$/, 500, /^\{.*https:\/\/BACKEND\/.*transport connection broken: /],
  [/ aggregated status:(?:1.*|-01|)$/, 503, /^error trying to reach service: .*transport connection broken: /],
  [/ aggregated head:(?:bad-|two-lengths|control|pseudo)/, 503, /^error trying to reach service: /],
  // A part of the body may be sent before the backend breaks off; Go keeps it in a buffer.
  [/ aggregated cut:$/, 200, /^o?$/],
  [/^HTTP\/2 aggregated status:205$/, 205, /^$/],
  [/^HTTP\/2 aggregated head:http2-settings$/, 200, /^odd$/],
  [/^HTTP\/2 aggregated head:long$/, 502, /backend BACKEND cannot be forwarded: its headers have \d+ bytes$/],
];

const used = new Set<RegExp>();

function check(row: (typeof recorded)[number], result: OddResult): void {
  try {
    assert.deepEqual(result, row.result);
  } catch (error) {
    const what = `${row.protocol} ${row.backend} ${row.answer}`;
    const [name, status, body] = differing.find(([rows]) => rows.test(what)) ?? [];
    if (name === undefined || body === undefined) throw error;
    used.add(name);
    assert.equal(result.status, status, result.body);
    assert.match(result.body.trim(), body);
    assert.equal(result.isBroken, row.answer === "cut:" ? true : undefined);
  }
}

describe("odd answers of backends", { concurrency: 8 }, () => {
  for (const row of recorded)
    test(`${row.backend} ${row.answer} over ${row.protocol}`, async () => {
      const target = { url: server.url, ...credentialsOf(server.kubeconfig) };
      check(row, await sendRow(row, target, backend));
    });
});

test("all rows are recorded, and each row that is named as differing differs", () => {
  assert.deepEqual(
    recorded.map(({ result: _result, ...row }) => row),
    oddRows,
  );
  assert.deepEqual(
    differing.filter(([what]) => !used.has(what)),
    [],
  );
});

test("no answer was an unexpected error", () => {
  assert.deepEqual(
    unexpected.filter((text) => text.startsWith("Request failed")),
    [],
  );
});
