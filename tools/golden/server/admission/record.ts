/**
 * Records how a kube-apiserver calls webhooks, evaluates policies and runs its built-in plugins (test/support/admission-golden.ts).
 *   npm run golden admission -- KUBECONFIG AUDIT_LOG FAMILY...
 * Writes src/admission/testdata/FAMILY.jsonl.gz, or src/admission/plugins/testdata/FAMILY.jsonl.gz for families of built-in plugins. The
 * server is empty, and has no other clients and no controllers. Its flags are those that `node tools/golden/server/admission/flags.ts` prints for the family.
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
import { webhookPort } from "./webhook-url.ts";

const [kubeconfig, auditLog, ...names] = process.argv.slice(2);
if (kubeconfig === undefined || auditLog === undefined) {
  throw new Error("usage: record.ts KUBECONFIG AUDIT_LOG [FAMILY...]");
}
/** The server looks up new resources at this interval. */
const discoveryMs = 12_000;

/** Until the server's watch cache has the last write. An update from an older object would be tried twice, with the reviews of both. */
const cacheMs = 20;

const send = openServerClient(readFileSync(kubeconfig, "utf8"));
const isConfigured = names.some((name) => families[name]?.plugins?.webhookPath !== undefined);
const webhook = await startScriptedWebhook(isConfigured ? { port: webhookPort } : {});
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
  const { setup, plugins } = family;
  const lines: string[] = [JSON.stringify({ setup, plugins })];
  for (const scenario of family.scenarios) lines.push(...(await recordScenario(scenario)));
  const directory = plugins === undefined ? "src/admission/testdata" : "src/admission/plugins/testdata";
  writeFileSync(join(root, directory, `${name}.jsonl.gz`), gzipSync(`${lines.join("\n")}\n`, { level: 9 }));
  console.log(`${name}: ${lines.length - 1} requests in ${family.scenarios.length} scenarios`);
}

async function recordScenario(scenario: Scenario): Promise<string[]> {
  const { requests, ...rest } = scenario;
  const answers = await runScenario(server, scenario);
  return answers.map((answer, index) =>
    JSON.stringify({ ...(index === 0 && { scenario: rest }), request: requests[index], answer }),
  );
}
