/** Gatekeeper: policies in Rego and CEL, which reject, mutate and audit; for those in CEL it makes a ValidatingAdmissionPolicy. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createAuthority, issueCertificate } from "../../../src/server/serving/x509.ts";
import { freePorts } from "../../../test/support/etcd.ts";
import type { Body, Stage, Study } from "../contract.ts";

const gatekeeper = "github.com/open-policy-agent/gatekeeper/v3";
const namespace = "gatekeeper-system";
const templates = "/apis/templates.gatekeeper.sh/v1/constrainttemplates";
const constraints = "/apis/constraints.gatekeeper.sh/v1beta1";
const policies = "/apis/admissionregistration.k8s.io/v1";
const definitions = [
  "assign",
  "assignimage",
  "assignmetadata",
  "config",
  "configpodstatus",
  "connection",
  "connectionpodstatus",
  "constraintpodstatus",
  "constrainttemplate",
  "constrainttemplatepodstatus",
  "expansiontemplate",
  "expansiontemplatepodstatus",
  "modifyset",
  "mutatorpodstatus",
  "provider",
  "providerpodstatus",
  "syncset",
];

export const gatekeeperStudy: Study = {
  name: "gatekeeper",
  about: "rejects, mutates and audits with policies in Rego and CEL, through webhooks and admission policies",
  module: `${gatekeeper}@v3.23.1`,
  programs: { gatekeeper: "." },
  run,
};

async function run(stage: Stage): Promise<void> {
  await stage.install(
    ...definitions.map((name) =>
      stage.path(gatekeeper, `charts/gatekeeper/crds/${name}-customresourcedefinition.yaml`),
    ),
  );
  await stage.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
  await stage.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: "before" } }); // The audit finds it.
  await start(stage);
  await addPolicies(stage);
  await stage.keep(
    "policies",
    `${templates}`,
    `${policies}/validatingadmissionpolicies`,
    `${policies}/validatingadmissionpolicybindings`,
    `/apis/status.gatekeeper.sh/v1beta1/namespaces/${namespace}/constrainttemplatepodstatuses`,
  );
  await tryPolicies(stage);
  await audit(stage);
  await stage.send(`DELETE ${templates}/k8sowner`);
  const definition = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/k8sowner.constraints.gatekeeper.sh";
  await stage.until("the definition of the constraint is gone", definition, (body) => body === undefined);
  await stage.keep(
    "deleted",
    templates,
    `${policies}/validatingadmissionpolicies`,
    `/apis/status.gatekeeper.sh/v1beta1/namespaces/${namespace}/constraintpodstatuses`,
  );
}

/** Starts it outside of the cluster, and names its address in the configurations of its webhooks. */
async function start(stage: Stage): Promise<void> {
  const [port, ready, metrics] = (await freePorts(3)) as [number, number, number];
  const life = { notBefore: Date.now() - 3_600_000, notAfter: Date.now() + 86_400_000 };
  const authority = await createAuthority({ subject: { commonName: "webhook" }, ...life });
  const subject = { commonName: "gatekeeper" };
  const serving = await issueCertificate(authority, { subject, usage: "server", names: ["127.0.0.1"], ...life });
  const directory = join(stage.directory, "certificates");
  mkdirSync(directory);
  writeFileSync(join(directory, "ca.crt"), authority.cert);
  writeFileSync(join(directory, "tls.crt"), serving.cert);
  writeFileSync(join(directory, "tls.key"), serving.key, { mode: 0o600 });
  mkdirSync(join(stage.directory, "audit"));
  // It owns the objects with the program's status.
  const pod = { containers: [{ name: "gatekeeper", image: "gatekeeper" }] };
  await stage.until("there is an account", `/api/v1/namespaces/${namespace}/serviceaccounts/default`, Boolean);
  await stage.apply({ apiVersion: "v1", kind: "Pod", metadata: { name: "gatekeeper-0", namespace }, spec: pod });
  stage.start(
    "gatekeeper",
    [
      `--kubeconfig=${stage.kubeconfig}`,
      `--port=${port}`,
      `--health-addr=127.0.0.1:${ready}`,
      `--prometheus-port=${metrics}`,
      `--cert-dir=${directory}`,
      `--api-cache-dir=${join(stage.directory, "audit")}`,
      "--disable-cert-rotation",
      "--audit-interval=4",
      "--default-wait-for-vapb-generation=1",
    ],
    { POD_NAME: "gatekeeper-0", POD_NAMESPACE: namespace },
  );
  const caBundle = Buffer.from(authority.cert).toString("base64");
  const webhook = (name: string, path: string, rest: object): object => ({
    name,
    clientConfig: { url: `https://127.0.0.1:${port}${path}`, caBundle },
    admissionReviewVersions: ["v1", "v1beta1"],
    sideEffects: "None",
    failurePolicy: "Fail",
    timeoutSeconds: 10,
    namespaceSelector: {
      matchExpressions: [{ key: "kubernetes.io/metadata.name", operator: "NotIn", values: [namespace] }],
    },
    ...rest,
  });
  const rule = { apiGroups: ["*"], apiVersions: ["*"], operations: ["CREATE", "UPDATE"], resources: ["*"] };
  const registration = { apiVersion: "admissionregistration.k8s.io/v1" };
  await stage.ready(`http://127.0.0.1:${ready}/readyz`);
  await stage.apply({
    ...registration,
    kind: "ValidatingWebhookConfiguration",
    metadata: { name: "gatekeeper-validating-webhook-configuration" },
    webhooks: [webhook("validation.gatekeeper.sh", "/v1/admit", { rules: [rule] })],
  });
  await stage.apply({
    ...registration,
    kind: "MutatingWebhookConfiguration",
    metadata: { name: "gatekeeper-mutating-webhook-configuration" },
    webhooks: [webhook("mutation.gatekeeper.sh", "/v1/mutate", { rules: [{ ...rule, resources: ["pods"] }] })],
  });
}

