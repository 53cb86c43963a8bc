/**
 * Writes random objects of every stored built-in kind, at every version that is read from storage, for main.go:
 *   node cases.ts SEED COUNT_OF_EACH_SERVED_VERSION COUNT_OF_EACH_OTHER_VERSION
 */
import { formatGroupVersion, parseGroupVersion } from "../../../../src/apimachinery/object.ts";
import { builtinSchema, definitionOf } from "../../../../src/catalog/builtin-schemas.ts";
import { readResourcesTable } from "../../../../src/catalog/resources-table.ts";
import { storedDefinitionOf, storedKinds } from "../../../../src/catalog/stored-kinds.ts";
import { wrapInEnvelope } from "../../../../src/lib/protobuf/envelope.ts";
import { encodeObject } from "../../../../src/lib/schema/encode.ts";
import type { Struct } from "../../../../src/lib/schema/schema.ts";
import { randomObject } from "../../../../test/support/random-object.ts";
import { seededRandom } from "../../../../test/support/seeded-random.ts";

const [seed = "1", served = "1", stored = "4"] = process.argv.slice(2);
const random = seededRandom(Number(seed));
const disruptionKey = "pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match";
const storageVersions = new Map<string, string>();

/** Forms that conversions treat specially, and random objects rarely have. */
const specialForms: Readonly<Record<string, readonly object[]>> = {
  "apiextensions.k8s.io/v1beta1/CustomResourceDefinition": [
    {
      spec: {
        group: "x.io",
        version: "v1",
        names: { kind: "Foo", plural: "foos" },
        conversion: { strategy: "Webhook" },
      },
    },
    {
      spec: {
        group: "x.io",
        versions: ["v1", "v2"].map((name) => ({ name, served: true, storage: name === "v2" })),
        validation: { openAPIV3Schema: { type: "object", properties: { a: { type: "string", default: "b" } } } },
        additionalPrinterColumns: [{ name: "A", type: "string", JSONPath: ".a" }],
        subresources: { status: {} },
      },
    },
  ],
  "certificates.k8s.io/v1beta1/CertificateSigningRequest": [
    { spec: {}, status: { conditions: [{ type: "Approved" }] } },
  ],
  "discovery.k8s.io/v1beta1/EndpointSlice": [
    {
      endpoints: [
        {
          addresses: ["a"],
          nodeName: "n",
          topology: { "topology.kubernetes.io/zone": "z", "kubernetes.io/hostname": "n" },
        },
        { addresses: ["b"], nodeName: "n", topology: { "kubernetes.io/hostname": "m", other: "x" } },
      ],
    },
  ],
  "networking.k8s.io/v1beta1/Ingress": [
    {
      spec: {
        backend: { serviceName: "s", servicePort: 80 },
        rules: [{ http: { paths: [{ backend: { serviceName: "t", servicePort: "web" } }] } }],
      },
    },
  ],
  "policy/v1beta1/PodDisruptionBudget": [
    { spec: { selector: {} } },
    { spec: { selector: { matchExpressions: [{ key: disruptionKey, operator: "DoesNotExist" }] } } },
    { spec: { selector: { matchLabels: { [disruptionKey]: "a", b: "c" } } } },
  ],
  "rbac.authorization.k8s.io/v1alpha1/ClusterRoleBinding": [
    {
      roleRef: { kind: "ClusterRole", name: "r" },
      subjects: [
        { kind: "User", name: "*" },
        { kind: "User", name: "u" },
        { kind: "Group", name: "g" },
        { kind: "ServiceAccount", name: "s", namespace: "n" },
        { kind: "Other", name: "o", apiVersion: "x.io/v1" },
      ],
    },
  ],
};

interface Case {
  readonly apiVersion: string;
  readonly kind: string;
  readonly storageVersion: string;
}

