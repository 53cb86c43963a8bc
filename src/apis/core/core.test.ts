import assert from "node:assert/strict";
import { test } from "node:test";
import { created, testContext, updated } from "../../../test/support/strategy-driver.ts";
import type { Strategy } from "../../catalog/strategy-contract.ts";
import { configMap } from "./configmap.ts";
import { coreEvent, event, eventConversion } from "./event/event.ts";
import { limitRange } from "./limit-range.ts";
import { namespace } from "./namespace.ts";
import { persistentVolume } from "./persistent-volume/persistent-volume.ts";
import { pod } from "./pod/pod.ts";
import { secret } from "./secret.ts";
import { service } from "./service/service.ts";

const configKey =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";
const immutable = "Forbidden: field is immutable when `immutable` is set";
const base64 = (text: string): string => Buffer.from(text).toString("base64");
const container = { name: "c", image: "nginx" };
const port = { port: 80 };

/** Objects and all problems that validation of a create reports. */
const createRows: [what: string, kind: Strategy, input: Record<string, unknown>, want: string[]][] = [
  ["configmap: data and binaryData", configMap, { data: { a: "1" }, binaryData: { b: "AA==" } }, []],
  [
    "configmap: key with a space",
    configMap,
    { data: { "bad key": "x" } },
    [`data[bad key]: Invalid value: "bad key": ${configKey}`],
  ],
  [
    "configmap: key is the parent directory",
    configMap,
    { data: { "..": "x" } },
    [`data[..]: Invalid value: "..": must not be '..'`],
  ],
  [
    "configmap: same key in data and binaryData",
    configMap,
    { data: { d: "x" }, binaryData: { d: "AA==" } },
    ['data[d]: Invalid value: "d": duplicate of key present in binaryData'],
  ],
  [
    "configmap: more than 1 MiB",
    configMap,
    { data: { a: "x".repeat(1024 * 1024), b: "y" } },
    ["[]: Too long: may not be more than 1048576 bytes"],
  ],
  [
    "secret: bad key",
    secret,
    { type: "my/type", stringData: { "a b": "x" } },
    [`data[a b]: Invalid value: "a b": ${configKey}`],
  ],
  [
    "secret: dockerconfigjson without its key",
    secret,
    { type: "kubernetes.io/dockerconfigjson" },
    ["data[.dockerconfigjson]: Required value"],
  ],
  [
    "secret: dockerconfigjson that is not JSON",
    secret,
    { type: "kubernetes.io/dockerconfigjson", stringData: { ".dockerconfigjson": "{" } },
    ['data[.dockerconfigjson]: Invalid value: "<secret contents redacted>": unexpected end of JSON input'],
  ],
  [
    "secret: basic-auth without username and password",
    secret,
    { type: "kubernetes.io/basic-auth" },
    ["data[username]: Required value", "data[password]: Required value"],
  ],
  [
    "secret: basic-auth with only a username",
    secret,
    { type: "kubernetes.io/basic-auth", stringData: { username: "u" } },
    [],
  ],
  [
    "secret: ssh-auth without its key",
    secret,
    { type: "kubernetes.io/ssh-auth" },
    ["data[ssh-privatekey]: Required value"],
  ],
  [
    "secret: tls without its key",
    secret,
    { type: "kubernetes.io/tls", stringData: { "tls.crt": "" } },
    ["data[tls.key]: Required value"],
  ],
  [
    "secret: service account token without an account",
    secret,
    { type: "kubernetes.io/service-account-token" },
    ["metadata.annotations[kubernetes.io/service-account.name]: Required value"],
  ],
  [
    "event: involved object in another namespace",
    coreEvent,
    { involvedObject: { namespace: "other" } },
    ['involvedObject.namespace: Invalid value: "other": does not match event.namespace'],
  ],
  [
    "event of events.k8s.io: no time and an unknown type",
    event,
    { involvedObject: { namespace: "ns" }, type: "Odd" },
    ["eventTime: Required value", 'type: Invalid value: "": has invalid value: Odd'],
  ],
  ["pod: a container", pod, { spec: { containers: [container] } }, []],
  ["pod: no containers", pod, { spec: {} }, ["spec.containers: Required value"]],
  [
    "pod: containers with the same name, one without an image",
    pod,
    { spec: { containers: [container, { name: "c" }] } },
    ["spec.containers[1].image: Required value", 'spec.containers[1].name: Duplicate value: "c"'],
  ],
  ["service: no ports", service, { spec: {} }, ["spec.ports: Required value"]],
  ["service: headless without ports", service, { spec: { clusterIP: "None" } }, []],
  [
    "service: two ports, one without a name",
    service,
    { spec: { ports: [port, { port: 81, name: "b" }] } },
    ["spec.ports[0].name: Required value"],
  ],
  [
    "service: ExternalName without a name",
    service,
    { spec: { type: "ExternalName" } },
    ["spec.externalName: Required value"],
  ],
];

