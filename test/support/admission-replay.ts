/** A server to replay scenarios of admission against, and the comparison of its answers with the recorded ones. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defaultAuditOptions } from "../../src/audit/options.ts";
import type { AdmissionAnswer, AdmissionServer, Scenario } from "./admission-golden.ts";
import { readAuditLog } from "./audit-annotations.ts";
import { jsonDifferences } from "./json-differences.ts";
import { rawClient } from "./raw-client.ts";
import { startScriptedWebhook } from "./scripted-webhook.ts";
import { quietControllers, startTestServer } from "./start-test-server.ts";

/** Plugins that change or reject the requests, and did not run in the recorded server. */
const disable = [
  "Priority",
  "LimitRanger",
  "ServiceAccount",
  "TaintNodesByCondition",
  "PodSecurity",
  "DefaultTolerationSeconds",
  "DefaultStorageClass",
  "StorageObjectInUseProtection",
  "PodGroupProtection",
  "PersistentVolumeClaimResize",
  "RuntimeClass",
  "DefaultIngressClass",
  "PodTopologyLabels",
  "PodGroupWorkloadExists",
  "NodeDeclaredFeatureValidator",
  "JobValidation",
  "PodResizeValidator",
  "ResourceQuota",
];

const auditPolicy = {
  apiVersion: "audit.k8s.io/v1",
  kind: "Policy",
  rules: [{ level: "RequestResponse", omitStages: ["RequestReceived", "ResponseStarted"] }],
};

/** Starts a server whose configurations take effect at once. It runs without the collector, as the recorded server. */
export async function startReplayServer(): Promise<AdmissionServer & { close(): Promise<void> }> {
  const directory = mkdtempSync(join(tmpdir(), "coxswain-admission-"));
  const [policyFile, path] = [join(directory, "policy.json"), join(directory, "audit.log")];
  writeFileSync(policyFile, JSON.stringify(auditPolicy));
  writeFileSync(path, "");
  const webhook = await startScriptedWebhook();
  const server = await startTestServer({
    audit: { ...defaultAuditOptions, policyFile, log: { ...defaultAuditOptions.log, path, maxSizeMib: 0 } },
    admission: { enable: [], disable },
    controllers: [...quietControllers, "-garbage-collector-controller"],
  });
  const client = rawClient(server.kubeconfig);
  return {
    async send(line, body, headers) {
      const [method = "", target = ""] = line.split(" ");
      const answer = await client.send({
        method,
        path: target,
        headers: { ...headers },
        ...(body !== undefined && { body }),
      });
      return { ...answer, warnings: [answer.headers.warning ?? []].flat().join(", ") };
    },
    settle: async () => {},
    annotations: readAuditLog(path),
    webhook,
    async close() {
      client.close();
      await server.close();
      await webhook.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

interface RowDifference {
  /** Scenario, method and path. */
  readonly row: string;
  /** The index of the request and the differences. */
  readonly text: string;
}

/** @returns the requests that are answered in another way */
export function differencesOf(
  { name, requests }: Scenario,
  ours: readonly AdmissionAnswer[],
  theirs: readonly AdmissionAnswer[],
): RowDifference[] {
  return requests.flatMap(({ line }, index) => {
    const [one, other] = [ours[index], theirs[index]];
    if (JSON.stringify(one) === JSON.stringify(other)) return [];
    const found = jsonDifferences(parsed(one), parsed(other)).map(
      ({ path, ours: is, theirs: expected }) =>
        `  ${path.join(".")}: ${JSON.stringify(is)} instead of ${JSON.stringify(expected)}`,
    );
    // Without such a difference, the order of fields differs.
    const lines = found.length > 0 ? found : [`  ${JSON.stringify(one)}`, `  ${JSON.stringify(other)}`];
    return [{ row: `${name} ${line}`, text: [`${index}: ${line}`, ...lines].join("\n") }];
  });
}

/** The answer with its texts as documents, for a short comparison. */
function parsed(answer: AdmissionAnswer | undefined): unknown {
  const reviews = answer?.reviews?.map(([path, body]) => [path, documentOf(body)]);
  return { ...answer, text: documentOf(answer?.text ?? ""), reviews };
}

function documentOf(text: string): unknown {
  return text.startsWith("{") ? JSON.parse(text) : text;
}