/** An object with only a name, and random ones. */
function writeObjects(one: Case, schema: Struct, count: number): void {
  const special = specialForms[`${one.apiVersion}/${one.kind}`] ?? [];
  const objects = [{}, ...special, ...Array.from({ length: count }, () => randomObject(schema, random))];
  for (const object of objects) {
    const named: Record<string, unknown> = { ...object, ...one, metadata: { name: "a", namespace: "b" } };
    // Upstream sets an absent time to the current one.
    if (one.kind === "DeviceTaintRule") named.spec = { taint: { key: "k", timeAdded: "2020-01-01T00:00:00Z" } };
    const json = encodeObject(named, schema).json.toString();
    process.stdout.write(`${JSON.stringify(one).slice(0, -1)},"object":${json}}\n`);
  }
}

for (const { group, kind, storage, versions } of readResourcesTable().resources) {
  if (storage === undefined || storage.kind !== kind) continue;
  const storageVersion = formatGroupVersion(storage.group, storage.version);
  if (storage.group === group) storageVersions.set(kind, storageVersion);
  for (const { version } of versions) {
    const schema = builtinSchema(definitionOf(group, version, kind) as string);
    writeObjects({ apiVersion: formatGroupVersion(group, version), kind, storageVersion }, schema, Number(served));
  }
}
for (const key of storedKinds()) {
  const [, apiVersion = "", kind = ""] = /^(.*)\/([^/]+)$/.exec(key) ?? [];
  const { group, version } = parseGroupVersion(apiVersion) as { group: string; version: string };
  const schema = builtinSchema(storedDefinitionOf(group, version, kind) as string);
  const storageVersion = storageVersions.get(kind) as string;
  writeObjects({ apiVersion, kind, storageVersion }, schema, Number(stored));
}

const configMap = { apiVersion: "v1", kind: "ConfigMap", storageVersion: "v1" };
const inProtobuf = (kind: string, apiVersion: string, message: readonly number[]): Buffer =>
  wrapInEnvelope(apiVersion, kind, Buffer.from(message));
const text = '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"},"data":{"b":"c"}}';
/** Values of a ConfigMap in other encodings, and damaged ones. */
const values: readonly (Buffer | string)[] = [
  text,
  ` \n${text}\n`,
  text.replace('"data"', '"unknown":[{}],"data"'),
  text.replace('"b":"c"', '"b":"c","b":"d"'),
  "kind: ConfigMap\napiVersion: v1\nmetadata: {name: a}\ndata: {b: c}\n",
  Buffer.from(text).toString("base64"),
  inProtobuf("ConfigMap", "v1", []).toString("base64"),
  inProtobuf("ConfigMap", "v1", [0x0a, 0x03, 0x0a, 0x01, 0x61]),
  inProtobuf("", "v1", [0x0a, 0x03, 0x0a, 0x01, 0x61]),
  inProtobuf("ConfigMap", "v1", [0xf8, 0x3f, 0x01, 0x0a, 0x03, 0x0a, 0x01, 0x61]),
  inProtobuf("ConfigMap", "", []),
  inProtobuf("ConfigMap", "v9", []),
  inProtobuf("Secret", "v1", []),
  inProtobuf("Nope", "v1", []),
  inProtobuf("Deployment", "extensions/v1beta1", []),
  inProtobuf("CustomResourceDefinition", "apiextensions.k8s.io/v1", []),
  inProtobuf("ConfigMap", "v1", [0x0a]),
  inProtobuf("ConfigMap", "v1", [0x08, 0x01]),
  inProtobuf("ConfigMap", "v1", [0x0a, 0x7f]),
  inProtobuf("ConfigMap", "v1", []).subarray(0, 9),
  "k8s\0",
  "k8s\0\u0001",
  "",
  "garbage",
  "not base64!",
  "{",
  "{}x",
  "[]",
  Buffer.from([0xd9, 0xd9, 0xf7, 0xa0]),
  Buffer.from([0xff]),
  '{"kind":"Secret","apiVersion":"v1"}',
  '{"kind":"Nope","apiVersion":"v1"}',
  '{"kind":"ConfigMap","apiVersion":"v9"}',
  '{"kind":"ConfigMap","apiVersion":"a/b/c"}',
  '{"kind":"ConfigMap","apiVersion":"v1","data":1}',
  '{"kind":"ConfigMap","apiVersion":"v1","data":{"a":1}}',
  '{"kind":1}',
];
for (const value of values)
  process.stdout.write(`${JSON.stringify({ ...configMap, stored: Buffer.from(value).toString("base64") })}\n`);