const rego = `package k8slabels
violation[{"msg": msg}] {
  missing := {label | label := input.parameters.labels[_]} - {label | input.review.object.metadata.labels[label]}
  count(missing) > 0
  msg := sprintf("%v needs the labels %v", [input.review.object.metadata.name, missing])
}`;

const cel = {
  variables: [
    { name: "owner", expression: "has(object.metadata.annotations) && 'owner' in object.metadata.annotations" },
  ],
  validations: [
    {
      expression: "variables.owner && object.metadata.annotations['owner'].matches(variables.params.pattern)",
      messageExpression: "'the owner of ' + object.metadata.name + ' is not ' + variables.params.pattern",
    },
  ],
};

function template(kind: string, properties: object, code: object): object {
  const spec = { names: { kind }, validation: { openAPIV3Schema: { type: "object", properties } } };
  const target = { target: "admission.k8s.gatekeeper.sh", code: [code] };
  const metadata = { name: kind.toLowerCase() };
  return {
    apiVersion: "templates.gatekeeper.sh/v1",
    kind: "ConstraintTemplate",
    metadata,
    spec: { crd: { spec }, targets: [target] },
  };
}

async function addPolicies(stage: Stage): Promise<void> {
  const strings = { type: "array", items: { type: "string" } };
  await stage.apply(template("K8sLabels", { labels: strings }, { engine: "Rego", source: { rego } }));
  const native = { engine: "K8sNativeValidation", source: cel };
  await stage.apply(template("K8sOwner", { pattern: { type: "string" } }, native));
  const isCreated = (body: Body): boolean => body?.status?.created === true;
  for (const name of ["k8slabels", "k8sowner"])
    await stage.until(`the template ${name} is created`, `${templates}/${name}`, isCreated);
  await stage.apply(constraint("K8sLabels", "team", { apiGroups: [""], kinds: ["Namespace"] }, { labels: ["team"] }));
  await stage.apply(
    constraint("K8sOwner", "owner", { apiGroups: [""], kinds: ["ConfigMap"] }, { pattern: "^[a-z]+$" }),
  );
  await stage.apply({
    apiVersion: "mutations.gatekeeper.sh/v1",
    kind: "AssignMetadata",
    metadata: { name: "stage" },
    spec: {
      match: { scope: "Namespaced", kinds: [{ apiGroups: [""], kinds: ["Pod"] }] },
      location: "metadata.labels.stage",
      parameters: { assign: { value: "test" } },
    },
  });
  const isEnforced = (body: Body): boolean => body?.status?.byPod?.[0]?.enforced === true;
  await stage.until("the constraint of labels is enforced", `${constraints}/k8slabels/team`, isEnforced);
  await stage.until("the constraint of owners is enforced", `${constraints}/k8sowner/owner`, isEnforced);
  const binding = `${policies}/validatingadmissionpolicybindings/gatekeeper-k8sowner-owner`;
  await stage.until("the policy is bound", binding, Boolean);
  await stage.until("the mutator is known", "/apis/mutations.gatekeeper.sh/v1/assignmetadata/stage", (body) => {
    return body?.status?.byPod?.[0]?.enforced === true;
  });
}

function constraint(kind: string, name: string, kinds: object, parameters: object): object {
  const spec = { match: { kinds: [kinds] }, parameters };
  return { apiVersion: "constraints.gatekeeper.sh/v1beta1", kind, metadata: { name }, spec };
}

async function tryPolicies(stage: Stage): Promise<void> {
  const named = (name: string, rest = {}): object => ({ apiVersion: "v1", metadata: { name, ...rest } });
  await stage.answer("a Namespace without a label", "POST /api/v1/namespaces", { ...named("a"), kind: "Namespace" });
  await stage.answer("a Namespace with it", "POST /api/v1/namespaces", {
    ...named("b", { labels: { team: "x" } }),
    kind: "Namespace",
  });
  const maps = "/api/v1/namespaces/default/configmaps";
  for (const [index, owner] of [undefined, "Ann", "ann"].entries())
    await stage.answer(`a ConfigMap of ${owner}`, `POST ${maps}`, {
      ...named(`map-${index}`, owner && { annotations: { owner } }),
      kind: "ConfigMap",
    });
  await stage.answer("a Pod that is mutated", "POST /api/v1/namespaces/default/pods?dryRun=All", {
    ...named("web"),
    kind: "Pod",
    spec: { containers: [{ name: "web", image: "nginx" }], serviceAccountName: "default" },
  });
}

async function audit(stage: Stage): Promise<void> {
  const hasViolations = (body: Body): boolean => body?.status?.totalViolations > 0;
  for (const path of [`${constraints}/k8slabels/team`, `${constraints}/k8sowner/owner`]) {
    await stage.until("the audit has found violations", path, hasViolations);
    const { status } = await stage.send(`GET ${path}`);
    stage.record(`the audit of ${path}`, { total: status.totalViolations, violations: status.violations });
  }
}
