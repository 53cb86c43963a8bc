/**
 * Objects and quotas whose status a controller computes. `tools/golden/server/quota-status.ts` records the status that
 * kube-controller-manager writes; a test compares it with that of this server.
 */
import { peerLatency } from "./peer-latency.ts";

// biome-ignore lint/suspicious/noExplicitAny: any object of any kind.
type Sent = Record<string, any>;
type Amounts = Readonly<Record<string, string>>;

/** Requests, and the status of all quotas of the namespace after them. */
interface Phase {
  readonly requests: readonly (readonly [line: string, body?: Sent])[];
}

export interface StatusScenario {
  readonly namespace: string;
  readonly phases: readonly Phase[];
}

/** By the name of the quota. */
export type Statuses = Readonly<Record<string, Sent>>;

/** Sends a request. @param body JSON text */
type SendText = (
  line: string,
  body?: string,
  headers?: Readonly<Record<string, string>>,
) => Promise<{ status: number; text: string }>;

/** @param settled waits until the status of all quotas of the namespace is complete after a phase */
export async function runStatusScenario(
  send: SendText,
  { namespace, phases }: StatusScenario,
  settled: (phase: number) => Promise<void>,
): Promise<Statuses[]> {
  await send("POST /api/v1/namespaces", JSON.stringify({ metadata: { name: namespace } }));
  const found: Statuses[] = [];
  for (const [index, { requests }] of phases.entries()) {
    for (const request of requests) await sendChange(send, request);
    await settled(index);
    found.push(await statusesOf(send, namespace));
  }
  return found;
}

/** By the name of the quota: the successive different values of `status.used`. */
export type UsedValues = Readonly<Record<string, readonly Amounts[]>>;

interface UsedSequenceOptions {
  /** Waits until the status that follows a request is complete. @param index of the request */
  settled(index: number): Promise<void>;
}

/**
 * Sends the requests of a scenario one after the other.
 * @returns the values that a watch reports, for each request
 */
export async function runUsedSequence(
  send: SendText,
  { namespace, phases }: StatusScenario,
  { settled }: UsedSequenceOptions,
): Promise<UsedValues[]> {
  await send("POST /api/v1/namespaces", JSON.stringify({ metadata: { name: namespace } }));
  const versions = [await listVersion(send, namespace)];
  for (const [index, request] of phases.flatMap(({ requests }) => requests).entries()) {
    await sendChange(send, request);
    await settled(index);
    versions.push(await listVersion(send, namespace));
  }
  const changes = await watchedChanges(send, namespace, versions[0] as number);
  return versions.slice(1).map((end, index) => {
    const start = versions[index] as number;
    const values: Record<string, Amounts[]> = {};
    for (const { version, name, used } of changes)
      if (version > start && version <= end) values[name] = [...(values[name] ?? []), used];
    return values;
  });
}

async function listVersion(send: SendText, namespace: string): Promise<number> {
  const { text } = await send(`GET ${core(namespace, "resourcequotas")}`);
  return Number(JSON.parse(text).metadata.resourceVersion);
}

interface UsedChange {
  readonly version: number;
  readonly name: string;
  readonly used: Amounts;
}

/** Reads past events; those that do not change the usage are left out. */
async function watchedChanges(send: SendText, namespace: string, from: number): Promise<UsedChange[]> {
  const query = `watch=1&resourceVersion=${from}&timeoutSeconds=1`;
  const { text } = await send(`GET ${core(namespace, "resourcequotas")}?${query}`);
  const latest = new Map<string, string>();
  return text
    .trim()
    .split("\n")
    .flatMap((line) => {
      const { metadata, status } = JSON.parse(line).object as Sent;
      const { name, resourceVersion } = metadata;
      const used = JSON.stringify(status.used);
      if (used === undefined || used === latest.get(name)) return [];
      latest.set(name, used);
      return [{ version: Number(resourceVersion), name, used: status.used }];
    });
}

