/** Compares answers to requests for the group version of another server with those of kube-apiserver. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { createAuthority, issueCertificate } from "../../src/server/serving/x509.ts";
import {
  brokenAnswer,
  brokenServices,
  proxiedAnswer,
  proxiedRequests,
  registerBackend,
  startAggregatedBackend,
} from "../support/aggregation-scenario.ts";
import { startServerWithClient } from "../support/server-with-client.ts";

const directory = mkdtempSync(join(tmpdir(), "coxswain-aggregation-"));
const [proxyClientCertFile, proxyClientKeyFile] = [join(directory, "proxy.crt"), join(directory, "proxy.key")];
await writeProxyCertificate();
const backend = await startAggregatedBackend();
const { client } = await startServerWithClient({ proxyClientCertFile, proxyClientKeyFile });
after(() => {
  backend.close();
  rmSync(directory, { recursive: true });
});
await registerBackend(client, backend);

async function writeProxyCertificate(): Promise<void> {
  const now = Date.now();
  const life = { notBefore: now - 3_600_000, notAfter: now + 3_600_000 };
  const authority = await createAuthority({ subject: { commonName: "front" }, ...life });
  const subject = { commonName: "front-proxy-client" };
  const { cert, key } = await issueCertificate(authority, { subject, usage: "client", names: [], ...life });
  writeFileSync(proxyClientCertFile, cert);
  writeFileSync(proxyClientKeyFile, key, { mode: 0o600 });
}

function recorded(file: string) {
  const text = readFileSync(join(import.meta.dirname, "aggregation/testdata", file), "utf8");
  return text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
}

const answers = recorded("proxied.jsonl");
for (const [index, request] of proxiedRequests.entries()) {
  const { answer: expected } = answers[index];
  test(`${request.method ?? "GET"} ${request.path} ${index}: ${expected.status}`, async () => {
    assert.deepEqual(await proxiedAnswer(client, request, backend.port), expected);
  });
}

const broken = recorded("broken.jsonl");
for (const [index, service] of brokenServices.entries()) {
  const { name, ...expected } = broken[index];
  test(`an APIService that is not available: ${name}`, async () => {
    const answer = await brokenAnswer(client, service, backend);
    assert.deepEqual(JSON.parse(JSON.stringify(answer)), expected);
  });
}
