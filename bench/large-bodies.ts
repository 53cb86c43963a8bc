/** The requests of large-requests.ts. */
import type { BenchRequest } from "./client.ts";

/** A kind of request. */
export interface LargeRequest {
  readonly what: string;
  /** Sent before each measured request. */
  readonly before?: readonly BenchRequest[];
  readonly request: BenchRequest;
}

const maps = "/api/v1/namespaces/default/configmaps";
const pods = "/api/v1/namespaces/default/pods";
const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const things = "/apis/large.example/v1/namespaces/default/things";
const roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
const [json, yaml] = ["application/json", "application/yaml"];

const post = (path: string, body: string, contentType = json): BenchRequest => ({
  method: "POST",
  path,
  body,
  contentType,
});
const patch = (path: string, body: string, type: string): BenchRequest => ({
  method: "PATCH",
  path,
  body,
  contentType: `application/${type}`,
});
const remove = (path: string): BenchRequest => ({ method: "DELETE", path });
const get = (path: string, accept = json): BenchRequest => ({ method: "GET", path, headers: { accept } });

/** An object with as many strings, which are about 60 bytes each. */
const strings = (count: number, prefix = "key"): Record<string, string> =>
  Object.fromEntries(
    Array.from({ length: count }, (_, at) => [`${prefix}-${at}`, `a value of some bytes, that of ${at}`]),
  );
const map = (name: string, data: object): string =>
  JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data });