async function sendChange(send: SendText, [line, body]: Phase["requests"][number]): Promise<void> {
  const type = line.startsWith("PATCH") ? "application/merge-patch+json" : "application/json";
  const answer = await send(line, body && JSON.stringify(body), { "content-type": type });
  if (answer.status >= 300) throw new Error(`${line}: ${answer.text}`);
}

const pauseMs = 25;

/** @returns the status of all quotas of the namespace */
export async function statusesOf(send: SendText, namespace: string): Promise<Statuses> {
  const { text } = await send(`GET /api/v1/namespaces/${namespace}/resourcequotas`);
  const { items } = JSON.parse(text) as { items: Sent[] };
  return Object.fromEntries(items.map(({ metadata, status }) => [metadata.name, status]));
}

/** Waits until the status of all quotas of the namespace has not changed for that long: for upstream's controller. */
export async function untilStatusSettles(send: SendText, namespace: string, settledMs: number): Promise<void> {
  let last = "";
  for (let unchangedMs = 0; unchangedMs < settledMs; unchangedMs += pauseMs) {
    await peerLatency(pauseMs);
    const statuses = await statusesOf(send, namespace);
    const now = JSON.stringify(statuses);
    const isComplete = Object.values(statuses).every(({ used }) => used !== undefined);
    if (now !== last || !isComplete) unchangedMs = 0;
    last = now;
  }
}

const core = (namespace: string, rest: string): string => `/api/v1/namespaces/${namespace}/${rest}`;

interface Place {
  create(resource: string, name: string, fields?: Sent, group?: string): [string, Sent];
  status(path: string, status: Sent): [string, Sent];
  patch(path: string, change: Sent): [string, Sent];
  remove(path: string): [string];
  quota(name: string, hard: Amounts, rest?: Sent): [string, Sent];
}

function place(namespace: string): Place {
  const create: Place["create"] = (resource, name, fields = {}, group = "/api/v1") => [
    `POST ${group}/namespaces/${namespace}/${resource}`,
    { ...fields, metadata: { ...fields.metadata, name } },
  ];
  return {
    create,
    status: (path, status) => [`PATCH ${core(namespace, path)}/status`, { status }],
    patch: (path, change) => [`PATCH ${core(namespace, path)}`, change],
    remove: (path) => [`DELETE ${core(namespace, path)}`],
    quota: (name, hard, rest = {}) => create("resourcequotas", name, { spec: { hard, ...rest } }),
  };
}

const scenario = (namespace: string, phases: (at: Place) => readonly Phase["requests"][]): StatusScenario => ({
  namespace,
  phases: phases(place(namespace)).map((requests) => ({ requests })),
});

const container = (requests: Amounts = {}, limits: Amounts = {}, rest: Sent = {}): Sent => ({
  name: "a",
  image: "image",
  resources: { requests, limits },
  ...rest,
});
const pod = (spec: Sent, requests?: Amounts, limits?: Amounts): Sent => ({
  spec: { containers: [container(requests, limits)], ...spec },
});
const claim = (storage: string, spec: Sent = {}): Sent => ({
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage } }, ...spec },
});
const service = (spec: Sent): Sent => ({ spec: { ports: [{ port: 80 }], ...spec } });
const template = { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "a", image: "image" }] } };

