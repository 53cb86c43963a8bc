/**
 * `kubectl apply --server-side`: conflicts, field managers, migration from client-side apply and
 * back, dry runs, diff, prune, subresources. The clock of the server does not advance. With
 * COXSWAIN_TEST_FULL=1 all sessions run, with every version.
 */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { after, afterEach, before, describe, test } from "node:test";
import { emptyDefaultNamespace } from "../support/empty-namespace.ts";
import { kubectls, runKubectl } from "../support/kubectl.ts";
import { manualClock } from "../support/manual-clock.ts";
import { reasonOf, skipWithout } from "../support/needs.ts";
import { type RawClient, rawClient } from "../support/raw-client.ts";
import { startTestServer, type TestServer } from "../support/start-test-server.ts";

/**
 * A command line with its expected output and exit code, or a file to write. A `%` in an argument
 * is a blank. `normalize` replaces what differs between runs in the output.
 */
type Step =
  | readonly [command: string, output: RegExp | string, code?: number]
  | readonly [file: `${string}.yaml`, text: string];

interface Session {
  readonly steps: readonly Step[];
  /** The first minor version of kubectl that has the flags. */
  readonly since?: number;
  readonly environment?: Readonly<Record<string, string>>;
}

const hints = `Please review the fields above--they currently have other managers. Here
are the ways you can resolve this warning:
* If you intend to manage all of these fields, please re-run the apply
  command with the \`--force-conflicts\` flag.
* If you do not intend to manage all of the fields, please edit your
  manifest to remove references to the fields that should keep their
  current managers.
* You may co-own fields by updating your manifest to match the existing
  value; in this case, you'll become the manager if the other manager(s)
  stop managing the field (remove it from their configuration).
See https://kubernetes.io/docs/reference/using-api/server-side-apply/#conflicts`;

const conflictError = (conflicts: string): string => `error: Apply failed with ${conflicts}\n${hints}`;

const map = (data: string, metadata = ""): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: default${metadata}}\ndata: {${data}}\n`;

const web = (replicas: string, image: string): string => `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default, labels: {app: web}}
spec:
${replicas}  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: main
        image: ${image}
        ports: [{containerPort: 80, name: http}, {containerPort: 80, protocol: UDP}]
        env: [{name: A, value: "1"}]
        args: [a, b]
        resources: {limits: {cpu: 500m}}
      - {name: side, image: "s:1"}
`;

/** A Deployment that another manager applies: some fields of these containers. */
const part = (containers: string): string => `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default}
spec:
  template:
    spec:
      containers:
${containers.replace(/^/gm, "      ")}
`;

const scaler = (version: string, spec: string): string => `apiVersion: autoscaling/${version}
kind: HorizontalPodAutoscaler
metadata: {name: web, namespace: default}
spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}, ${spec}}
`;

const several = `apiVersion: v1
kind: Service
metadata: {name: web, namespace: default}
spec: {selector: {app: web}, ports: [{port: 80, name: http}, {port: 80, protocol: UDP, name: dns}]}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: web, namespace: default}
spec:
  serviceName: web
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: "x:1", volumeMounts: [{name: v, mountPath: /v}]}]}
  volumeClaimTemplates: [{metadata: {name: v}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}]
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: web, namespace: default}
spec:
  schedule: "* * * * *"
  jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: main, image: "x:1"}]}}}}
