/**
 * `kubectl explain` of nested fields, from OpenAPI v3 and v2, and the validation that kubectl
 * leaves to the server. Runs the newest kubectl with a part of the rows; with COXSWAIN_TEST_FULL=1 all with
 * every version, and explains every kind.
 */
import assert from "node:assert/strict";
import { mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { kubectls, runKubectl } from "../support/kubectl.ts";
import { skipWithout } from "../support/needs.ts";
import { startTestServer, type TestServer } from "../support/start-test-server.ts";

const full = process.env.COXSWAIN_TEST_FULL === "1";
const versions = kubectls();

/** A kind that no kubectl before 1.36 has built in; the conditions are a list with keys. */
function policy(...conditions: string[]): string {
  return `
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: checked}
spec:
  reinvocationPolicy: Never
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]}
  matchConditions: [${conditions.map((name) => `{name: ${name}, expression: "true"}`).join(", ")}]
  mutations: [{patchType: JSONPatch, jsonPatch: {expression: "[JSONPatch{op: 'remove', path: '/a'}]"}}]
`;
}

const files: Record<string, string> = {
  "unknown.yaml": `
apiVersion: v1
kind: ConfigMap
metadata: {name: checked}
data: {a: "1"}
more: {b: "2"}
`,
  "deep.yaml": `
apiVersion: apps/v1
kind: Deployment
metadata: {name: checked}
spec:
  selector: {matchLabels: {app: x}}
  template:
    metadata: {labels: {app: x}}
    spec: {containers: [{name: a, image: b, port: 1, ports: [{containerPort: 80, protocl: TCP}]}]}
`,
  "type.yaml": `
apiVersion: apps/v1
kind: Deployment
metadata: {name: checked}
spec: {replicas: three, selector: {matchLabels: {app: x}}, template: {metadata: {labels: {app: x}}, spec: {containers: [{name: a, image: b}]}}}
`,
  "policy.yaml": policy("first", "second"),
  "changed.yaml": policy("first", "third"),
  "kind.yaml": `
apiVersion: example.com/v1
kind: Ship
metadata: {name: checked}
`,
};

type Row = [command: string, output: RegExp, outcome?: "fails"];

/** The {@link paths} that are explained without COXSWAIN_TEST_FULL=1: an array, a map, a union, and a recursive schema. */
const pathsAlways = [
  "deployments.spec.template.spec.containers.resources.limits",
  "crd.spec.versions.schema.openAPIV3Schema",
  "pods.spec.containers.livenessProbe.httpGet.port",
];

/** Deeply nested fields, and fields with special types. */
const paths: [path: string, kind: string, field: RegExp, fromV2?: RegExp][] = [
  ["pods", "Pod", /apiVersion\s+<string>[\s\S]*spec\s+<(PodSpec|Object)>[\s\S]*status\s+<(PodStatus|Object)>/],
  [
    "deployments.spec.template.spec.containers.resources.limits",
    "Deployment",
    /FIELD:\s+limits <map\[string\](Quantity|string)>/,
  ],
  ["cronjobs.spec.jobTemplate.spec.template.spec.volumes.projected.sources", "CronJob", /serviceAccountToken\s+</],
  ["hpa.spec.metrics", "HorizontalPodAutoscaler", /containerResource\s+</],
  ["ingresses.spec.rules.http.paths", "Ingress", /pathType\s+<string>\s+-required-/, /pathType\s+<string>/],
  [
    "crd.spec.versions.schema.openAPIV3Schema",
    "CustomResourceDefinition",
    /x-kubernetes-preserve-unknown-fields\s+<boolean>/,
  ],
  [
    "validatingadmissionpolicies.spec.validations",
    "ValidatingAdmissionPolicy",
    /expression\s+<string>\s+-required-/,
    /expression\s+<string>/,
  ],
  ["pods.spec.containers.livenessProbe.httpGet.port", "Pod", /FIELD:\s+port <(IntOrString|string)>/],
  ["pvc.spec.resources", "PersistentVolumeClaim", /requests\s+<map\[string\](Quantity|string)>/],
  ["flowschemas.spec.rules.subjects", "FlowSchema", /serviceAccount\s+</],
  ["services.spec.ports", "Service", /nodePort\s+<integer>/],
  ["events.metadata.managedFields.fieldsV1", "Event", /FIELD:\s+fieldsV1 <FieldsV1>/, /DESCRIPTION:\n +FieldsV1 holds/],
  ["secrets.data", "Secret", /FIELD:\s+data <map\[string\]string>/],
  ["clusterroles.aggregationRule.clusterRoleSelectors.matchExpressions", "ClusterRole", /operator\s+<string>/],
];

const v2 = "--output plaintext-openapiv2";

function explained(kind: string, field: RegExp): RegExp {
  return new RegExp(`^(?:GROUP:.*\\n)?KIND: +${kind}\\nVERSION: +[\\s\\S]*${field.source}`);
}

/** Rows whose request another row sends: only with COXSWAIN_TEST_FULL=1. */
const fullSize = [
  `explain pods.spec.nothing ${v2}`,
  "explain hpa --api-version=autoscaling/v1",
  "create -f unknown.yaml --validate=strict",
  "create -f unknown.yaml --validate=true --dry-run=server",
  "create -f unknown.yaml --validate=warn --dry-run=server",
  "replace -f unknown.yaml",
  "delete -f unknown.yaml",
  "create -f unknown.yaml --validate=ignore",
  "apply -f unknown.yaml --validate=ignore",
  "apply -f unknown.yaml",
  "apply -f deep.yaml --validate=warn --dry-run=server",
  "create -f kind.yaml --validate=false",
];

const rows: Row[] = [
  ...paths
    .filter(([path]) => full || pathsAlways.includes(path))
    .flatMap(([path, kind, fromV3, fromV2 = fromV3]): Row[] => [
      [`explain ${path}`, explained(kind, fromV3)],
      ...(full
        ? ([
            [`explain ${path} --recursive`, explained(kind, fromV3)],
            [`explain ${path} ${v2}`, explained(kind, fromV2)],
            [`explain ${path} --recursive ${v2}`, explained(kind, fromV2)],
          ] as Row[])
        : []),
    ]),
  [`explain nodes.status.nodeInfo --recursive ${v2}`, explained("Node", /kernelVersion\s+<string>/)],
  ["explain hpa --api-version=autoscaling/v1", /VERSION:\s+v1\n[\s\S]*configuration of a horizontal pod autoscaler/],
  ["explain events --api-version=events.k8s.io/v1", /GROUP:\s+events\.k8s\.io\n[\s\S]*deprecatedCount\s+<integer>/],
  [
    "explain deployments --recursive",
    /\n {2}spec\t<DeploymentSpec>\n[\s\S]*\n {4}replicas\t<integer>\n[\s\S]*\n {10}command\t<\[\]string>\n/,
  ],
  ["explain pods.spec.nothing", /error: field "nothing" does not exist/, "fails"],
  [`explain pods.spec.nothing ${v2}`, /error: field "nothing" does not exist/, "fails"],
  ["explain nothing", /the server doesn't have a resource type "nothing"/, "fails"],
  ["explain pods --api-version=apps/v1", /(couldn't find resource|no matches for|not found)/i, "fails"],

  ["create -f unknown.yaml", /strict decoding error: unknown field "more"$/, "fails"],
  ["create -f unknown.yaml --validate=strict", /strict decoding error: unknown field "more"$/, "fails"],
  ["create -f unknown.yaml --validate=true --dry-run=server", /strict decoding error: unknown field "more"$/, "fails"],
  [
    "create -f unknown.yaml --validate=warn --dry-run=server",
    /^configmap\/checked created \(server dry run\)\nWarning: unknown field "more"$/,
  ],
  ["create -f unknown.yaml --validate=warn", /^configmap\/checked created\nWarning: unknown field "more"$/],
  ["replace -f unknown.yaml", /strict decoding error: unknown field "more"$/, "fails"],
  ["replace -f unknown.yaml --validate=false", /^configmap\/checked replaced$/],
  ["delete -f unknown.yaml", /^configmap "checked" deleted/],
  ["create -f unknown.yaml --validate=ignore", /^configmap\/checked created$/],
  ["apply -f unknown.yaml --validate=ignore", /^configmap\/checked configured\n|^configmap\/checked configured$/],
  ["apply -f unknown.yaml --validate=warn", /Warning: unknown field "more"/],
  ["apply -f unknown.yaml", /strict decoding error: unknown field "more"/, "fails"],
  [
    "apply -f unknown.yaml --server-side --validate=ignore",
    /failed to create typed patch object \(default\/checked; \/v1, Kind=ConfigMap\): \.more: field not declared in schema$/,
    "fails",
  ],
  [
    "apply -f deep.yaml",
    /strict decoding error: unknown field "spec\.template\.spec\.containers\[0\]\.port", unknown field "spec\.template\.spec\.containers\[0\]\.ports\[0\]\.protocl"$/,
    "fails",
  ],
  [
    "apply -f deep.yaml --validate=warn --dry-run=server",
    /Warning: unknown field "spec\.template\.spec\.containers\[0\]\.port"\nWarning: unknown field "spec\.template\.spec\.containers\[0\]\.ports\[0\]\.protocl"$/,
  ],
  [
    "apply -f type.yaml --validate=ignore",
    /json: cannot unmarshal string into Go struct field DeploymentSpec\.spec\.replicas of type int32$/,
    "fails",
  ],
  ["apply -f policy.yaml", /^mutatingadmissionpolicy\.admissionregistration\.k8s\.io\/checked created$/],
  [
    "apply -f changed.yaml -v=8",
    /\$setElementOrder\/matchConditions[\s\S]*Content-Type: application\/strategic-merge-patch\+json/,
  ],
  ["get mutatingadmissionpolicy checked -o jsonpath={.spec.matchConditions[*].name}", /^first third$/],
  ["create -f kind.yaml", /no matches for kind "Ship" in version "example\.com\/v1"/, "fails"],
  ["create -f kind.yaml --validate=false", /no matches for kind "Ship" in version "example\.com\/v1"/, "fails"],
];

/** The values that a field accepts; kubectl prints them since 1.30. */
const enums: Row[] = [
  ["explain pods.spec.containers.imagePullPolicy", /ENUM:\n {4}Always\n {4}IfNotPresent\n {4}Never\n/],
  ["explain pods.spec.restartPolicy", /FIELD: restartPolicy <string>\nENUM:\n {4}Always\n {4}Never\n {4}OnFailure\n/],
];

if (versions.length === 0) {
  test("kubectl explain", { skip: skipWithout("kubectl") }, () => {});
}

for (const kubectl of versions) {
  describe(`${kubectl.slice(kubectl.lastIndexOf("/") + 1)} explain`, () => {
    let server: TestServer;
    let directory: string;
    const run = (command: string) =>
      runKubectl(kubectl, command.split(" "), { directory, kubeconfigPath: server.kubeconfigPath });
    before(async () => {
      server = await startTestServer();
      directory = mkdtempSync(join(server.directory, "kubectl-"));
      for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
    });
    after(() => server.close());

    const showsEnums = !/\.1\.2\d$/.test(kubectl);
    const chosen = rows.filter(([command]) => full || !fullSize.includes(command));
    for (const [command, expected, outcome] of showsEnums ? [...chosen, ...enums] : chosen) {
      test(command, async () => {
        const { code, output } = await run(command);
        assert.match(output, expected);
        assert.equal(code, outcome === "fails" ? 1 : 0, output);
      });
    }

    test("explains the same fields of every kind from OpenAPI v3 and v2", {
      skip: skipWithout("full"),
    }, async () => {
      const resources = (await run("api-resources --no-headers")).output
        .split("\n")
        .map((line) => line.trim().split(/\s+/));
      assert.ok(resources.length > 50);
      for (const columns of resources) {
        const [resource, apiVersion] = [columns[0], columns.at(-3)];
        const name = `${resource} --api-version=${apiVersion} --recursive`;
        const [fromV3, fromV2] = await Promise.all([run(`explain ${name}`), run(`explain ${name} ${v2}`)]);
        assert.deepEqual(fieldsOf(fromV3.output), fieldsOf(fromV2.output), name);
        assert.ok(fieldsOf(fromV3.output).length > 2, `${name}: ${fromV3.output}`);
      }
    });
  });
}

/** @returns the field names in the order of the output */
function fieldsOf(output: string): string[] {
  return [...output.matchAll(/^ *([\w$-]+)\s*\t</gm)].map(([, name]) => name as string);
}