for (const [what, kind, input, want] of createRows) {
  test(`${want.length === 0 ? "accepts" : "rejects"} ${what}`, () =>
    assert.deepEqual(created(kind, input).problems, want));
}

test("a limit range without a name gets a generated one", () => {
  const { object, problems } = created(limitRange, { metadata: { name: "" } });
  assert.deepEqual([object.metadata.name, problems], ["u", []]);
});

test("a new namespace gets a label, a finalizer and a phase, and updates keep them", () => {
  const { object, problems } = created(namespace, {}, false);
  assert.deepEqual(problems, []);
  assert.deepEqual(object, {
    metadata: { name: "x", uid: "u", labels: { "kubernetes.io/metadata.name": "x" } },
    spec: { finalizers: ["kubernetes"] },
    status: { phase: "Active" },
  });
  assert.deepEqual(created(namespace, { spec: { finalizers: ["x"] } }, false).problems, [
    'spec.finalizers: Invalid value: "x": name is neither a standard finalizer name nor is it fully qualified',
  ]);
  const emptied = updated(
    namespace,
    {},
    (next) => {
      next.spec.finalizers = [];
      next.metadata.labels = {};
    },
    false,
  );
  assert.deepEqual(emptied.object, object);
});

test("stringData is merged into data, even if a key is __proto__", () => {
  const stringData = JSON.parse('{"__proto__":"a","b":"c"}');
  const { object } = created(secret, { stringData });
  assert.equal(object.type, "Opaque");
  assert.equal(object.stringData, undefined);
  assert.deepEqual(Object.entries(object.data), [
    ["__proto__", base64("a")],
    ["b", base64("c")],
  ]);
});

test("rejects changes of an immutable configmap", () => {
  const before = { data: { a: "1" }, immutable: true };
  const rows: [change: Record<string, unknown>, want: string[]][] = [
    [{ data: { a: "2" } }, [`data: ${immutable}`]],
    [{ binaryData: { b: "AAE=" } }, [`binaryData: ${immutable}`]],
    [{ immutable: undefined }, [`immutable: ${immutable}`]],
    [{ binaryData: {} }, [`binaryData: ${immutable}`]], // Upstream distinguishes absent from empty.
  ];
  for (const [change, want] of rows)
    assert.deepEqual(updated(configMap, before, (next) => Object.assign(next, change)).problems, want);
});

test("a new pod is pending and gets all defaults", () => {
  const resources = { limits: { cpu: "1", memory: "1Gi" } };
  const { object } = created(pod, { spec: { containers: [{ ...container, resources }], serviceAccountName: "sa" } });
  assert.deepEqual(object.status, { phase: "Pending", qosClass: "Guaranteed" });
  assert.deepEqual(object.spec, {
    containers: [
      {
        ...container,
        resources: { ...resources, requests: resources.limits },
        imagePullPolicy: "Always",
        terminationMessagePath: "/dev/termination-log",
        terminationMessagePolicy: "File",
      },
    ],
    restartPolicy: "Always",
    terminationGracePeriodSeconds: 30,
    dnsPolicy: "ClusterFirst",
    securityContext: {},
    schedulerName: "default-scheduler",
    serviceAccountName: "sa",
    serviceAccount: "sa",
    enableServiceLinks: true,
  });
});

const pullRows: [image: string, want: string][] = [
  ["nginx", "Always"],
  ["nginx:latest", "Always"],
  ["nginx:1.2", "IfNotPresent"],
  ["host:5000/nginx", "Always"],
  ["host:5000/nginx:1", "IfNotPresent"],
  ["nginx@sha256:0123", "IfNotPresent"],
];
for (const [image, want] of pullRows) {
  test(`the default pull policy of ${image} is ${want}`, () => {
    const { object } = created(pod, { spec: { containers: [{ name: "c", image }] } });
    assert.equal(object.spec.containers[0].imagePullPolicy, want);
  });
}

test("an update of a pod may change images and add tolerations only", () => {
  const before = { spec: { containers: [container] } };
  const image = updated(pod, before, (next) => Object.assign(next.spec.containers[0], { image: "other" }));
  assert.deepEqual(image.problems, []);
  const toleration = updated(pod, before, (next) => Object.assign(next.spec, { tolerations: [{ key: "a" }] }));
  assert.deepEqual(toleration.problems, []);
  const node = updated(pod, before, (next) => Object.assign(next.spec, { hostname: "h" }));
  assert.match(String(node.problems), /^spec: Forbidden: pod updates may not change fields other than/);
});