const podAmounts: Amounts = {
  ...{ pods: "20", "count/pods": "20", cpu: "100", memory: "100Gi", "requests.cpu": "100", "limits.memory": "100Gi" },
  ...{ "requests.ephemeral-storage": "10Gi", "requests.example.com/gpu": "10", "hugepages-2Mi": "1Gi" },
};
const scoped = (scopeName: string, operator: string, values?: readonly string[]): Sent => ({
  scopeSelector: { matchExpressions: [{ scopeName, operator, ...(values && { values }) }] },
});
const scopes: Readonly<Record<string, Sent>> = {
  terminating: { scopes: ["Terminating"] },
  "not-terminating": { scopes: ["NotTerminating"] },
  "best-effort": { scopes: ["BestEffort"] },
  "not-best-effort": { scopes: ["NotBestEffort"] },
  priority: { scopes: ["PriorityClass"] },
  affinity: { scopes: ["CrossNamespacePodAffinity"] },
  high: scoped("PriorityClass", "In", ["high"]),
  "not-high": scoped("PriorityClass", "NotIn", ["high"]),
  "no-priority": scoped("PriorityClass", "DoesNotExist"),
};
const foreign = {
  podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: "zone", namespaces: ["other"] }] },
};
const small: Amounts = { cpu: "100m", memory: "64Mi" };
const large: Amounts = { cpu: "1", memory: "1Gi" };
const gold = "gold.storageclass.storage.k8s.io/";
const perClass = "gpu.deviceclass.resource.k8s.io/devices";
const exactly = (count: number): Sent => ({
  spec: { devices: { requests: [{ name: "r", exactly: { deviceClassName: "gpu", count } }] } },
});

const resourcesInStatus = (allocated: string, requested: string, limit: string): Sent => ({
  containerStatuses: [
    {
      ...{ name: "a", image: "image", imageID: "id", ready: true, restartCount: 0, started: true },
      allocatedResources: { cpu: allocated, memory: "64Mi" },
      resources: { requests: { cpu: requested, memory: "64Mi" }, limits: { cpu: limit, memory: "1Gi" } },
    },
  ],
});