---
${web("", "x:1")}`;

/** Prints the field managers and their fields, one entry per line. */
const managers =
  "--show-managed-fields -o jsonpath={range%.metadata.managedFields[*]}{.manager}%{.operation}%{.subresource}%{.fieldsV1}%{.time}{'\\n'}{end}";
const versions = "-o jsonpath={.items[*].metadata.resourceVersion}";
const lastApplied = "-o jsonpath={.metadata.annotations.kubectl\\.kubernetes\\.io/last-applied-configuration}";
const annotated = '{"f:metadata":{"f:annotations":{"f:kubectl.kubernetes.io/last-applied-configuration":{}}}}';
const dataAndLastApplied = lastApplied.replace("{", "{.data}%{");
/** Expects the output of the last run of the same command. */
const asBefore = "as before";
/** The header of the output of `diff`. */
const differing = /^diff [\s\S]*\n/.source;

/**
 * Without COXSWAIN_TEST_FULL=1, test/e2e/apply-client.test.ts and the tests of src/registry/managed-fields cover the
 * server's part of the sessions that are not listed.
 */
const always = [
  "dry run and diff show changes and write none",
  "migrates from client-side to server-side apply, and back",
  "prunes by apply sets",
];

const sessions: Readonly<Record<string, Session>> = {
  "two managers apply the same ConfigMap": {
    steps: [
      ["map.yaml", map('a: "1", b: "2"')],
      ["theirs.yaml", map('a: "9", b: "8"')],
      ["apply --server-side -f map.yaml --field-manager=one", "configmap/settings serverside-applied"],
      [
        "apply --server-side -f theirs.yaml --field-manager=two",
        conflictError('2 conflicts: conflicts with "one":\n- .data.a\n- .data.b'),
        1,
      ],
      ["get cm settings -o jsonpath={.data}", '{"a":"1","b":"2"}'],
      [
        "apply --server-side -f theirs.yaml --field-manager=two --force-conflicts",
        "configmap/settings serverside-applied",
      ],
      [
        "get cm settings --show-managed-fields -o yaml",
        `apiVersion: v1
data:
  a: "9"
  b: "8"
kind: ConfigMap
metadata:
  creationTimestamp: NOW
  managedFields:
  - apiVersion: v1
    fieldsType: FieldsV1
    fieldsV1:
      f:data:
        f:a: {}
        f:b: {}
    manager: two
    operation: Apply
    time: NOW
  name: settings
  namespace: default
  resourceVersion: "N"
  uid: UID`,
      ],
      ["get cm settings -o yaml", /^ {2}creationTimestamp: NOW\n {2}name: settings$/m],
      // A field that both managers apply is deleted when the last of them drops it.
      ["apply --server-side -f theirs.yaml --field-manager=one", "configmap/settings serverside-applied"],
      [
        `get cm settings ${managers}`,
        'one Apply  {"f:data":{"f:a":{},"f:b":{}}} \ntwo Apply  {"f:data":{"f:a":{},"f:b":{}}} NOW',
      ],
      ["theirs.yaml", map('a: "9"')],
      ["apply --server-side -f theirs.yaml --field-manager=one", "configmap/settings serverside-applied"],
      ["get cm settings -o jsonpath={.data}", '{"a":"9","b":"8"}'],
      ["apply --server-side -f theirs.yaml --field-manager=two", "configmap/settings serverside-applied"],
      ["get cm settings -o jsonpath={.data}", '{"a":"9"}'],
      ["map.yaml", map('a: "7"')],
      [
        "apply --server-side -f map.yaml --field-manager=two",
        conflictError('1 conflict: conflict with "one": .data.a'),
        1,
      ],
      [
        "apply --server-side -f map.yaml",
        conflictError('2 conflicts: conflicts with "one":\n- .data.a\nconflicts with "two":\n- .data.a'),
        1,
      ],
    ],
  },
  "kubectl rejects flags that exclude each other": {
    steps: [
      ["map.yaml", map("a: b")],
      [
        "apply --server-side -f map.yaml --dry-run=client",
        "error: --dry-run=client doesn't work with --server-side (did you mean --dry-run=server instead?)",
        1,
      ],
      ["apply --force-conflicts -f map.yaml", "error: --force-conflicts only works with --server-side", 1],
      ["apply --server-side --force -f map.yaml", "error: --force cannot be used with --server-side", 1],
      [
        "apply --server-side -f map.yaml --prune -l a=b",
        "error: --prune is in alpha and doesn't currently work on objects created by server-side apply",
        1,
      ],
    ],
  },
  "kubectl label and kubectl annotate own their fields": {
    steps: [
      ["map.yaml", map("a: b")],
      ["apply --server-side -f map.yaml", "configmap/settings serverside-applied"],
      ["label cm settings x=y --field-manager=labeller", "configmap/settings labeled"],
      ["label cm settings x=z --overwrite", "configmap/settings labeled"],
      ["annotate cm settings x=z --overwrite --field-manager=noter", /^configmap\/settings annotated?$/],
      [
        `get cm settings ${managers}`,
        `kubectl Apply  {"f:data":{"f:a":{}}} NOW
