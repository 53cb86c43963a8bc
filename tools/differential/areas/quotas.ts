/** ResourceQuotas and LimitRanges, whose status a client writes: no controller does it. */
import type { Area, Step } from "../contract.ts";
import type { Random } from "../random.ts";
import { kindOf } from "../samples.ts";
import { patchTypes, query } from "./steps.ts";

const core = "/api/v1/namespaces/$ns";

export const quotas: Area = {
  name: "quotas",
  make(random) {
    const steps: Step[] = random.chance(0.7) ? quota("q", random) : [];
    if (random.chance(0.2)) steps.push(...quota("r", random));
    if (random.chance(0.6)) steps.push(limitRange(random));
    steps.push(...settled());
    for (let times = 6 + random.below(6); times > 0; times--) steps.push(operation(random));
    return [...steps, { method: "GET", path: `${core}/resourcequotas` }];
  },
};

const hards: readonly Record<string, string>[] = [
  { pods: "2", "requests.cpu": "1", "limits.memory": "1Gi" },
  { configmaps: "2", "count/secrets": "1" },
  { services: "1", "services.nodeports": "1", "services.loadbalancers": "0" },
  {
    persistentvolumeclaims: "1",
    "requests.storage": "5Gi",
    "gold.storageclass.storage.k8s.io/requests.storage": "1Gi",
  },
  { "count/deployments.apps": "1", "requests.example.com/gpu": "1" },
  { cpu: "500m", memory: "100Mi", "ephemeral-storage": "1Gi" },
  { pods: "0" },
];
const scopes: readonly object[] = [
  { scopes: ["BestEffort"] },
  { scopes: ["NotTerminating"] },
  { scopeSelector: { matchExpressions: [{ scopeName: "PriorityClass", operator: "Exists" }] } },
];

function quota(name: string, random: Random): Step[] {
  const hard = random.pick(hards);
  const isPods = hard.pods !== undefined && Object.keys(hard).length === 1;
  const spec = { hard, ...(isPods && random.chance(0.5) && random.pick(scopes)) };
  const used = Object.fromEntries(Object.keys(hard).map((key) => [key, "0"]));
  const isKnown = random.chance(0.9);
  return [
    { method: "POST", path: `${core}/resourcequotas`, body: { metadata: { name }, spec } },
    ...(isKnown
      ? [
          {
            method: "PATCH",
            path: `${core}/resourcequotas/${name}/status`,
            headers: { "content-type": patchTypes.merge },
            body: { status: { hard, used } },
          },
        ]
      : []),
  ];
}

function limitRange(random: Random): Step {
  const limits = random.pick<object[]>([
    [{ type: "Container", default: { cpu: "500m" }, defaultRequest: { cpu: "100m", memory: "10Mi" } }],
    [{ type: "Container", max: { cpu: "1", memory: "1Gi" }, min: { cpu: "10m" }, maxLimitRequestRatio: { cpu: "4" } }],
    [{ type: "Pod", max: { cpu: "2" }, maxLimitRequestRatio: { memory: "2" } }],
    [{ type: "PersistentVolumeClaim", max: { storage: "2Gi" }, min: { storage: "1Gi" } }],
    [
      { type: "Container", max: { cpu: "1" } },
      { type: "Pod", max: { memory: "1Gi" } },
    ],
  ]);
  return { method: "POST", path: `${core}/limitranges`, body: { metadata: { name: "l" }, spec: { limits } } };
}

/** Admission reads quotas and ranges from caches: objects of other namespaces do not show when they arrive. */
function settled(): Step[] {
  return [];
}

function operation(random: Random): Step {
  const name = random.pick(["a", "b", "c", "d"]);
  const dry = query(random.chance(0.1) && "dryRun=All");
  const roll = random.below(12);
  const post = (path: string, body: object): Step => ({ method: "POST", path: `${path}${dry}`, body });
  if (roll < 4) return post(`${core}/pods`, podOf(name, random));
  if (roll < 5) return post(`${core}/configmaps`, { metadata: { name } });
  if (roll < 6) return post(`${core}/secrets`, { metadata: { name } });
  if (roll < 7)
    return post(`${core}/services`, {
      metadata: { name },
      spec: {
        type: random.pick(["ClusterIP", "NodePort", "LoadBalancer", "ExternalName"]),
        externalName: "a.b",
        ports: [{ port: 80 }],
      },
    });
  if (roll < 8)
    return post(`${core}/persistentvolumeclaims`, {
      metadata: { name },
      spec: {
        accessModes: ["ReadWriteOnce"],
        storageClassName: random.pick(["gold", "silver"]),
        resources: { requests: { storage: random.pick(["1Gi", "500Mi", "3Gi", "1e9"]) } },
      },
    });
  if (roll < 9)
    return post("/apis/apps/v1/namespaces/$ns/deployments", {
      ...kindOf("deployments").samples[0]?.object,
      metadata: { name },
    });
  if (roll < 10)
    return {
      method: "DELETE",
      path: `${core}/${random.pick(["pods", "configmaps", "services"])}/${name}?gracePeriodSeconds=0`,
    };
  if (roll < 11) return { method: "GET", path: `${core}/resourcequotas` };
  const resources = { requests: { cpu: random.pick(["50m", "2"]) } };
  return {
    method: "PATCH",
    path: `${core}/pods/${name}/resize`,
    headers: { "content-type": patchTypes.strategic },
    body: { spec: { containers: [{ name: "c", resources }] } },
  };
}

function podOf(name: string, random: Random): object {
  const amount = (): object | undefined =>
    random.pick<object | undefined>([
      undefined,
      undefined,
      { cpu: "100m" },
      { cpu: "2", memory: "1Mi" },
      { memory: "2Gi" },
      { cpu: "400m", memory: "500Mi" },
      { "example.com/gpu": "1" },
      { cpu: "1n" },
    ]);
  const resources = { requests: amount(), limits: amount() };
  const priorityClassName = random.chance(0.1) ? "system-cluster-critical" : undefined;
  return {
    metadata: { name },
    spec: {
      priorityClassName,
      containers: [{ name: "c", image: "i", resources }],
      ...(random.chance(0.2) && {
        initContainers: [{ name: "i", image: "i", resources: { requests: amount() } }],
        activeDeadlineSeconds: 5,
      }),
    },
  };
}
