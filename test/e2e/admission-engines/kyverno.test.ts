/** The published Kyverno, outside of a cluster. Runs with COXSWAIN_TEST_FULL=1 if Go is installed. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, test } from "node:test";
import { created, type Reviewed } from "../../support/policy-engine.ts";
import { startServerWithClient } from "../../support/server-with-client.ts";
import {
  buildCommand,
  downloadModule,
  eventually,
  freePort,
  installManifest,
  missing,
  type RunningEngine,
  startEngine,
} from "./engine.ts";

const version = "v1.19.1";
const system = "kyverno";
const service = `${system}-svc.${system}.svc`;
const account = (name: string): string => `system:serviceaccount:${system}:${system}-${name}-controller`;

/** As its documentation of local debugging says. */
const environment = {
  KYVERNO_NAMESPACE: system,
  KYVERNO_SERVICEACCOUNT_NAME: "kyverno-admission-controller",
  KYVERNO_DEPLOYMENT: "kyverno-admission-controller",
  KYVERNO_POD_NAME: "kyverno-admission-controller-0",
  INIT_CONFIG: "kyverno",
  METRICS_CONFIG: "kyverno-metrics",
};
const flags = (kubeconfig: string, port: number): string[] => [
  `--kubeconfig=${kubeconfig}`,
  `--serverIP=127.0.0.1:${port}`,
  "--webhookServerHost=127.0.0.1",
  `--webhookServerPort=${port}`,
  `--caSecretName=${service}.kyverno-tls-ca`,
  `--tlsSecretName=${service}.kyverno-tls-pair`,
  `--backgroundServiceAccountName=${account("background")}`,
  `--reportsServiceAccountName=${account("reports")}`,
  "--controllerRuntimeMetricsAddress=0",
  "--disableMetrics=true",
];

const policies = "/apis/kyverno.io/v1/clusterpolicies";
const policy = (name: string, kind: string, rule: object): object => ({
  apiVersion: "kyverno.io/v1",
  kind: "ClusterPolicy",
  metadata: { name, annotations: { "pod-policies.kyverno.io/autogen-controllers": "none" } },
  spec: { background: false, rules: [{ name, match: { any: [{ resources: { kinds: [kind] } }] }, ...rule }] },
});
const ownerRequired = policy("owner-required", "Pod", {
  validate: {
    failureAction: "Enforce",
    message: "a pod needs an owner",
    pattern: { metadata: { labels: { owner: "?*" } } },
  },
});
const ownerAdded = policy("owner-added", "ConfigMap", {
  mutate: { patchStrategicMerge: { metadata: { labels: { "+(owner)": "{{ request.userInfo.username }}" } } } },
});

test("Kyverno", { skip: missing ?? false, timeout: 3_000_000 }, async (context) => {
  let engine: RunningEngine | undefined;
  after(() => engine?.stop("SIGKILL")); // Before the server ends.
  const { server, client } = await startServerWithClient();
  const module = downloadModule(`github.com/kyverno/kyverno@${version}`);
  const program = join(server.directory, "kyverno");
  buildCommand(module, "./cmd/kyverno", program);
  await installManifest(client, join(module, "config/install-latest-testing.yaml"));
  await created(client, "/api/v1/namespaces/default/serviceaccounts", { metadata: { name: "default" } }); // For pods.
  const port = await freePort();
  const start = (): void => {
    const log = join(server.directory, "kyverno.log");
    engine = startEngine(program, flags(server.kubeconfigPath, port), environment, log);
  };
  start();

  const post = (path: string, body: object) => ({ method: "POST", path, body });
  const pod = (name: string, labels: object = {}) =>
    post("/api/v1/namespaces/default/pods", {
      metadata: { name, labels },
      spec: { containers: [{ name: "a", image: "registry.example/a:1" }] },
    });
  const map = (name: string, labels: object = {}) =>
    post("/api/v1/namespaces/default/configmaps", { metadata: { name, labels } });

  await context.test("registers its webhooks, which validate policies", async () => {
    const invalid = policy("invalid", "Pod", { validate: { message: "m", pattern: {}, deny: {} } });
    await eventually(
      client,
      post(`${policies}?dryRun=All`, invalid),
      /^400 admission webhook "validate-policy.kyverno.svc" denied the request: /,
    );
    await created(client, policies, ownerRequired);
    await created(client, policies, ownerAdded);
  });

  await context.test("denies what a policy does not allow", async () => {
    await eventually(
      client,
      pod("a"),
      /^400 admission webhook "validate.kyverno.svc-fail" denied the request: .*a pod needs an owner/s,
    );
    await eventually(client, pod("a", { owner: "o" }), "201");
  });

  await context.test("mutates objects", async () => {
    let owner: Reviewed;
    for (let index = 0; owner === undefined; index++) {
      const { body } = await eventually(client, map(`a${index}`), "201");
      owner = body.metadata.labels?.owner;
    }
    assert.equal(owner, "kubernetes-admin");
    const { body } = await eventually(client, map("b", { owner: "o" }), "201");
    assert.equal(body.metadata.labels.owner, "o");
  });

  await context.test("rejects writes during its outage", async () => {
    await engine?.stop("SIGKILL");
    await eventually(
      client,
      pod("c", { owner: "o" }),
      /^500 .*failed calling webhook "\w+.kyverno.svc-fail": .* connection refused$/,
    );
    start();
    await eventually(client, pod("c", { owner: "o" }), "201");
  });
});
