/** Kyverno registers its webhooks by itself, as its policies need them; they validate and mutate. */
import { eventually } from "../../../src/testing/eventually.ts";
import { freePorts } from "../../../test/support/etcd.ts";
import type { Body, Stage, Study } from "../contract.ts";

const kyverno = "github.com/kyverno/kyverno";
const namespace = "kyverno";
const registrations = "/apis/admissionregistration.k8s.io/v1";
const policies = "/apis/kyverno.io/v1/clusterpolicies";
const celPolicies = "/apis/policies.kyverno.io/v1/validatingpolicies";
const certificate = "kyverno-svc.kyverno.svc.kyverno-tls-pair";
const maps = "/api/v1/namespaces/default/configmaps";

export const kyvernoStudy: Study = {
  name: "kyverno",
  about: "validates and mutates with policies of both kinds, and changes its webhooks with them",
  module: `${kyverno}@v1.19.0`,
  programs: { kyverno: "./cmd/kyverno" },
  // Each server has its own authority, and Kyverno adds annotations with the times of its checks.
  varying: ["caBundle", "kyverno.io/last-request-time"],
  run,
};

async function run(stage: Stage): Promise<void> {
  await stage.install(stage.path(kyverno, "config/crds"));
  await stage.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
  for (const name of ["kyverno", "kyverno-metrics"])
    await stage.apply({ apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace }, data: {} });
  // Kyverno checks what its controllers for reports, which do not run here, are allowed to do.
  await stage.apply({
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRoleBinding",
    metadata: { name: "kyverno" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "cluster-admin" },
    subjects: [{ kind: "ServiceAccount", name: "kyverno-reports-controller", namespace }],
  });
  await start(stage);
  // Its webhooks need its certificate.
  await stage.until("Kyverno has a certificate", `/api/v1/namespaces/kyverno/secrets/${certificate}`, Boolean);
  await eventually(() => stage.apply(requireLabel), { timeoutMs: 60_000 });
  await stage.apply(addLabel);
  await stage.apply(celPolicy);
  for (const name of ["require-team", "add-stage"])
    await stage.until(`the policy ${name} is ready`, `${policies}/${name}`, isReady);
  await stage.until(
    "the policy in CEL is ready",
    `${celPolicies}/short`,
    (body) => body?.status?.conditionStatus?.ready,
  );
  await stage.until("ConfigMaps are checked", maps, Boolean);
  await hasRule(stage, "validatingwebhookconfigurations/kyverno-resource-validating-webhook-cfg");
  await hasRule(stage, "mutatingwebhookconfigurations/kyverno-resource-mutating-webhook-cfg");
  await stage.keep(
    "policies",
    policies,
    celPolicies,
    `${registrations}/validatingwebhookconfigurations`,
    `${registrations}/mutatingwebhookconfigurations`,
  );
  await tryPolicies(stage);
  for (const path of [`${policies}/require-team`, `${policies}/add-stage`, `${celPolicies}/short`])
    await stage.send(`DELETE ${path}`);
  // Kyverno has forgotten them a moment later.
  await eventually(() => stage.send(`POST ${maps}`, configMap("much-too-long")), { timeoutMs: 60_000 });
  await stage.keep("deleted", policies, celPolicies, maps);
}

async function start(stage: Stage): Promise<void> {
  const [port] = (await freePorts(1)) as [number];
  const account = `system:serviceaccount:${namespace}`;
  stage.start(
    "kyverno",
    [
      `--kubeconfig=${stage.kubeconfig}`,
      `--serverIP=127.0.0.1:${port}`,
      "--webhookServerHost=127.0.0.1",
      `--webhookServerPort=${port}`,
      `--backgroundServiceAccountName=${account}:kyverno-background-controller`,
      `--reportsServiceAccountName=${account}:kyverno-reports-controller`,
      "--caSecretName=kyverno-svc.kyverno.svc.kyverno-tls-ca",
      `--tlsSecretName=${certificate}`,
      "--metricsCASecretName=kyverno-metrics-ca",
      "--metricsTLSSecretName=kyverno-metrics-pair",
      "--disableMetrics",
      "--controllerRuntimeMetricsAddress=0",
      "--enableTuf=false",
    ],
    {
      KYVERNO_NAMESPACE: namespace,
      KYVERNO_SERVICEACCOUNT_NAME: "kyverno-admission-controller",
      KYVERNO_ROLE_NAME: "kyverno:admission-controller",
      KYVERNO_DEPLOYMENT: "kyverno-admission-controller",
      KYVERNO_SVC: "kyverno-svc",
      KYVERNO_POD_NAME: "kyverno-0",
      INIT_CONFIG: "kyverno",
      METRICS_CONFIG: "kyverno-metrics",
    },
  );
  const configuration = `${registrations}/validatingwebhookconfigurations/kyverno-policy-validating-webhook-cfg`;
  await stage.until("Kyverno has registered its webhooks", configuration, (body) => body?.webhooks?.length > 0);
  await stage.until("Kyverno renews its lease", "/apis/coordination.k8s.io/v1/namespaces/kyverno/leases", (body) => {
    return body.items.some(({ metadata }: Body) => metadata.annotations?.["kyverno.io/last-request-time"]);
  });
}

const ofConfigMaps = { any: [{ resources: { kinds: ["ConfigMap"], namespaces: ["default"] } }] };

function policy(name: string, rule: object): object {
  const spec = { background: false, rules: [{ name, match: ofConfigMaps, ...rule }] };
  return { apiVersion: "kyverno.io/v1", kind: "ClusterPolicy", metadata: { name }, spec };
}

const requireLabel = policy("require-team", {
  validate: {
    failureAction: "Enforce",
    message: "the label team is required",
    pattern: { metadata: { labels: { team: "?*" } } },
  },
});

const addLabel = policy("add-stage", {
  mutate: { patchStrategicMerge: { metadata: { labels: { "+(stage)": "test" } } } },
});

const celPolicy = {
  apiVersion: "policies.kyverno.io/v1",
  kind: "ValidatingPolicy",
  metadata: { name: "short" },
  spec: {
    validationActions: ["Deny"],
    matchConstraints: {
      resourceRules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] }],
      namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "default" } },
    },
    validations: [
      { expression: "size(object.metadata.name) < 8", messageExpression: "object.metadata.name + ' is too long'" },
    ],
  },
};

function isReady(body: Body): boolean {
  const conditions: readonly Body[] = body?.status?.conditions ?? [];
  return conditions.some(({ type, status }) => type === "Ready" && status === "True");
}

function hasRule(stage: Stage, path: string): Promise<void> {
  return stage.until(`${path} has ConfigMaps`, `${registrations}/${path}`, (body) => {
    return JSON.stringify(body?.webhooks ?? []).includes('"configmaps"');
  });
}

function configMap(name: string, labels?: object): object {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, ...(labels && { labels }) } };
}

async function tryPolicies(stage: Stage): Promise<void> {
  await stage.answer("without the label", `POST ${maps}`, configMap("a"));
  await stage.answer("mutated", `POST ${maps}`, configMap("b", { team: "x" }));
  await stage.answer("with its own label", `POST ${maps}`, configMap("c", { team: "x", stage: "production" }));
  await stage.answer("too long", `POST ${maps}`, configMap("much-too-long", { team: "x" }));
  await stage.answer("an update that removes the label", `PATCH ${maps}/b`, { metadata: { labels: { team: null } } });
  await stage.answer("a policy that is not valid", `POST ${policies}`, policy("bad", { validate: { pattern: {} } }));
}