const graceRows: [what: string, nodeName: string, phase: string, requested: number | undefined, want: number][] = [
  ["is not scheduled", "", "Pending", 30, 0],
  ["runs", "n", "Running", undefined, 30],
  ["runs, with a shorter period requested", "n", "Running", 5, 5],
  ["runs, with a negative period requested", "n", "Running", -5, 1],
  ["has succeeded", "n", "Succeeded", 30, 0],
];
for (const [what, nodeName, phase, requested, want] of graceRows) {
  test(`grace period of a pod that ${what}`, () => {
    const { object } = created(pod, { spec: { containers: [container], nodeName } });
    object.status.phase = phase;
    assert.deepEqual(pod.gracePeriod(object, requested), { seconds: want });
  });
}

test("a new service gets all defaults", () => {
  const { object } = created(service, { spec: { ports: [port] } });
  assert.deepEqual(object.spec, {
    ports: [{ port: 80, protocol: "TCP", targetPort: 80 }],
    sessionAffinity: "None",
    type: "ClusterIP",
    internalTrafficPolicy: "Cluster",
  });
  assert.deepEqual(object.status, { loadBalancer: {} });
});

test("an update keeps the allocated address, and only ExternalName releases it", () => {
  const before = { spec: { ports: [port], clusterIP: "10.0.0.9", clusterIPs: ["10.0.0.9"] } };
  const sent = updated(service, before, (next) => {
    delete next.spec.clusterIP;
    delete next.spec.clusterIPs;
  });
  assert.deepEqual([sent.problems, sent.object.spec.clusterIPs], [[], ["10.0.0.9"]]);
  const other = updated(service, before, (next) =>
    Object.assign(next.spec, { clusterIP: "10.0.0.8", clusterIPs: ["10.0.0.8"] }),
  );
  assert.deepEqual(other.problems, ['spec.clusterIPs[0]: Invalid value: ["10.0.0.8"]: may not change once set']);
  const external = updated(service, before, (next) =>
    Object.assign(next.spec, { type: "ExternalName", externalName: "a.b" }),
  );
  assert.deepEqual([external.problems, external.object.spec.clusterIP], [[], undefined]);
});

test("events of both groups convert to the same stored object", () => {
  const stored = {
    metadata: {},
    involvedObject: { name: "c" },
    message: "m",
    count: 2,
    source: { component: "x" },
    reason: "R",
    reportingComponent: "a/b",
  };
  const shown = {
    metadata: {},
    regarding: { name: "c" },
    note: "m",
    deprecatedCount: 2,
    deprecatedSource: { component: "x" },
    reason: "R",
    reportingController: "a/b",
  };
  assert.deepEqual(eventConversion.fromStorage(structuredClone(stored)), shown);
  assert.deepEqual(eventConversion.toStorage(structuredClone(shown)), stored);
});

test("the status of a volume has the time of its last phase transition", () => {
  const start = "2020-01-01T00:00:00Z"; // The time in the test context.
  const { object: old } = created(persistentVolume, { spec: {} }, false);
  assert.deepEqual(old.status, { phase: "Pending", lastPhaseTransitionTime: start });
  const earlier = "2019-01-01T00:00:00Z";
  const rows: [status: object, want: string][] = [
    [{ phase: "Pending" }, earlier],
    [{ phase: "Bound" }, start],
    [{ phase: "Bound", lastPhaseTransitionTime: earlier }, start],
    [{ phase: "Bound", lastPhaseTransitionTime: "2018-01-01T00:00:00Z" }, "2018-01-01T00:00:00Z"],
  ];
  for (const [status, want] of rows) {
    const next = { ...structuredClone(old), status: { ...status } as Record<string, unknown> };
    persistentVolume.prepareForStatusUpdate(
      next,
      { ...old, status: { phase: "Pending", lastPhaseTransitionTime: earlier } },
      testContext,
    );
    assert.equal(next.status.lastPhaseTransitionTime, want);
  }
});

test("a limit is the default of a request, whatever the name of the resource", () => {
  const limits = JSON.parse('{"cpu":"1","__proto__":"100m"}');
  const object = { metadata: {}, spec: { containers: [{ ...container, resources: { limits } }] } };
  pod.setDefaults(object);
  const { requests } = (object.spec.containers[0] as { resources: { requests?: object } }).resources;
  assert.deepEqual(Object.entries(requests ?? {}), [
    ["cpu", "1"],
    ["__proto__", "100m"],
  ]);
});
