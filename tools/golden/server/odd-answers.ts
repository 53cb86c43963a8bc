/**
 * Records what kube-apiserver answers when a webhook, a kubelet or an aggregated server answers with an odd status or
 * header. HOST is an address of this machine other than loopback.
 *   npm run golden odd-answers -- KUBECONFIG HOST
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { createObjects, oddRows, sendRow, startOddBackend } from "../../../test/support/odd-answers.ts";
import { root } from "../fixtures.ts";
import { openServerClient, readKubeconfig } from "./client.ts";

const [kubeconfigFile, host] = process.argv.slice(2);
if (kubeconfigFile === undefined || host === undefined) throw new Error("usage: odd-answers.ts KUBECONFIG HOST");
const kubeconfig = readFileSync(kubeconfigFile, "utf8");
const { url, tls } = readKubeconfig(kubeconfig);
const backend = await startOddBackend(host);
const send = openServerClient(kubeconfig);
await createObjects(
  (line, body, contentType) => send(line, JSON.stringify(body), { "content-type": contentType }),
  host,
  backend,
);
const service = "GET /apis/apiregistration.k8s.io/v1/apiservices/v1.odd.example.com";
while (!(await send(service)).text.includes("all checks passed")) await setTimeout(500);
const rows = [];
for (const row of oddRows) rows.push({ ...row, result: await sendRow(row, { url, ...tls }, backend) });
writeFileSync(
  join(root, "test/e2e/testdata/odd-answers.jsonl"),
  rows.map((row) => `${JSON.stringify(row)}\n`).join(""),
);
process.exit();
