/**
 * Records the answers of kube-apiserver to requests for the group version of another server
 * (test/support/aggregation-scenario.ts).
 *   npm run golden aggregation -- KUBECONFIG
 * The kube-apiserver is empty, on this machine, and has a proxy client certificate of the common name `front-proxy-client`.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  brokenAnswer,
  brokenServices,
  proxiedAnswer,
  proxiedRequests,
  registerBackend,
  startAggregatedBackend,
} from "../../../test/support/aggregation-scenario.ts";
import { rawClient } from "../../../test/support/raw-client.ts";
import { root } from "../fixtures.ts";

const [kubeconfig] = process.argv.slice(2);
if (kubeconfig === undefined) throw new Error("usage: aggregation.ts KUBECONFIG");

const backend = await startAggregatedBackend();
const client = rawClient(readFileSync(kubeconfig, "utf8"));
await registerBackend(client, backend);
const write = (file: string, rows: readonly unknown[]): void =>
  writeFileSync(
    join(root, "test/e2e/aggregation/testdata", file),
    `${rows.map((row) => JSON.stringify(row)).join("\n")}\n`,
  );

const proxied: unknown[] = [];
for (const request of proxiedRequests)
  proxied.push({ request, answer: await proxiedAnswer(client, request, backend.port) });
write("proxied.jsonl", proxied);

const broken: unknown[] = [];
for (const service of brokenServices)
  broken.push({ name: service.name, ...(await brokenAnswer(client, service, backend)) });
write("broken.jsonl", broken);
backend.close();
process.exit();
