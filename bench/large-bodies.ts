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

/** @param fields of its schema */
function definition(fields: number): string {
  const property = (at: number): object => ({
    type: "object",
    description: `The field ${at}, which has members of several types.`,
    properties: {
      name: { type: "string", maxLength: 63, pattern: "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$" },
      count: { type: "integer", minimum: 0, default: 1 },
      labels: { type: "object", additionalProperties: { type: "string" } },
    },
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

/** All kinds. */
export function largeBodies(): LargeRequest[] {
  const [some, many] = [strings(4_000), strings(16_000)];
  const wideArray = JSON.stringify([
    { op: "add", path: "/data/x", value: Array.from({ length: 300_000 }, (_, at) => at) },
  ]);
  const tests = JSON.stringify(Array.from({ length: 10_000 }, () => ({ op: "test", path: "/data/a", value: "b" })));
  const rows: LargeRequest[] = [];
  const add = (what: string, request: BenchRequest, before: readonly BenchRequest[] = []): void =>
    void rows.push({ what, request, before });
  const gone = (path: string): BenchRequest[] => [remove(path)];

  add(
    "ConfigMap, one string of 250 KiB, JSON",
    post(maps, map("large", { x: "x".repeat(250 << 10) })),
    gone(`${maps}/large`),
  );
  add("ConfigMap, 4,000 keys, JSON", post(maps, map("large", some)), gone(`${maps}/large`));
  add("ConfigMap, 16,000 keys, JSON", post(maps, map("large", many)), gone(`${maps}/large`));
  add("ConfigMap, 4,000 keys, YAML", post(maps, mapYaml("large", some), yaml), gone(`${maps}/large`));
  add("ConfigMap, 16,000 keys, YAML", post(maps, mapYaml("large", many), yaml), gone(`${maps}/large`));
  add("ConfigMap, YAML of 3 MiB (too large to store)", post(maps, mapYaml("large", strings(55_000)), yaml));
  add("ConfigMap, JSON of 3 MiB (too large to store)", post(maps, map("large", strings(50_000))));
  add("get of 16,000 keys, YAML", get(`${maps}/many`, yaml), ready("many", many));
  add(
    "get of 16,000 keys, Table in YAML",
    get(`${maps}/many`, "application/yaml;as=Table;v=v1;g=meta.k8s.io"),
    ready("many", many),
  );
  add("get of 16,000 keys, protobuf", get(`${maps}/many`, "application/vnd.kubernetes.protobuf"), ready("many", many));
  add("get of 16,000 keys, CBOR", get(`${maps}/many`, "application/cbor"), ready("many", many));
  add(
    "update of 4,000 keys",
    { ...post(`${maps}/large`, map("large", { ...some, y: "1" })), method: "PUT" },
    ready("large", some),
  );
  add(
    "update of 16,000 keys",
    { ...post(`${maps}/large`, map("large", { ...many, y: "1" })), method: "PUT" },
    ready("large", many),
  );
  add(
    "merge patch of 4,000 keys",
    patch(`${maps}/large`, JSON.stringify({ data: some }), "merge-patch+json"),
    ready("large", {}),
  );
  add(
    "merge patch of 16,000 keys",
    patch(`${maps}/large`, JSON.stringify({ data: many }), "merge-patch+json"),
    ready("large", {}),
  );
  add(
    "small merge patch of 16,000 keys",
    patch(`${maps}/large`, '{"data":{"a":"b"}}', "merge-patch+json"),
    ready("large", many),
  );
  add(
    "strategic merge patch of 16,000 keys",
    patch(`${maps}/large`, JSON.stringify({ data: many }), "strategic-merge-patch+json"),
    ready("large", {}),
  );
  add(
    "JSON Patch, 4,000 operations",
    patch(`${maps}/large`, operations(4_000, "v"), "json-patch+json"),
    ready("large", { a: "b" }),
  );
  add(
    "JSON Patch, 10,000 operations",
    patch(`${maps}/large`, operations(10_000, "v"), "json-patch+json"),
    ready("large", { a: "b" }),
  );
  add("JSON Patch, 10,000 tests", patch(`${maps}/large`, tests, "json-patch+json"), ready("large", { a: "b" }));
  add("JSON Patch, 300,000 items", patch(`${maps}/large`, wideArray, "json-patch+json"), ready("large", { a: "b" }));
  add(
    "JSON Patch, 60,000 operations",
    patch(`${maps}/large`, operations(60_000, "v"), "json-patch+json"),
    ready("large", { a: "b" }),
  );
  add(
    "apply of 4,000 keys",
    patch(`${maps}/large?fieldManager=m&force=true`, mapYaml("large", some), "apply-patch+yaml"),
    ready("large", {}),
  );
  add(
    "apply of 16,000 keys",
    patch(`${maps}/large?fieldManager=m&force=true`, mapYaml("large", many), "apply-patch+yaml"),
    ready("large", {}),
  );
  add("Pod, 400 containers", post(pods, pod(400)), gone(`${pods}/large?gracePeriodSeconds=0`));
  add("Pod, 1,600 containers", post(pods, pod(1_600)), gone(`${pods}/large?gracePeriodSeconds=0`));
  add(
    "apply to a Pod, 400 containers",
    patch(`${pods}/large?fieldManager=m&force=true`, pod(400), "apply-patch+yaml"),
    [remove(`${pods}/large?gracePeriodSeconds=0`), post(pods, pod(400))],
  );
  add("ClusterRole, 3,000 rules", post(roles, role(3_000)), gone(`${roles}/large`));
  add("ClusterRole, 12,000 rules", post(roles, role(12_000)), gone(`${roles}/large`));
  const goneDefinition = gone(`${definitions}/things.large.example`);
  add("CustomResourceDefinition of 250 KiB", post(definitions, definition(900)), goneDefinition);
  add("CustomResourceDefinition of 1 MiB", post(definitions, definition(3_600)), goneDefinition);
  add("custom object of 900 fields", post(things, thing(900)), gone(`${things}/large`));
  add("custom object of 3,600 fields", post(things, thing(3_600)), gone(`${things}/large`));
  add("OpenAPI v2, JSON, after a definition changed", get("/openapi/v2"), [
    ...goneDefinition,
    post(definitions, definition(100)),
  ]);
  add(
    "OpenAPI v2, protobuf, after a definition changed",
    get("/openapi/v2", "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"),
    [...goneDefinition, post(definitions, definition(100))],
  );
  add("OpenAPI v2, JSON", get("/openapi/v2"));
  add("OpenAPI v3 of core, JSON", get("/openapi/v3/api/v1"));
  add(
    "OpenAPI v3 of core, protobuf",
    get("/openapi/v3/api/v1", "application/com.github.proto-openapi.spec.v3.v1.0+protobuf"),
  );
  add("OpenAPI v3 of a large definition", get("/openapi/v3/apis/large.example/v1"), [
    ...goneDefinition,
    post(definitions, definition(3_600)),
  ]);
  add("aggregated discovery", get("/apis", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"));
  const table = "as=Table;v=v1;g=meta.k8s.io";
  for (const [form, accept] of [
    ["JSON", json],
    ["YAML", yaml],
    ["Table", `${json};${table}`],
    ["Table in YAML", `${yaml};${table}`],
    ["protobuf", "application/vnd.kubernetes.protobuf"],
    ["CBOR", "application/cbor"],
  ] as const)
    rows.push({ what: `list of 3,000 objects, ${form}`, request: get(`${maps}?labelSelector=list`, accept) });
  add("list of all definitions, YAML", get(definitions, yaml), [
    ...goneDefinition,
    post(definitions, definition(3_600)),
  ]);
  return rows;
}
