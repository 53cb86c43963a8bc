import assert from "node:assert/strict";
import { after, test } from "node:test";
import { openMemoryRegistry } from "../../../test/support/memory-registry.ts";
import type { ApiError } from "../../apimachinery/errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { Resolved } from "../../catalog/contract.ts";
import type { AdmissionAttributes } from "../../registry/admission-attributes.ts";
import { followConfigurations } from "../configurations.ts";
import type { MatchCriteria, Rule } from "./contract.ts";
import { openMatching } from "./matcher.ts";
import { versionedObjects } from "./versioned.ts";

const memory = await openMemoryRegistry({ allVersionsOf: ["events.k8s.io", "autoscaling"] });
after(() => memory.close());
const { catalog } = memory.registry;
const matching = openMatching(catalog);
const versioned = versionedObjects(catalog);
await memory.create(["/namespaces", ""], { metadata: { name: "blue", labels: { color: "blue" } } });

const criteria: MatchCriteria = {
  resourceRules: [],
  matchPolicy: "Equivalent",
  namespaceSelector: {},
  objectSelector: {},
};
const rule = (resources: string[], other: Partial<Rule> = {}): Rule => ({
  operations: ["*"],
  apiGroups: ["*"],
  apiVersions: ["*"],
  resources,
  ...other,
});

interface Request {
  readonly resource?: string;
  readonly operation?: AdmissionAttributes["operation"];
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly labels?: Record<string, string>;
  readonly oldLabels?: Record<string, string>;
}

/** @param resource such as `/v1/pods` */
function attributesOf({
  resource = "/v1/configmaps",
  operation = "CREATE",
  subresource = "",
  namespace = "blue",
  name = "a",
  labels = {},
  oldLabels,
}: Request): AdmissionAttributes {
  const [group = "", version = "", plural = ""] = resource.split("/");
  const target = catalog.find(group, version, plural) as Resolved;
  const common = {
    target,
    subresource,
    namespace,
    name,
    pathName: name,
    dryRun: false,
    warnings: [],
    undo: [],
    done: [],
    joint: [],
  };
  const user = { name: "u", uid: "", groups: [], extra: new Map() };
  const object = { metadata: { name, labels } };
  const oldObject = oldLabels && { metadata: { name, labels: oldLabels } };
  return { ...common, operation, object, oldObject, user, options: () => ({}) };
}

/** The resource and kind of the match; "" for no match. */
async function check(rows: Partial<MatchCriteria>, request: Request): Promise<string> {
  try {
    const match = await matching.compile({ ...criteria, ...rows }).match(attributesOf(request));
    if (match === undefined) return "";
    const { resource, kind } = match;
    return `${resource.group}/${resource.version}/${resource.resource} ${kind.kind}`;
  } catch (error) {
    return (error as ApiError).message;
  }
}

const configMap = "/v1/configmaps ConfigMap";
const blue = { matchLabels: { color: "blue" } };
const rows: [what: string, criteria: Partial<MatchCriteria>, request: Request, expected: string][] = [
  ["no rules match nothing", {}, {}, ""],
  ["no rules of a binding match everything", { isOpen: true }, {}, configMap],
  ["a resource", { resourceRules: [rule(["configmaps"])] }, {}, configMap],
  ["another resource", { resourceRules: [rule(["pods"])] }, {}, ""],
  ["all resources", { resourceRules: [rule(["*"])] }, {}, configMap],
  [
    "all resources, but no subresource",
    { resourceRules: [rule(["*"])] },
    { resource: "/v1/pods", subresource: "status" },
    "",
  ],
  [
    "all subresources",
    { resourceRules: [rule(["pods/*"])] },
    { resource: "/v1/pods", subresource: "status" },
    "/v1/pods Pod",
  ],
  [
    "everything",
    { resourceRules: [rule(["*/*"])] },
    { resource: "/v1/pods", subresource: "eviction" },
    "/v1/pods Eviction",
  ],
  ["another operation", { resourceRules: [rule(["*"], { operations: ["UPDATE"] })] }, {}, ""],
  ["another group", { resourceRules: [rule(["*"], { apiGroups: ["apps"] })] }, {}, ""],
  ["another version", { resourceRules: [rule(["*"], { apiVersions: ["v2"] })] }, {}, ""],
  ["scope Cluster", { resourceRules: [rule(["*"], { scope: "Cluster" })] }, {}, ""],
  [
    "scope Cluster, a namespace",
    { resourceRules: [rule(["*"], { scope: "Cluster" })] },
    { resource: "/v1/namespaces" },
    "/v1/namespaces Namespace",
  ],
  [
    "scope Namespaced, a namespace",
    { resourceRules: [rule(["*"], { scope: "Namespaced" })] },
    { resource: "/v1/namespaces" },
    "",
  ],
  ["a name", { resourceRules: [rule(["*"], { resourceNames: ["a"] })] }, {}, configMap],
  ["another name", { resourceRules: [rule(["*"], { resourceNames: ["b"] })] }, {}, ""],
  ["an excluded resource", { isOpen: true, excludeResourceRules: [rule(["configmaps"])] }, {}, ""],
  ["another excluded resource", { isOpen: true, excludeResourceRules: [rule(["pods"])] }, {}, configMap],
  [
    "an equivalent version",
    { resourceRules: [rule(["*"], { apiVersions: ["v1"] })] },
    { resource: "autoscaling/v2/horizontalpodautoscalers" },
    "autoscaling/v1/horizontalpodautoscalers HorizontalPodAutoscaler",
  ],
  [
    "an equivalent version, Exact",
    { matchPolicy: "Exact", resourceRules: [rule(["*"], { apiVersions: ["v1"] })] },
    { resource: "autoscaling/v2/horizontalpodautoscalers" },
    "",
  ],
  [
    "an equivalent group",
    { resourceRules: [rule(["events"], { apiGroups: ["events.k8s.io"] })] },
    { resource: "/v1/events" },
    "events.k8s.io/v1/events Event",
  ],
  [
    "an equivalent excluded",
    { isOpen: true, excludeResourceRules: [rule(["events"], { apiGroups: ["events.k8s.io"] })] },
    { resource: "/v1/events" },
    "",
  ],
  ["object labels", { isOpen: true, objectSelector: blue }, { labels: { color: "blue" } }, configMap],
  ["labels of the old object", { isOpen: true, objectSelector: blue }, { oldLabels: { color: "blue" } }, configMap],
  ["no such labels", { isOpen: true, objectSelector: blue }, { labels: { color: "red" } }, ""],
  ["namespace labels", { isOpen: true, namespaceSelector: blue }, {}, configMap],
  ["other namespace labels", { isOpen: true, namespaceSelector: { matchLabels: { color: "red" } } }, {}, ""],
  [
    "a missing namespace",
    { isOpen: true, namespaceSelector: blue },
    { namespace: "gone" },
    'namespaces "gone" not found',
  ],
  [
    "a missing namespace, no match",
    { resourceRules: [rule(["pods"])], namespaceSelector: blue },
    { namespace: "gone" },
    "",
  ],
  [
    "a cluster-scoped object",
    { isOpen: true, namespaceSelector: blue },
    { resource: "/v1/nodes", namespace: "" },
    "/v1/nodes Node",
  ],
  [
    "a new namespace has its own labels",
    { isOpen: true, namespaceSelector: blue },
    { resource: "/v1/namespaces", namespace: "a", labels: { color: "blue" } },
    "/v1/namespaces Namespace",
  ],
];

