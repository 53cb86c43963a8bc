/**
 * Records how kube-controller-manager removes the finalizers of objects in use (test/support/protection-situations.ts).
 *   npm run golden protection -- KUBECONFIG FIXTURE
 * FIXTURE is `default`, or `gates` for servers with --feature-gates=GenericWorkload=true,PersistentVolumeClaimUnusedSinceTime=true and
 * --runtime-config=scheduling.k8s.io/v1alpha2=true. The kube-apiserver runs with --disable-admission-plugins=ServiceAccount, and
 * kube-controller-manager with --controllers as in src/controllers/protection/protection.golden.test.ts.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import {
  claimSituations,
  groupSituations,
  namespaceOf,
  readState,
  runStep,
  type SendProtection,
  type Situation,
  type SituationRow,
  volumeSituations,
} from "../../../../test/support/protection-situations.ts";
import { root } from "../../fixtures.ts";
import { openServerClient } from "../client.ts";

const [kubeconfig, fixture] = process.argv.slice(2);
if (kubeconfig === undefined || (fixture !== "default" && fixture !== "gates"))
  throw new Error("usage: record.ts KUBECONFIG default|gates");

/** A state is final if it has not changed for this time. The namespace controller retries after several seconds. */
const stableMs = 3000;
const stableNamespaceMs = 20_000;

const client = openServerClient(readFileSync(kubeconfig, "utf8"));
const send: SendProtection = (line, body, type) => client(line, body, { "content-type": type });
const situations =
  fixture === "default" ? [...claimSituations, ...volumeSituations] : [...claimSituations, ...groupSituations];
const rows = await Promise.all(situations.map(record));
const file = join(root, `src/controllers/protection/testdata/${fixture}.jsonl`);
writeFileSync(file, `${rows.map((row) => JSON.stringify(row)).join("\n")}\n`);
console.log(`${fixture}: ${rows.length} situations`);
process.exit();

async function record(situation: Situation): Promise<SituationRow> {
  await send(
    "POST /api/v1/namespaces",
    JSON.stringify({ metadata: { name: namespaceOf(situation) } }),
    "application/json",
  );
  const states = [];
  for (const step of situation.steps) {
    await runStep(send, situation, step);
    states.push(await finalState(situation));
  }
  return { name: situation.name, states };
}

async function finalState(situation: Situation): Promise<SituationRow["states"][number]> {
  const pauseMs = situation.name.startsWith("namespace") ? stableNamespaceMs : stableMs;
  let state = await readState(send, situation);
  for (;;) {
    await sleep(pauseMs);
    const next = await readState(send, situation);
    if (JSON.stringify(next) === JSON.stringify(state)) return next;
    state = next;
  }
}
