/**
 * Records the status that kube-controller-manager writes to quotas (test/support/quota-status.ts): after several
 * requests, or, as `used`, all values of the usage after each request.
 *   npm run golden quota-status -- KUBECONFIG [used]
 * The kube-apiserver is empty and runs with `--disable-admission-plugins=ServiceAccount,Priority,StorageObjectInUseProtection`; kube-controller-manager runs with
 * `--controllers=resourcequota-controller`.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  runStatusScenario,
  runUsedSequence,
  statusScenarios,
  untilStatusSettles,
} from "../../../test/support/quota-status.ts";
import { root } from "../fixtures.ts";
import { openServerClient } from "./client.ts";

const [kubeconfig, part = "status"] = process.argv.slice(2);
if (kubeconfig === undefined) throw new Error("usage: quota-status.ts KUBECONFIG [used]");
/** The controller handles events within a second. */
const settledMs = 3_000;

const send = openServerClient(readFileSync(kubeconfig, "utf8"));
const lines: string[] = [];
for (const scenario of statusScenarios) {
  const { namespace } = scenario;
  const settled = (): Promise<void> => untilStatusSettles(send, namespace, settledMs);
  if (part === "used")
    lines.push(JSON.stringify({ namespace, steps: await runUsedSequence(send, scenario, { settled }) }));
  else lines.push(JSON.stringify({ namespace, statuses: await runStatusScenario(send, scenario, settled) }));
}
writeFileSync(join(root, `src/controllers/resource-quota/testdata/${part}.jsonl`), `${lines.join("\n")}\n`);
process.exit();
