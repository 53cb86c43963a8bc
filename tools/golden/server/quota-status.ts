/**
 * Records the status that kube-controller-manager writes to quotas (test/support/quota-status.ts).
 *   npm run golden quota-status -- KUBECONFIG
 * The kube-apiserver is empty and runs with `--disable-admission-plugins=ServiceAccount,Priority,StorageObjectInUseProtection`; kube-controller-manager runs with
 * `--controllers=resourcequota-controller`.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runStatusScenario, statusScenarios } from "../../../test/support/quota-status.ts";
import { root } from "../fixtures.ts";
import { openServerClient } from "./client.ts";

const [kubeconfig] = process.argv.slice(2);
if (kubeconfig === undefined) throw new Error("usage: quota-status.ts KUBECONFIG");
/** The controller handles events within a second. */
const settledMs = 3_000;

const send = openServerClient(readFileSync(kubeconfig, "utf8"));
const lines: string[] = [];
for (const scenario of statusScenarios) {
  const statuses = await runStatusScenario(send, scenario, settledMs);
  lines.push(JSON.stringify({ namespace: scenario.namespace, statuses }));
}
writeFileSync(join(root, "src/controllers/resource-quota/testdata/status.jsonl"), `${lines.join("\n")}\n`);
process.exit();
