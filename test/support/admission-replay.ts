/** A server to replay scenarios of admission against, and the comparison of its answers with the recorded ones. */
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { type Clock, systemClock } from "../../src/apimachinery/clock.ts";
import { defaultAuditOptions } from "../../src/audit/options.ts";
import {
  type AdmissionAnswer,
  type AdmissionHeader,
  type AdmissionRow,
  type AdmissionServer,
  type RecordedPlugins,
  runScenario,
  type Scenario,
  setUp,
} from "./admission-golden.ts";
import { readAuditLog } from "./audit-annotations.ts";
import { jsonDifferences } from "./json-differences.ts";
import { rawClient } from "./raw-client.ts";
import { startScriptedWebhook } from "./scripted-webhook.ts";
import { startTestServer } from "./start-test-server.ts";

/** Plugins that change or reject the requests of webhooks and policies, and did not run in the recorded server. */
export const otherPlugins: readonly string[] = [
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

/** Records everything about each request. */
export const auditPolicy: object = {
  apiVersion: "audit.k8s.io/v1",
  kind: "Policy",
  rules: [{ level: "RequestResponse", omitStages: ["RequestReceived", "ResponseStarted"] }],
};

/**
 * Starts a server whose configurations take effect at once. It runs without the controllers of
 * kube-controller-manager, as the recorded server.
 */
async function startReplayServer({
  enable = [],
  disable = [],
  featureGates = "",
  runtimeConfig = "",
  configurations = {},
  webhookPath = "",
  isClockStopped = false,
}: RecordedPlugins): Promise<AdmissionServer & { close(): Promise<void> }> {
  const directory = mkdtempSync(join(tmpdir(), "coxswain-admission-"));
  const [policyFile, path] = [join(directory, "policy.json"), join(directory, "audit.log")];
  writeFileSync(policyFile, JSON.stringify(auditPolicy));
  writeFileSync(path, "");
  const webhook = await startScriptedWebhook();
  const configFile = writeConfiguration(directory, configurations, webhook.fill(`$WEBHOOK${webhookPath}`));
  const server = await startTestServer({
    audit: { ...defaultAuditOptions, policyFile, log: { ...defaultAuditOptions.log, path, maxSizeMib: 0 } },
    admission: { enable, disable, ...(Object.keys(configurations).length > 0 && { configFile }) },
    featureGates,
    runtimeConfig,
    ...(isClockStopped && { clock: stoppedClock() }),
    controllers: [],
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

/**
 * Writes the file of `--admission-control-config-file`, and the kubeconfig of a webhook.
 *
 * @returns the path of the file
 */
export function writeConfiguration(
  directory: string,
  configurations: NonNullable<RecordedPlugins["configurations"]>,
  webhookUrl: string,
): string {
  const [file, kubeconfig] = [join(directory, "admission.json"), join(directory, "webhook.kubeconfig")];
  const plugins = Object.entries(configurations).map(([name, configuration]) => ({ name, configuration }));
  const content = { apiVersion: "apiserver.config.k8s.io/v1", kind: "AdmissionConfiguration", plugins };
  writeFileSync(file, JSON.stringify(content).replaceAll("$KUBECONFIG", kubeconfig));
  writeFileSync(kubeconfig, JSON.stringify(webhookKubeconfig(webhookUrl)));
  return file;
}

function webhookKubeconfig(server: string): object {
  return {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "webhook", cluster: { server, "insecure-skip-tls-verify": true } }],
    users: [{ name: "server", user: { token: "secret" } }],
    contexts: [{ name: "webhook", context: { cluster: "webhook", user: "server" } }],
    "current-context": "webhook",
  };
}

function stoppedClock(): Clock {
  const now = systemClock.now();
  return { ...systemClock, now: () => now };
}

interface RowDifference {
  /** Scenario, method and path. */
  readonly row: string;
  /** The index of the request and the differences. */
  readonly text: string;
}

/** @returns the requests that are answered in another way */
function differencesOf(
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

const { ADMISSION, SCENARIO } = process.env;
const chosen = ADMISSION?.split(",");

/** Every third random scenario is replayed without COXSWAIN_TEST_FULL=1. */
const randomStep = process.env.COXSWAIN_TEST_FULL === "1" || chosen !== undefined ? 1 : 3;

/**
 * Defines tests that replay all fixtures of a folder. `ADMISSION=NAME,…` replays only these
 * families, and all their rows; `SCENARIO=NAME` only that scenario of them.
 *
 * @param families by family: the rows that this server answers in another way, as patterns of
 *   "SCENARIO METHOD PATH"
 */
export function testFamilies(directory: string, families: Readonly<Record<string, readonly RegExp[]>>): void {
  test("the table has every recorded family", () => {
    const recorded = readdirSync(directory)
      .filter((name) => name.endsWith(".jsonl.gz"))
      .map((name) => name.replace(".jsonl.gz", ""));
    assert.deepEqual(Object.keys(families).sort(), recorded.sort());
  });
  for (const [family, exceptions] of Object.entries(families)) {
    if (chosen !== undefined && !chosen.includes(family)) continue;
    test(`answers the requests of ${family} as upstream`, { timeout: 300_000 }, async (t) => {
      const { header, scenarios } = readFamily(join(directory, `${family}.jsonl.gz`));
      const server = await startReplayServer(header.plugins ?? { disable: otherPlugins });
      await setUp(server, header.setup);
      for (const [index, { scenario, answers }] of scenarios.entries()) {
        if (family === "random" && index % randomStep !== 0) continue;
        if (SCENARIO !== undefined && SCENARIO !== scenario.name) continue;
        await t.test(scenario.name, async () => {
          const differences = differencesOf(scenario, await runScenario(server, scenario), answers).filter(
            ({ row }) => chosen !== undefined || !exceptions.some((pattern) => pattern.test(row)),
          );
          const texts = differences.slice(0, 20).map(({ text }) => text);
          assert.ok(differences.length === 0, `${differences.length} differ\n${texts.join("\n")}`);
        });
      }
      await server.close();
    });
  }
}

interface Recorded {
  readonly scenario: Scenario;
  readonly answers: readonly AdmissionAnswer[];
}

function readFamily(file: string): { readonly header: AdmissionHeader; readonly scenarios: readonly Recorded[] } {
  const [header, ...rows] = gunzipSync(readFileSync(file))
    .toString()
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line)) as [AdmissionHeader, ...AdmissionRow[]];
  const starts = rows.flatMap(({ scenario }, index) => (scenario === undefined ? [] : [index]));
  const scenarios = starts.map((start, index) => {
    const mine = rows.slice(start, starts[index + 1]);
    const scenario = { ...mine[0]?.scenario, requests: mine.map(({ request }) => request) } as Scenario;
    return { scenario, answers: mine.map(({ answer }) => answer) };
  });
  return { header, scenarios };
}
