/**
 * Webhooks, kubelets and aggregated servers that answer with an odd status or header: each request ends at once, with
 * the response of the server, or with an error that names it, and no answer is an unexpected error.
 */
import assert from "node:assert/strict";
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

/** The highest status that a response can have. */
const statusMax = { "HTTP/1.1": 999, "HTTP/2": 599 };

/** What a denial with this code is answered with; upstream replaces codes below 400. */
function denied(code: number, protocol: OddRow["protocol"]): number {
  if (code < 400) return 400;
  return code > statusMax[protocol] ? 500 : code;
}

/** The status that a row must have; undefined: that of an error which names the backend. */
function expectedStatus({ backend: kind, protocol, answer }: OddRow): number | undefined {
  const [what, value = ""] = answer.split(":");
  if (what === "retry") return 429;
  if (what === "code") {
    if (value === "none") return 400;
    return /^-?\d+$/.test(value) && Math.abs(Number(value)) < 2 ** 31 ? denied(Number(value), protocol) : 500;
  }
  if (kind === "webhook") return 500;
  if (what === "status" && kind === "aggregated" && /^\d{3}$/.test(value)) {
    const status = Number(value);
    return status >= 200 && status <= statusMax[protocol] ? status : undefined;
  }
  return undefined;
}

function check(row: OddRow, { status, body, isBroken }: OddResult): void {
  const expected = expectedStatus(row);
  if (expected !== undefined) return assert.equal(status, expected, body);
  if (row.answer === "cut:") return assert.equal(status, 200);
  assert.ok(isBroken === undefined, "the response is whole");
  if (status >= 500 && status !== 599 && status !== 999 && status !== 600)
    assert.match(body, /odd|the backend localhost|service unavailable|error trying to reach service/);
}

describe("odd answers of backends", { concurrency: 8 }, () => {
  for (const row of oddRows)
    test(`${row.backend} ${row.answer} over ${row.protocol}`, async () => {
      const target = { url: server.url, ...credentialsOf(server.kubeconfig) };
      check(row, await sendRow(row, target, backend));
    });
});

test("no answer was an unexpected error", () => {
  assert.deepEqual(
    unexpected.filter((text) => text.startsWith("Request failed")),
    [],
  );
});