kubectl-label Update  {"f:metadata":{"f:labels":{"f:x":{}}}} NOW
labeller Update  {"f:metadata":{"f:labels":{}}} NOW
noter Update  {"f:metadata":{"f:annotations":{".":{},"f:x":{}}}} NOW`,
      ],
      ["map.yaml", map("a: b", ", labels: {x: w}, annotations: {x: w}")],
      [
        "apply --server-side -f map.yaml",
        conflictError(
          '2 conflicts: conflicts with "kubectl-label" using v1:\n- .metadata.labels.x\nconflicts with "noter" using v1:\n- .metadata.annotations.x',
        ),
        1,
      ],
      ["apply --server-side -f map.yaml --force-conflicts", "configmap/settings serverside-applied"],
      [
        `get cm settings ${managers}`,
        `kubectl Apply  {"f:data":{"f:a":{}},"f:metadata":{"f:annotations":{"f:x":{}},"f:labels":{"f:x":{}}}} NOW
labeller Update  {"f:metadata":{"f:labels":{}}} NOW
noter Update  {"f:metadata":{"f:annotations":{}}} NOW`,
      ],
    ],
  },
  "dry run and diff show changes and write none": {
    steps: [
      ["map.yaml", map("a: b")],
      ["apply --server-side -f map.yaml --dry-run=server", "configmap/settings serverside-applied (server dry run)"],
      ["get cm settings", /NotFound/, 1],
      ["diff --server-side -f map.yaml", /\n\+apiVersion: v1\n\+data:\n\+ {2}a: b\n\+kind: ConfigMap\n/, 1],
      ["apply --server-side -f map.yaml", "configmap/settings serverside-applied"],
      ["diff --server-side -f map.yaml", ""],
      ["map.yaml", map("a: c")],
      ["apply --server-side -f map.yaml --dry-run=server -o jsonpath={.data}", '{"a":"c"}'],
      ["diff --server-side -f map.yaml", /\n- {2}a: b\n\+ {2}a: c\n/, 1],
      [
        "diff --server-side -f map.yaml --field-manager=other",
        /Error from server \(Conflict\): Apply failed with 1 conflict: conflict with "kubectl": \.data\.a$/,
        2,
      ],
      [
        "diff --server-side -f map.yaml --field-manager=other --force-conflicts",
        new RegExp(`${differing}-  a: b\n\\+  a: c\n`),
        1,
      ],
      [
        "apply --server-side -f map.yaml --field-manager=other --dry-run=server",
        conflictError('1 conflict: conflict with "kubectl": .data.a'),
        1,
      ],
      [`get cm settings ${managers}`, 'kubectl Apply  {"f:data":{"f:a":{}}} NOW'],
      ["get cm settings -o jsonpath={.data}", '{"a":"b"}'],
    ],
  },
  "migrates from client-side to server-side apply, and back": {
    steps: [
      ["map.yaml", map('a: "1", b: "2"')],
      ["apply -f map.yaml", "configmap/settings created"],
      [
        `get cm settings ${managers}`,
        'kubectl-client-side-apply Update  {"f:data":{".":{},"f:a":{},"f:b":{}},"f:metadata":{"f:annotations":{".":{},"f:kubectl.kubernetes.io/last-applied-configuration":{}}}} NOW',
      ],
      ["map.yaml", map('a: "9", c: <&>')],
      [
        "apply --server-side -f map.yaml --field-manager=other",
        conflictError('1 conflict: conflict with "kubectl-client-side-apply" using v1: .data.a'),
        1,
      ],
      ["apply --server-side -f map.yaml", "configmap/settings serverside-applied"],
      [
        `get cm settings ${managers}`,
        `kubectl-last-applied Apply  ${annotated} \nkubectl Apply  {"f:data":{"f:a":{},"f:c":{}}} NOW`,
      ],
      [
        `get cm settings ${dataAndLastApplied}`,
        '{"a":"9","c":"\\u003c\\u0026\\u003e"} {"apiVersion":"v1","data":{"a":"9","c":"\\u003c\\u0026\\u003e"},"kind":"ConfigMap","metadata":{"name":"settings","namespace":"default"}}',
      ],
      ["map.yaml", map('c: "4"', ", annotations: {}")],
      ["apply --server-side -f map.yaml", "configmap/settings serverside-applied"],
      [
        `get cm settings ${lastApplied}`,
        '{"apiVersion":"v1","data":{"c":"4"},"kind":"ConfigMap","metadata":{"annotations":{},"name":"settings","namespace":"default"}}',
      ],
      ["map.yaml", map('c: "5"')],
      ["apply -f map.yaml", "configmap/settings configured"],
      ["apply -f map.yaml", "configmap/settings unchanged"],
      ["get cm settings -o jsonpath={.data}", '{"c":"5"}'],
      [
        `get cm settings ${managers}`,
        'kubectl Apply  {"f:metadata":{"f:annotations":{}}} NOW\nkubectl-client-side-apply Update  {"f:data":{"f:c":{}},"f:metadata":{"f:annotations":{"f:kubectl.kubernetes.io/last-applied-configuration":{}}}} NOW',
      ],
      ["apply --server-side -f map.yaml", "configmap/settings serverside-applied"],
      [
        `get cm settings ${managers}`,
        `kubectl-last-applied Apply  ${annotated} \nkubectl Apply  {"f:data":{"f:c":{}}} NOW`,
      ],
    ],
  },
  "migration reports a conflict with a field that another manager changed": {
    steps: [
      ["map.yaml", map("a: b, c: d")],
      ["apply -f map.yaml", "configmap/settings created"],
      ['patch cm settings --type=merge -p {"data":{"c":"x"}}', "configmap/settings patched"],
      [
        "apply --server-side -f map.yaml",
        conflictError('1 conflict: conflict with "kubectl-patch" using v1: .data.c'),
        1,
      ],
      ["apply --server-side -f map.yaml --force-conflicts", "configmap/settings serverside-applied"],
      [
        `get cm settings ${managers}`,
        `kubectl-last-applied Apply  ${annotated} \nkubectl Apply  {"f:data":{"f:a":{},"f:c":{}}} NOW`,
      ],
    ],
  },
  "applies a Deployment next to scale, set image and set env": {
    steps: [
      ["web.yaml", web("  replicas: 2\n", "x:1")],
      ["apply --server-side -f web.yaml", "deployment.apps/web serverside-applied"],
      [
        "get deployment web --show-managed-fields -o yaml",
        /^ {2}managedFields:\n {2}- apiVersion: apps\/v1\n {4}fieldsType: FieldsV1\n {4}fieldsV1:\n {6}f:metadata:\n {8}f:labels:\n {10}f:app: {}\n {6}f:spec:\n {8}f:replicas: {}\n {8}f:selector: {}\n {8}f:template:\n {10}f:metadata:\n {12}f:labels:\n {14}f:app: {}\n {10}f:spec:\n {12}f:containers:\n {14}k:{"name":"main"}:\n {16}.: {}\n {16}f:args: {}\n {16}f:env:\n {18}k:{"name":"A"}:\n {20}.: {}\n {20}f:name: {}\n {20}f:value: {}\n {16}f:image: {}\n {16}f:name: {}\n {16}f:ports:\n {18}k:{"containerPort":80,"protocol":"TCP"}:\n {20}.: {}\n {20}f:containerPort: {}\n {20}f:name: {}\n {18}k:{"containerPort":80,"protocol":"UDP"}:\n {20}.: {}\n {20}f:containerPort: {}\n {20}f:protocol: {}\n {16}f:resources:\n {18}f:limits:\n {20}f:cpu: {}\n {14}k:{"name":"side"}:\n {16}.: {}\n {16}f:image: {}\n {16}f:name: {}\n {4}manager: kubectl\n {4}operation: Apply\n {4}time: NOW\n {2}name: web$/m,
      ],
      ["scale deployment web --replicas=4", "deployment.apps/web scaled"],
      [`get deployment web ${managers}`, /^KUBECTL Update scale {"f:spec":{"f:replicas":{}}}$/m],
      [
        "apply --server-side -f web.yaml",
        conflictError('1 conflict: conflict with "KUBECTL" with subresource "scale" using apps/v1: .spec.replicas'),
        1,
      ],
      ["set image deployment/web main=x:2 --field-manager=setter", "deployment.apps/web image updated"],
      [
        "apply --server-side -f web.yaml",
        conflictError(
          '2 conflicts: conflicts with "KUBECTL" with subresource "scale" using apps/v1:\n- .spec.replicas\nconflicts with "setter" using apps/v1:\n- .spec.template.spec.containers[name="main"].image',
        ),
        1,
      ],
      ["web.yaml", web("", "x:3")],
      ["apply --server-side -f web.yaml --force-conflicts", "deployment.apps/web serverside-applied"],
      [
        `get deployment web ${managers}`,
        /^KUBECTL Update scale {"f:spec":{"f:replicas":{}}} \nkubectl Apply|^kubectl Apply.*\nKUBECTL Update scale/,
      ],
      ["get deployment web -o jsonpath={.spec.replicas}%{.spec.template.spec.containers[*].image}", "4 x:3 s:1"],
      ["set env deployment/web -c side B=2", "deployment.apps/web env updated"],
      [
        `get deployment web ${managers}`,
        /^kubectl-set Update {2}{"f:spec":{"f:template":{"f:spec":{"f:containers":{"k:{\\"name\\":\\"side\\"}":{"f:env":{"\.":{},"k:{\\"name\\":\\"B\\"}":{"\.":{},"f:name":{},"f:value":{}}}}}}}}} NOW$/m,
      ],
      [
        'patch deployment web --type=json -p [{"op":"remove","path":"/spec/template/spec/containers/0/env"}]',
        "deployment.apps/web patched",
      ],
      ["apply --server-side -f web.yaml", "deployment.apps/web serverside-applied"],
      [
        "get deployment web -o jsonpath={.spec.template.spec.containers[*].env}",
        '[{"name":"A","value":"1"}] [{"name":"B","value":"2"}]',
      ],
    ],
  },
  "two managers apply fields of one container": {
    steps: [
      ["web.yaml", web("", "x:1")],
      ["apply --server-side -f web.yaml", "deployment.apps/web serverside-applied"],
      ["sidecar.yaml", part("- {name: main, env: [{name: B, value: b}]}\n- {name: proxy, image: 'p:1'}")],
      ["apply --server-side -f sidecar.yaml --field-manager=injector", "deployment.apps/web serverside-applied"],
      [
        `get deployment web ${managers}`,
        /^injector Apply {2}{"f:spec":{"f:template":{"f:spec":{"f:containers":{"k:{\\"name\\":\\"main\\"}":{"\.":{},"f:env":{"k:{\\"name\\":\\"B\\"}":{"\.":{},"f:name":{},"f:value":{}}},"f:name":{}},"k:{\\"name\\":\\"proxy\\"}":{"\.":{},"f:image":{},"f:name":{}}}}}}} NOW$/m,
      ],
      [
        "get deployment web -o jsonpath={.spec.template.spec.containers[*].name}%{.spec.template.spec.containers[0].env[*].name}",
        "main side proxy A B",
      ],
      ["sidecar.yaml", part("- {name: main, env: [{name: A, value: theirs}]}")],
      [
        "apply --server-side -f sidecar.yaml --field-manager=injector",
        conflictError(
          '1 conflict: conflict with "kubectl": .spec.template.spec.containers[name="main"].env[name="A"].value',
        ),
        1,
      ],
      ["sidecar.yaml", part("- {name: main, imagePullPolicy: Always}")],
      ["apply --server-side -f sidecar.yaml --field-manager=injector", "deployment.apps/web serverside-applied"],
      [
        "get deployment web -o jsonpath={.spec.template.spec.containers[*].name}%{.spec.template.spec.containers[0].env[*].name}",
        "main side A",
      ],
      ["sidecar.yaml", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: default}\n"],
      ["apply --server-side -f sidecar.yaml --field-manager=injector", "deployment.apps/web serverside-applied"],
      // A field that no manager owns any more is reset to its default.
      ["get deployment web -o jsonpath={.spec.template.spec.containers[0].imagePullPolicy}", "IfNotPresent"],
      [`get deployment web ${managers}`, /^kubectl Apply {2}[^\n]*$/],
    ],
  },
  "migrates a Deployment from client-side apply": {
    steps: [
      ["web.yaml", web("  replicas: 2\n", "x:1")],
      ["apply -f web.yaml", "deployment.apps/web created"],
      ["scale deployment web --replicas=4", "deployment.apps/web scaled"],
      ["web.yaml", web("", "x:2")],
      ["apply --server-side -f web.yaml", "deployment.apps/web serverside-applied"],
      ["get deployment web -o jsonpath={.spec.replicas}%{.spec.template.spec.containers[0].image}", "4 x:2"],
      [`get deployment web ${managers}`, /^KUBECTL Update scale {"f:spec":{"f:replicas":{}}}/m],
      ["diff --server-side -f web.yaml", ""],
      ["diff -f web.yaml", ""],
      ["apply -f web.yaml", /^deployment\.apps\/web (configured|unchanged)$/],
      ["get deployment web -o jsonpath={.spec.replicas}%{.spec.template.spec.containers[0].image}", "4 x:2"],
    ],
  },
  "applies after kubectl create and kubectl replace": {
    steps: [
      ["map.yaml", map("a: b")],
      ["create -f map.yaml", "configmap/settings created"],
      ["map.yaml", map("a: c")],
      [
        "apply --server-side -f map.yaml",
        conflictError('1 conflict: conflict with "kubectl-create" using v1: .data.a'),
        1,
      ],
      ["replace -f map.yaml", "configmap/settings replaced"],
      [
        `get cm settings ${managers}`,
        'kubectl-create Update  {"f:data":{}} NOW\nkubectl-replace Update  {"f:data":{"f:a":{}}} NOW',
      ],
      ["apply --server-side -f map.yaml", "configmap/settings serverside-applied"],
      [
        `get cm settings ${managers}`,
        'kubectl Apply  {"f:data":{"f:a":{}}} \nkubectl-create Update  {"f:data":{}} NOW\nkubectl-replace Update  {"f:data":{"f:a":{}}} NOW',
      ],
    ],
  },
  "applies one object at two API versions": {
    steps: [
      [
        "two.yaml",
        scaler(
          "v2",
          "maxReplicas: 3, minReplicas: 2, metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 50}}}]",
        ),
      ],
      ["one.yaml", scaler("v1", "maxReplicas: 4, targetCPUUtilizationPercentage: 60")],
      [
        "apply --server-side -f two.yaml --field-manager=two",
        "horizontalpodautoscaler.autoscaling/web serverside-applied",
      ],
      [
        "apply --server-side -f one.yaml --field-manager=one",
        conflictError('2 conflicts: conflicts with "two":\n- .spec.maxReplicas\n- .spec.metrics'),
        1,
      ],
      [
        "apply --server-side -f one.yaml --field-manager=two",
        "horizontalpodautoscaler.autoscaling/web serverside-applied",
      ],
      [
        "get hpa web -o jsonpath={.spec.maxReplicas}%{.spec.minReplicas}%{.spec.metrics[*].resource.target.averageUtilization}",
        "4 1 60",
      ],
      [
        `get hpa web ${managers}`,
        'two Apply  {"f:spec":{"f:maxReplicas":{},"f:scaleTargetRef":{},"f:targetCPUUtilizationPercentage":{}}} NOW',
      ],
    ],
  },
  "rejects objects with unknown fields or duplicate keys, and an absent namespace": {
    steps: [
      ["odd.yaml", `${map("a: b")}foo: 1\n`],
      [
        "apply --server-side -f odd.yaml --validate=ignore",
        "Error from server: failed to create typed patch object (default/settings; /v1, Kind=ConfigMap): .foo: field not declared in schema",
        1,
      ],
      [
        "pod.yaml",
        "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: default}\nspec: {containers: [{name: a, image: x}, {name: a, image: z}]}\n",
      ],
      [
        "apply --server-side -f pod.yaml",
        'Error from server: failed to create typed patch object (default/p; /v1, Kind=Pod): .spec.containers: duplicate entries for key [name="a"]',
        1,
      ],
      ["absent.yaml", map("a: b").replace("default", "absent")],
      ["apply --server-side -f absent.yaml", 'Error from server (NotFound): namespaces "absent" not found', 1],
      ["get cm,pods -n default -o name", ""],
    ],
  },
  "applies many kinds in one file": {
    steps: [
      ["several.yaml", several],
      [
        "apply --server-side -f several.yaml",
        "service/web serverside-applied\nstatefulset.apps/web serverside-applied\ncronjob.batch/web serverside-applied\ndeployment.apps/web serverside-applied",
      ],
      [
        `get service web ${managers}`,
        'kubectl Apply  {"f:spec":{"f:ports":{"k:{\\"port\\":80,\\"protocol\\":\\"TCP\\"}":{".":{},"f:name":{},"f:port":{}},"k:{\\"port\\":80,\\"protocol\\":\\"UDP\\"}":{".":{},"f:name":{},"f:port":{},"f:protocol":{}}},"f:selector":{}}} NOW',
      ],
      [
        `get statefulset web ${managers}`,
        'kubectl Apply  {"f:spec":{"f:selector":{},"f:serviceName":{},"f:template":{"f:metadata":{"f:labels":{"f:app":{}}},"f:spec":{"f:containers":{"k:{\\"name\\":\\"main\\"}":{".":{},"f:image":{},"f:name":{},"f:volumeMounts":{"k:{\\"mountPath\\":\\"/v\\"}":{".":{},"f:mountPath":{},"f:name":{}}}}}}},"f:volumeClaimTemplates":{}}} NOW',
      ],
      [
        `get cronjob web ${managers}`,
        'kubectl Apply  {"f:spec":{"f:jobTemplate":{"f:spec":{"f:template":{"f:spec":{"f:containers":{"k:{\\"name\\":\\"main\\"}":{".":{},"f:image":{},"f:name":{}}},"f:restartPolicy":{}}}}},"f:schedule":{}}} NOW',
      ],
      [`get -f several.yaml ${versions}`, /^\d+( \d+){3}$/],
      [
        "apply --server-side -f several.yaml",
        "service/web serverside-applied\nstatefulset.apps/web serverside-applied\ncronjob.batch/web serverside-applied\ndeployment.apps/web serverside-applied",
      ],
      [`get -f several.yaml ${versions}`, asBefore],
      ["diff --server-side -f several.yaml", ""],
      ["delete -f several.yaml --wait=false", /service "web" deleted/],
    ],
  },
  "applies the status subresource": {
    since: 32,
    steps: [
      ["web.yaml", web("", "x:1")],
      ["apply --server-side -f web.yaml", "deployment.apps/web serverside-applied"],
      [
        "status.yaml",
        'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: default}\nstatus: {replicas: 3, conditions: [{type: Available, status: "True"}]}\n',
      ],
      [
        "apply --server-side --subresource=status -f status.yaml --field-manager=status",
        "deployment.apps/web serverside-applied",
      ],
      [
        `get deployment web ${managers}`,
        /^status Apply status {"f:status":{"f:conditions":{"k:{\\"type\\":\\"Available\\"}":{"\.":{},"f:status":{},"f:type":{}}},"f:replicas":{}}} NOW$/m,
      ],
      ["apply --server-side -f status.yaml --field-manager=main", "deployment.apps/web serverside-applied"],
      [`get deployment web ${managers}`, /^kubectl Apply.*\nstatus Apply status .*$/],
      [
        "status.yaml",
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: default}\nstatus: {replicas: 4}\n",
      ],
      [
        "apply --server-side --subresource=status -f status.yaml --field-manager=other",
        conflictError('1 conflict: conflict with "status" with subresource "status": .status.replicas'),
        1,
      ],
      [
        "apply --server-side --subresource=status -f status.yaml --field-manager=status",
        "deployment.apps/web serverside-applied",
      ],
      ["get deployment web -o jsonpath={.status}", '{"replicas":4}'],
      ["apply --subresource=status -f status.yaml", /--subresource can only be used with --server-side|error/, 1],
    ],
  },
  "prunes by apply sets": {
    environment: { KUBECTL_APPLYSET: "true" },
    steps: [
      ["set/one.yaml", map("a: b").replace("settings", "one")],
      ["set/two.yaml", map("a: b").replace("settings", "two")],
      ["create cm other --from-literal=a=b", "configmap/other created"],
      [
        "apply --server-side -f set --prune --applyset=parts -n default",
        "configmap/one serverside-applied\nconfigmap/two serverside-applied",
      ],
      [
        `get secret parts ${managers}`,
        /^kubectl-applyset Apply {2}{"f:metadata":{"f:annotations":{"f:applyset\.kubernetes\.io\/additional-namespaces":{},"f:applyset\.kubernetes\.io\/contains-group-(kinds|resources)":{},"f:applyset\.kubernetes\.io\/tooling":{}},"f:labels":{"f:applyset\.kubernetes\.io\/id":{}}}} NOW$/,
      ],
      [
        `get cm one ${managers}`,
        'kubectl Apply  {"f:data":{"f:a":{}},"f:metadata":{"f:labels":{"f:applyset.kubernetes.io/part-of":{}}}} NOW',
      ],
      ["set/two.yaml", map("a: b").replace("settings", "one")],
      [
        "apply --server-side -f set --prune --applyset=parts -n default",
        /^(configmap\/one serverside-applied\n)+configmap\/two pruned$/,
      ],
      ["get cm -o name", "configmap/one\nconfigmap/other"],
    ],
  },
};

const chosen = kubectls();
if (chosen.length === 0) {
  test("kubectl", {
    skip: skipWithout("kubectl"),
  }, () => {});
}

for (const kubectl of chosen) {
  const minor = Number(/1\.(\d+)$/.exec(kubectl)?.[1] ?? Number.POSITIVE_INFINITY);
  describe(basename(kubectl), () => {
    let server: TestServer;
    let admin: RawClient;
    before(async () => {
      server = await startTestServer({ clock: manualClock(Date.now()) });
      admin = rawClient(server.kubeconfig);
    });
    afterEach(() => emptyDefaultNamespace(admin));
    after(async () => {
      admin.close();
      await server.close();
    });

    for (const [what, { steps, since = 0, environment = {} }] of Object.entries(sessions)) {
      const url = `https://dl.k8s.io/release/v1.${since}.0/bin/linux/amd64/kubectl`;
      const isTooOld = minor < since && reasonOf(`kubectl 1.${since}`, `curl -LO ${url}`);
      const skip = isTooOld || (!always.includes(what) && skipWithout("full"));
      test(what, { skip }, async () => {
        const printed = new Map<string, string>();
        const directory = mkdtempSync(join(server.directory, "kubectl-"));
        mkdirSync(join(directory, "set"));
        for (const [command, expected, code = 0] of steps) {
          if (/^\S+\.yaml$/.test(command)) writeFileSync(join(directory, command), expected as string);
          else
            printed.set(
              command,
              await check(command, expected === asBefore ? (printed.get(command) as string) : expected, code, {
                directory,
                kubeconfigPath: server.kubeconfigPath,
                environment: { HOME: server.directory, ...environment },
              }),
            );
        }
      });
    }

    async function check(
      command: string,
      expected: RegExp | string,
      code: number,
      at: Parameters<typeof runKubectl>[2],
    ): Promise<string> {
      const run = await runKubectl(
        kubectl,
        command.split(" ").map((word) => word.replaceAll("%", " ")),
        at,
      );
      const output = normalize(run.output);
      if (typeof expected === "string") assert.equal(output, expected, command);
      else assert.match(output, expected, command);
      assert.equal(run.code, code, `${command}: ${output}`);
      return output;
    }

    /**
     * Replaces times, uids, resourceVersions and kubectl's default field manager, which differ
     * between runs.
     */
    function normalize(output: string): string {
      return output
        .replaceAll(/"?\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"?/g, "NOW")
        .replaceAll(/(?<=resourceVersion: ")\d+/g, "N")
        .replaceAll(/(?<=uid: )[-0-9a-f]{36}/g, "UID")
        .replaceAll(/(?<=^|")kubectl(\.1\.\d+)?(?=" with subresource "scale"| Update scale )/gm, "KUBECTL");
    }
  });
}
