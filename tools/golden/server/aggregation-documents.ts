/**
 * Records the documents of a kube-apiserver with other API servers behind it
 * (test/support/extension-servers.ts).
 *   npm run golden aggregation-documents -- KUBECONFIG
 * The kube-apiserver is empty, and runs with `--enable-aggregator-routing=true`.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { aggregationReads } from "../../../test/support/aggregation-reads.ts";
import { extensionObjects, routableAddress, serveExtensions } from "../../../test/support/serve-extensions.ts";
import { root } from "../fixtures.ts";
import { openServerClient } from "./client.ts";

const [kubeconfig] = process.argv.slice(2);
if (kubeconfig === undefined) throw new Error("usage: aggregation-documents.ts KUBECONFIG");
const host = routableAddress();
if (host === undefined) throw new Error("this machine has no address that an EndpointSlice can have");
/** OpenAPI documents are fetched again a minute after a failure. */
const settledMs = 150_000;

const send = openServerClient(readFileSync(kubeconfig, "utf8"));
const { ports } = await serveExtensions(host);
for (const [path, object] of extensionObjects(host, ports)) {
  const { status, text } = await send(`POST ${path}`, JSON.stringify(object));
  if (status !== 201) throw new Error(`${path}: ${text}`);
}
await sleep(settledMs);
const lines: string[] = [];
for (const { path, accept, pick } of aggregationReads) {
  const { status, body } = await send(`GET ${path}`, undefined, { accept });
  lines.push(JSON.stringify({ path, accept, status, picked: status === 200 ? pick(body) : body }));
}
writeFileSync(join(root, "src/http/endpoints/testdata/aggregation-documents.jsonl"), `${lines.join("\n")}\n`);
process.exit();
