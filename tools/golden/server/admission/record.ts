/**
 * Records how a kube-apiserver calls webhooks and evaluates policies (test/support/admission-golden.ts).
 *   npm run golden admission -- KUBECONFIG AUDIT_LOG [FAMILY...]
 * Writes src/admission/testdata/FAMILY.jsonl.gz. The server is empty, has no other clients and needs these flags:
 *   --disable-admission-plugins with the list in test/support/admission-replay.ts
 *   --audit-policy-file with one rule of level RequestResponse, without the stages RequestReceived and ResponseStarted
 *   --audit-log-path=AUDIT_LOG
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { type AdmissionServer, runScenario, type Scenario, setUp } from "../../../../test/support/admission-golden.ts";
import { readAuditLog } from "../../../../test/support/audit-annotations.ts";
import { startScriptedWebhook } from "../../../../test/support/scripted-webhook.ts";
import { root } from "../../fixtures.ts";
import { openServerClient } from "../client.ts";
import { families } from "./families/index.ts";
import { openMarkers } from "./settle.ts";

const [kubeconfig, auditLog, ...names] = process.argv.slice(2);
if (kubeconfig === undefined || auditLog === undefined) {
  throw new Error("usage: record.ts KUBECONFIG AUDIT_LOG [FAMILY...]");
}
/** The server looks up new resources at this interval. */
const discoveryMs = 12_000;

/** Until the server's watch cache has the last write. An update from an older object would be tried twice, with the reviews of both. */
const cacheMs = 20;

const send = openServerClient(readFileSync(kubeconfig, "utf8"));
const webhook = await startScriptedWebhook();
const server: AdmissionServer = {
  async send(line, body, headers) {
    await new Promise((resolve) => setTimeout(resolve, cacheMs));
    return send(line, body, headers);
  },
  settle: await openMarkers(send, webhook),
  annotations: readAuditLog(auditLog),
  webhook,
};
for (const name of names.length > 0 ? names : Object.keys(families)) await record(name);
await webhook.close();
process.exit();

async function record(name: string): Promise<void> {
  const family = families[name];
  if (family === undefined) throw new Error(`no family has the name ${name}`);
  await setUp(server, family.setup);
  if (family.setup.some(([path]) => path.endsWith("/customresourcedefinitions"))) {
    await new Promise((resolve) => setTimeout(resolve, discoveryMs));
  }
  const lines: string[] = [JSON.stringify({ setup: family.setup })];
  for (const scenario of family.scenarios) lines.push(...(await recordScenario(scenario)));
  writeFileSync(join(root, `src/admission/testdata/${name}.jsonl.gz`), gzipSync(`${lines.join("\n")}\n`, { level: 9 }));
  console.log(`${name}: ${lines.length - 1} requests in ${family.scenarios.length} scenarios`);
}

async function recordScenario(scenario: Scenario): Promise<string[]> {
  const { requests, ...rest } = scenario;
  const answers = await runScenario(server, scenario);
  return answers.map((answer, index) =>
    JSON.stringify({ ...(index === 0 && { scenario: rest }), request: requests[index], answer }),
  );
}