export const statusScenarios: readonly StatusScenario[] = [
  scenario("status-pods", ({ create, quota, status, patch, remove }) => [
    [
      create("pods", "a", pod({}, small, large)),
      create(
        "pods",
        "b",
        pod({ activeDeadlineSeconds: 100 }, { ...small, "example.com/gpu": "2" }, { ...large, "example.com/gpu": "2" }),
      ),
      create("pods", "c", pod({ initContainers: [{ ...container(large, large), name: "i" }] }, small, large)),
      create("pods", "d", pod({ priorityClassName: "high" })),
      create("pods", "e", pod({ affinity: foreign, priorityClassName: "low" }, { "ephemeral-storage": "1Gi" })),
      create("pods", "f", pod({}, { ...small, "hugepages-2Mi": "4Mi" }, { ...large, "hugepages-2Mi": "4Mi" })),
      quota("all", podAmounts),
      ...Object.entries(scopes).map(([name, selection]) =>
        quota(name, { pods: "10", ...(name !== "best-effort" && { "requests.cpu": "10" }) }, selection),
      ),
    ],
    [status("pods/a", { phase: "Succeeded" }), patch("pods/c", { spec: { activeDeadlineSeconds: 10 } })],
    [remove("pods/b?gracePeriodSeconds=0"), remove("pods/d?gracePeriodSeconds=0")],
    [
      patch("resourcequotas/all", {
        spec: { hard: { pods: "5", "count/configmaps": "3", "count/unknown.example.com": "1" } },
      }),
    ],
    [create("pods", "g", pod({}, large, large)), create("configmaps", "m")],
    [remove("pods/f?gracePeriodSeconds=0"), remove("configmaps/m"), remove("resourcequotas/priority")],
  ]),
  scenario("status-resize", ({ create, quota, status }) => [
    [
      create("pods", "a", pod({}, small, large)),
      quota("q", { "requests.cpu": "10", "limits.cpu": "10", "requests.memory": "10Gi" }),
      // Upstream counts the resources of the status only when they change.
      status("pods/a", resourcesInStatus("100m", "100m", "1")),
    ],
    [status("pods/a", resourcesInStatus("700m", "600m", "3"))],
    [status("pods/a", { phase: "Failed" })],
  ]),
  scenario("status-services", ({ create, quota, patch, remove }) => [
    [
      create("services", "plain", service({})),
      create("services", "node", service({ type: "NodePort" })),
      create(
        "services",
        "balanced",
        service({
          type: "LoadBalancer",
          ports: [
            { name: "a", port: 1 },
            { name: "b", port: 2 },
          ],
        }),
      ),
      quota("q", { services: "9", "count/services": "9", "services.nodeports": "9", "services.loadbalancers": "9" }),
    ],
    [patch("services/balanced", { spec: { type: "ClusterIP" } })],
    [patch("services/plain", { spec: { type: "NodePort" } })],
    [remove("services/node"), remove("services/plain")],
  ]),
  scenario("status-claims", ({ create, quota, status, remove }) => [
    [
      create("persistentvolumeclaims", "a", claim("1Gi")),
      create("persistentvolumeclaims", "b", claim("100.5", { storageClassName: "gold" })),
      create(
        "persistentvolumeclaims",
        "c",
        claim("1G", { storageClassName: "gold", volumeAttributesClassName: "fast" }),
      ),
      quota("q", {
        ...{ persistentvolumeclaims: "9", "count/persistentvolumeclaims": "9", "requests.storage": "9Gi" },
        ...{
          [`${gold}persistentvolumeclaims`]: "9",
          [`${gold}requests.storage`]: "9Gi",
          "other.storageclass.storage.k8s.io/requests.storage": "1",
        },
      }),
      quota("fast", { persistentvolumeclaims: "9" }, scoped("VolumeAttributesClass", "In", ["fast"])),
      quota("not-fast", { "requests.storage": "9Gi" }, scoped("VolumeAttributesClass", "NotIn", ["fast"])),
    ],
    [
      status("persistentvolumeclaims/a", {
        allocatedResources: { storage: "2Gi" },
        currentVolumeAttributesClassName: "fast",
      }),
    ],
    [remove("persistentvolumeclaims/c")],
  ]),
  scenario("status-devices", ({ create, quota, remove }) => [
    [
      [
        "POST /apis/resource.k8s.io/v1/deviceclasses",
        { metadata: { name: "gpu" }, spec: { extendedResourceName: "example.com/gpu" } },
      ],
      create("resourceclaims", "a", exactly(2), "/apis/resource.k8s.io/v1"),
      create("resourceclaims", "b", exactly(3), "/apis/resource.k8s.io/v1"),
      create("pods", "p", pod({}, { "example.com/gpu": "1" }, { "example.com/gpu": "1" })),
      quota("q", {
        ...{ "count/resourceclaims.resource.k8s.io": "9", [perClass]: "9", "requests.example.com/gpu": "9" },
        ...{ "requests.deviceclass.resource.kubernetes.io/gpu": "9" },
      }),
    ],
    [["DELETE /apis/resource.k8s.io/v1/namespaces/status-devices/resourceclaims/b"]],
    [remove("pods/p?gracePeriodSeconds=0")],
  ]),
  scenario("status-counts", ({ create, quota, remove }) => [
    [
      quota("scoped", { "count/configmaps": "9", "count/pods": "9" }, { scopes: ["NotTerminating"] }),
      create("configmaps", "a"),
      create("configmaps", "b"),
      create("secrets", "a"),
      create("replicationcontrollers", "a", { spec: { selector: { a: "b" }, template } }),
      create("deployments", "a", { spec: { selector: { matchLabels: { a: "b" } }, template } }, "/apis/apps/v1"),
      create("leases", "a", {}, "/apis/coordination.k8s.io/v1"),
      create("serviceaccounts", "a"),
      quota("q", {
        ...{ configmaps: "9", "count/configmaps": "9", secrets: "9", replicationcontrollers: "9", resourcequotas: "9" },
        ...{ "count/deployments.apps": "9", "count/leases.coordination.k8s.io": "9", "count/serviceaccounts": "9" },
        ...{ "count/events": "9", "count/services": "9", "count/absent.example.com": "9", "count/namespaces": "9" },
      }),
    ],
    [create("configmaps", "c"), create("secrets", "b")],
    [remove("configmaps/a"), remove("secrets/a"), remove("replicationcontrollers/a")],
    [["DELETE /apis/apps/v1/namespaces/status-counts/deployments/a?propagationPolicy=Background"]],
  ]),
];