for (const [what, given, request, expected] of rows)
  test(`matches ${what}`, async () => assert.equal(await check(given, request), expected));

test("encodes an object at an equivalent version, and replaces it by a changed one with defaults", async () => {
  const attributes = attributesOf({ resource: "autoscaling/v2/horizontalpodautoscalers" });
  const object = attributes.object as KubeObject;
  Object.assign(object, {
    apiVersion: "autoscaling/v2",
    kind: "HorizontalPodAutoscaler",
    spec: { scaleTargetRef: { kind: "Deployment", name: "d" }, maxReplicas: 3, minReplicas: 1 },
  });
  object.metadata.resourceVersion = "7";
  const match = await matching
    .compile({ ...criteria, resourceRules: [rule(["*"], { apiVersions: ["v1"] })] })
    .match(attributes);
  assert.ok(match !== undefined);
  const json = String(await versioned.encode(object, attributes, match));
  assert.equal(
    json,
    '{"kind":"HorizontalPodAutoscaler","apiVersion":"autoscaling/v1","metadata":{"name":"a","resourceVersion":"7"},"spec":{"scaleTargetRef":{"kind":"Deployment","name":"d"},"minReplicas":1,"maxReplicas":3},"status":{"currentReplicas":0,"desiredReplicas":0}}',
  );
  const before = Buffer.from(json);
  const changed = Buffer.from(json.replace('"minReplicas":1,', '"unknown":1,').replace(":3}", ":9}"));
  assert.equal(await versioned.replace(attributes, match, changed, before), true);
  assert.equal(attributes.object, object);
  assert.equal(object.apiVersion, "autoscaling/v2");
  assert.equal(object.spec.maxReplicas, 9);
  assert.equal(object.spec.minReplicas, 1);
  assert.equal("unknown" in object.spec, false);
  await assert.rejects(
    async () => versioned.replace(attributes, match, Buffer.from('{"spec":{"maxReplicas":"x"}}'), before),
    /Internal error occurred: json: cannot unmarshal/,
  );
});

test("follows configurations: a created or deleted one counts at once, and each is compiled once", async () => {
  const resource = "validatingwebhookconfigurations";
  const place = [`admissionregistration.k8s.io/${resource}`, ""] as const;
  const [compiled, removed]: [string[], string[]] = [[], []];
  const compile = ({ metadata: { name = "" } }: KubeObject): string => {
    compiled.push(name);
    return name;
  };
  const configurations = followConfigurations(catalog, resource, compile, (name) => removed.push(name));
  await configurations.load();
  assert.deepEqual(configurations.current(), []);
  await memory.create(place, { metadata: { name: "b" } });
  assert.deepEqual(configurations.current(), ["b"]);
  await memory.create(place, { metadata: { name: "a" } });
  assert.deepEqual(configurations.current(), ["a", "b"]);
  assert.equal(configurations.current(), configurations.current());
  await memory.delete(place, "b");
  assert.deepEqual(configurations.current(), ["a"]);
  assert.deepEqual([compiled, removed], [["b", "a"], ["b"]]);
});