const mapYaml = (name: string, data: object): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\ndata:\n${Object.entries(data)
    .map(([key, value]) => `  ${key}: ${value}\n`)
    .join("")}`;

/** @param fields of its schema @param rules of validation, for the first fields */
function definition(fields: number, rules = 0): string {
  const property = (at: number): object => ({
    type: "object",
    description: `The field ${at}, which has members of several types.`,
    properties: {
      name: { type: "string", maxLength: 63, pattern: "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$" },
      count: { type: "integer", minimum: 0, default: 1 },
      labels: { type: "object", additionalProperties: { type: "string" } },
    },
    ...(at < rules && {
      "x-kubernetes-validations": [{ rule: `self.count < ${at + 5} && self.name.startsWith("name")`, message: "no" }],
    }),
  });
  const properties = Object.fromEntries(Array.from({ length: fields }, (_, at) => [`field${at}`, property(at)]));
  return JSON.stringify({
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "things.large.example" },
    spec: {
      group: "large.example",
      names: { kind: "Thing", plural: "things" },
      scope: "Namespaced",
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: "object", properties: { spec: { type: "object", properties } } } },
        },
      ],
    },
  });
}

const thing = (fields: number): string =>
  JSON.stringify({
    apiVersion: "large.example/v1",
    kind: "Thing",
    metadata: { name: "large" },
    spec: Object.fromEntries(
      Array.from({ length: fields }, (_, at) => [`field${at}`, { name: `name-${at}`, labels: { a: "b", c: "d" } }]),
    ),
  });

const container = (at: number): object => ({
  name: `c${at}`,
  image: "registry.example/image:v1",
  env: Array.from({ length: 10 }, (_, index) => ({ name: `VARIABLE_${index}`, value: `value ${index}` })),
  ports: [{ containerPort: 8000 + at, name: `p${at}` }],
});
const pod = (containers: number): string =>
  JSON.stringify({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "large" },
    spec: { containers: Array.from({ length: containers }, (_, at) => container(at)) },
  });

const role = (rules: number): string =>
  JSON.stringify({
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRole",
    metadata: { name: "large" },
    rules: Array.from({ length: rules }, (_, at) => ({
      apiGroups: [`g${at}.example`],
      resources: ["a", "b"],
      verbs: ["get"],
    })),
  });

const operations = (count: number, value: unknown): string =>
  JSON.stringify(Array.from({ length: count }, (_, at) => ({ op: "add", path: `/data/key-${at}`, value })));

/** A map with a large value in place before it is patched. */
const ready = (name: string, data: object): BenchRequest[] => [remove(`${maps}/${name}`), post(maps, map(name, data))];

/** Of each kind, some with a body of up to 256 KiB. */
const [some, many] = [strings(4_000), strings(16_000)];
const large = `${maps}/large`;
const goneDefinition = [remove(`${definitions}/things.large.example`)];

function bodies(): LargeRequest[] {
  const row = (what: string, path: string, body: string, contentType = json): LargeRequest => ({
    what,
    request: post(path, body, contentType),
    before: [remove(`${path}/large?gracePeriodSeconds=0`)],
  });
  return [
    row("ConfigMap, one string of 250 KiB, JSON", maps, map("large", { x: "x".repeat(250 << 10) })),
    row("ConfigMap, 4,000 keys, JSON", maps, map("large", some)),
    row("ConfigMap, 16,000 keys, JSON", maps, map("large", many)),
    row("ConfigMap, 4,000 keys, YAML", maps, mapYaml("large", some), yaml),
    row("ConfigMap, 16,000 keys, YAML", maps, mapYaml("large", many), yaml),
    row("ConfigMap, YAML of 3 MiB (too large to store)", maps, mapYaml("large", strings(55_000)), yaml),
    row("ConfigMap, JSON of 3 MiB (too large to store)", maps, map("large", strings(50_000))),
    row("Pod, 400 containers", pods, pod(400)),
    row("Pod, 1,600 containers", pods, pod(1_600)),
    row("ClusterRole, 3,000 rules", roles, role(3_000)),
    row("ClusterRole, 12,000 rules", roles, role(12_000)),
    ...[900, 3_600].map((fields) => ({
      what: `custom object, ${fields} fields`,
      request: post(things, thing(fields)),
      before: [post(definitions, definition(3_600)), remove(`${things}/large`)],
    })),
    { what: "definition of 250 KiB", request: post(definitions, definition(800)), before: goneDefinition },
    { what: "definition of 1 MiB", request: post(definitions, definition(3_600)), before: goneDefinition },
    {
      what: "definition with 500 rules of CEL",
      request: post(definitions, definition(500, 500)),
      before: goneDefinition,
    },
  ];
}

/** Of updates and patches. */
function changes(): LargeRequest[] {
  const row = (what: string, type: string, body: string, data: object): LargeRequest => ({
    what,
    request: type === "PUT" ? { ...post(large, body), method: "PUT" } : patch(large, body, type),
    before: ready("large", data),
  });
  const wide = JSON.stringify([{ op: "add", path: "/data/x", value: Array.from({ length: 300_000 }, (_, at) => at) }]);
  const tests = JSON.stringify(Array.from({ length: 10_000 }, () => ({ op: "test", path: "/data/a", value: "b" })));
  const forced = ({ request, ...rest }: LargeRequest): LargeRequest => ({
    ...rest,
    request: { ...request, path: `${request.path}?fieldManager=m&force=true` },
  });
  const applyPod: LargeRequest = {
    what: "apply to a Pod, 400 containers",
    request: patch(`${pods}/large`, pod(400), "apply-patch+yaml"),
    before: [remove(`${pods}/large?gracePeriodSeconds=0`), post(pods, pod(400))],
  };
  const applyDefinition: LargeRequest = {
    what: "apply of a definition of 1 MiB",
    request: patch(`${definitions}/things.large.example`, definition(3_600), "apply-patch+yaml"),
    before: goneDefinition,
  };
  return [
    row("update of 4,000 keys", "PUT", map("large", { ...some, y: "1" }), some),
    row("update of 16,000 keys", "PUT", map("large", { ...many, y: "1" }), many),
    row("merge patch of 4,000 keys", "merge-patch+json", JSON.stringify({ data: some }), {}),
    row("merge patch of 16,000 keys", "merge-patch+json", JSON.stringify({ data: many }), {}),
    row("small merge patch of 16,000 keys", "merge-patch+json", '{"data":{"a":"b"}}', many),
    row("strategic merge patch of 16,000 keys", "strategic-merge-patch+json", JSON.stringify({ data: many }), {}),
    row("JSON Patch, 4,000 operations", "json-patch+json", operations(4_000, "v"), { a: "b" }),
    row("JSON Patch, 10,000 operations", "json-patch+json", operations(10_000, "v"), { a: "b" }),
    row("JSON Patch, 10,000 tests", "json-patch+json", tests, { a: "b" }),
    row("JSON Patch, 300,000 items", "json-patch+json", wide, { a: "b" }),
    row("JSON Patch, 60,000 operations", "json-patch+json", operations(60_000, "v"), { a: "b" }),
    forced(row("apply of 4,000 keys", "apply-patch+yaml", mapYaml("large", some), {})),
    forced(row("apply of 16,000 keys", "apply-patch+yaml", mapYaml("large", many), {})),
    forced(row("apply of 16,000 keys, JSON", "apply-patch+yaml", map("large", many), {})),
    forced(applyPod),
    forced(applyDefinition),
  ];
}

function answers(): LargeRequest[] {
  const table = "as=Table;v=v1;g=meta.k8s.io";
  const [v2, v3] = ["v2", "v3"].map((v) => `application/com.github.proto-openapi.spec.${v}.v1.0+protobuf`);
  const protobuf = "application/vnd.kubernetes.protobuf";
  const changed = [...goneDefinition, post(definitions, definition(100))];
  const withLarge = [...goneDefinition, post(definitions, definition(3_600))];
  const row = (what: string, path: string, accept?: string, before: BenchRequest[] = []): LargeRequest => ({
    what,
    request: get(path, accept),
    before,
  });
  const ofMany = (form: string, accept: string): LargeRequest =>
    row(`get of 16,000 keys, ${form}`, `${maps}/many`, accept, ready("many", many));
  const list = (form: string, accept: string): LargeRequest =>
    row(`list of 3,000 objects, ${form}`, `${maps}?labelSelector=list`, accept);
  return [
    ofMany("YAML", yaml),
    ofMany("Table in YAML", `${yaml};${table}`),
    ofMany("protobuf", protobuf),
    row("OpenAPI v2, JSON, after a definition changed", "/openapi/v2", json, changed),
    row("OpenAPI v2, protobuf, after a definition changed", "/openapi/v2", v2, changed),
    row("OpenAPI v2, JSON", "/openapi/v2"),
    row("OpenAPI v3 of core, JSON", "/openapi/v3/api/v1"),
    row("OpenAPI v3 of core, protobuf", "/openapi/v3/api/v1", v3),
    row("OpenAPI v3 of a large definition", "/openapi/v3/apis/large.example/v1", json, withLarge),
    row("metrics", "/metrics"),
    row("aggregated discovery", "/apis", `${json};g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList`),
    row("get of 16,000 keys, indented", `${maps}/many?pretty=true`, json, ready("many", many)),
    list("JSON", json),
    list("metadata", `${json};as=PartialObjectMetadataList;v=v1;g=meta.k8s.io`),
    list("YAML", yaml),
    list("Table", `${json};${table}`),
    list("Table in YAML", `${yaml};${table}`),
    list("protobuf", protobuf),
    row("list of all definitions, YAML", definitions, yaml, withLarge),
  ];
}

/** All kinds. */
export function largeBodies(): LargeRequest[] {
  return [...bodies(), ...changes(), ...answers()];
}
