/**
 * Writes random objects of every kind that upstream prints, one JSON object a line, for main.go; the first line is the current time. Values are
 * words that printers handle: node objects.ts [COUNT_OF_EACH_KIND]
 */

import { formatGroupVersion } from "../../../../src/apimachinery/object.ts";
import { builtinConversions, strategiesWith } from "../../../../src/apis/index.ts";
import { builtinDefinitions, builtinVersions } from "../../../../src/catalog/builtin-definitions.ts";
import { parseRuntimeConfig } from "../../../../src/catalog/runtime-config.ts";
import { setMember } from "../../../../src/lib/json/values.ts";
import { conform } from "../../../../src/lib/schema/decode.ts";
import { encodeObject } from "../../../../src/lib/schema/encode.ts";
import type { Struct, Type } from "../../../../src/lib/schema/schema.ts";
import { seededRandom } from "../../../../test/support/seeded-random.ts";

const perKind = Number(process.argv[2] ?? 12);
const now = Date.now();
const day = 86_400;
/** Times whose ages stay the same while they are printed. */
const times = [10.5 * day, 400.5 * day, 3 * day + 45_000, 19_830, 1000 * day, 12_030].map(
  (seconds) => new Date(now - seconds * 1000),
);

const words: Readonly<Record<string, readonly string[]>> = {
  phase: [
    "Pending",
    "Running",
    "Succeeded",
    "Failed",
    "Unknown",
    "Active",
    "Terminating",
    "Bound",
    "Available",
    "Released",
    "Lost",
  ],
  reason: [
    "Error",
    "Completed",
    "CrashLoopBackOff",
    "PodInitializing",
    "NodeLost",
    "Evicted",
    "",
    "SchedulingGated",
    "OOMKilled",
  ],
  type: [
    ...[
      "Ready",
      "Complete",
      "Failed",
      "Suspended",
      "FailureTarget",
      "Initialized",
      "Approved",
      "Denied",
      "Issued",
      "Running",
      "Succeeded",
    ],
    ...[
      "ClusterIP",
      "NodePort",
      "LoadBalancer",
      "ExternalName",
      "InternalIP",
      "ExternalIP",
      "Hostname",
      "Limited",
      "Exempt",
      "Normal",
      "Warning",
    ],
    ...["Resource", "Pods", "Object", "External", "ContainerResource", "Utilization", "Value", "AverageValue"],
    ...["PodGroupScheduled", "DisruptionTarget", "FileSystemResizePending"],
  ],
  status: ["True", "True", "False", "Unknown"],
  restartPolicy: ["Always", "Never", "OnFailure"],
  clusterIP: ["", "None", "10.0.0.1"],
  clusterIPs: ["None", "10.0.0.1", "fd00::1"],
  ip: ["1.2.3.4", "fd00::1", ""],
  hostname: ["", "h.example", "a-very-long-host-name.example.com"],
  host: ["a.example", "", "*"],
  protocol: ["TCP", "UDP", "SCTP"],
  address: ["10.1.1.1", "node-a", ""],
  accessModes: ["ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod"],
  name: ["a", "b", "c", "web", "sidecar"],
  operator: ["In", "NotIn", "Exists", "DoesNotExist"],
  resource: ["cpu", "memory", "pods"],
  volumeMode: ["Filesystem", "Block"],
  message: ["hello", " padded \n", "two\nlines"],
  kind: ["Pod", "Deployment", "Node", ""],
};

const keys: Readonly<Record<string, readonly string[]>> = {
  labels: ["node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/", "kubernetes.io/role", "app"],
  annotations: [
    "storageclass.kubernetes.io/is-default-class",
    "volume.beta.kubernetes.io/storage-class",
    "kubernetes.io/ingress.class",
  ],
  capacity: ["storage", "cpu"],
  requests: ["storage", "cpu"],
  hard: ["pods", "requests.cpu", "limits.memory", "cpu"],
  used: ["pods", "requests.cpu"],
};

/** Fields that printers ignore. */
const left = new Set([
  "managedFields",
  "ownerReferences",
  "volumes",
  "affinity",
  "securityContext",
  "env",
  "envFrom",
  "lifecycle",
  "stringData",
  "tolerations",
  "topologySpreadConstraints",
  "volumeMounts",
  "livenessProbe",
  "readinessProbe",
  "startupProbe",
]);

type Random = (below: number) => number;

function pick<Item>(random: Random, list: readonly Item[]): Item {
  return list[random(list.length)] as Item;
}

function randomValue(name: string, type: Type, random: Random, depth: number): unknown {
  switch (type.kind) {
    case "string":
      return pick(random, words[name] ?? ["a", "text", "b-2", ""]);
    case "int32":
    case "int64":
      return pick(random, [0, 1, 2, 5, 80, 100]);
    case "bool":
      return random(2) === 0;
    case "double":
      return 1.5;
    case "bytes":
      return Buffer.from(pick(random, ["a", "hello"])).toString("base64");
    case "time":
      return `${pick(random, times).toISOString().slice(0, 19)}Z`;
    case "microtime":
      return `${pick(random, times).toISOString().slice(0, 19)}.000000Z`;
    case "duration":
      return "1m0s";
    case "quantity":
      return pick(random, ["0", "1", "100m", "1536Mi", "10Gi", "1500m", "2k"]);
    case "intOrString":
      return pick(random, [80, 0, "25%"]);
    case "struct":
      return objectOf(type, random, depth);
    case "list":
      return Array.from({ length: depth > 0 ? random(random(4) === 0 ? 5 : 3) : 0 }, () =>
        randomValue(name, type.items, random, depth),
      );
    case "map": {
      const map = {};
      for (let count = depth > 0 ? random(4) : 0; count > 0; count--)
        setMember(map, pick(random, keys[name] ?? ["a", "b", "é"]), randomValue("", type.values, random, depth));
      return map;
    }
    case "any":
      return { a: 1 };
  }
}

function objectOf(schema: Struct, random: Random, depth: number): Record<string, unknown> {
  const object: Record<string, unknown> = {};
  for (const { name, type } of schema.fields) {
    if (left.has(name) || (random(depth > 5 ? 8 : 4) === 0 && name !== "protocol")) continue;
    if (depth > 0 || type.kind !== "struct") object[name] = randomValue(name, type, random, depth - 1);
  }
  return object;
}

const definitions = builtinDefinitions({
  strategies: strategiesWith({ eventTtlSeconds: 3600 }),
  conversions: builtinConversions,
  served: parseRuntimeConfig("api/all=true", builtinVersions()),
});

console.log(JSON.stringify({ now }));
for (const { group, kind, storage } of definitions) {
  if (storage === undefined || storage.group !== group || /^api(?:extensions|registration)\./.test(group)) continue;
  for (let seed = 1; seed <= perKind; seed++) {
    const object = conform(objectOf(storage.schema, seededRandom(seed), 8), storage.schema).object;
    object.metadata = { ...(object.metadata as object | undefined), name: "x" };
    Object.assign(object, { kind, apiVersion: formatGroupVersion(group, storage.version) });
    console.log(encodeObject(object, storage.schema).json.toString());
  }
}
