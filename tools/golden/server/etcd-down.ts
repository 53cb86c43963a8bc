/**
 * Records the answers of a kube-apiserver while its etcd is down (test/e2e/etcd-down/answers.ts). Starts both.
 *   npm run upstream -- build kube-apiserver && npm run golden etcd-down
 */
import { writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { answersWhileDown, faults, type Row } from "../../../test/e2e/etcd-down/answers.ts";
import { startEtcd } from "../../../test/support/etcd.ts";
import { startKubeApiserver } from "../../../test/support/kube-apiserver.ts";
import { type RawClient, rawClient } from "../../../test/support/raw-client.ts";

const checks = ["/livez/etcd", "/readyz/etcd", "/readyz/etcd-readiness", "/healthz/etcd"];

/** Health checks answer the result of the last one for some seconds. */
async function settled(client: RawClient): Promise<void> {
  for (let failing = false; !failing; await sleep(500)) {
    const answers = await Promise.all(checks.map((path) => client.send({ path })));
    failing = answers.every(({ status }) => status === 500);
  }
}

const rows: Row[] = [];
for (const fault of faults) {
  const etcd = await startEtcd();
  const server = await startKubeApiserver({ etcd: etcd.urls });
  const client = rawClient(server.kubeconfig);
  rows.push(...(await answersWhileDown(client, etcd, { fault, settled: () => settled(client) })));
  client.close();
  await server.close();
  await etcd.close();
}
const file = new URL("../../../test/e2e/etcd-down/testdata/answers.json", import.meta.url);
writeFileSync(file, `[\n${rows.map((row) => JSON.stringify(row)).join(",\n")}\n]\n`);
