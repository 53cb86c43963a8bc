/**
 * Records kube-apiserver's answers to requests through the proxies to pods and services, and what the servers behind
 * them receive. HOST is an address of this machine other than loopback.
 *   npm run golden proxy -- KUBECONFIG HOST
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startProxyBackend } from "../../../../test/support/proxy-backend.ts";
import { createObjects, proxyRows, sendRow } from "../../../../test/support/proxy-table.ts";
import { root } from "../../fixtures.ts";
import { openServerClient, readKubeconfig } from "../client.ts";

const [kubeconfigFile, host] = process.argv.slice(2);
if (kubeconfigFile === undefined || host === undefined) throw new Error("usage: record.ts KUBECONFIG HOST");
const kubeconfig = readFileSync(kubeconfigFile, "utf8");
const { url, tls } = readKubeconfig(kubeconfig);
const { hostname, port } = new URL(url);
const target = { host: hostname, port: Number(port), ...tls };
const backend = await startProxyBackend(host);
const send = openServerClient(kubeconfig);
await createObjects(
  (line, body, contentType) => send(line, JSON.stringify(body), { "content-type": contentType }),
  backend,
);
const rows = [];
for (const row of proxyRows) rows.push({ ...row, answer: await sendRow(row, target, backend) });
writeFileSync(
  join(root, "src/forwarding/proxy/testdata/requests.jsonl"),
  rows.map((row) => `${JSON.stringify(row)}\n`).join(""),
);
process.exit();
