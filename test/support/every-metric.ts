/** Every metric of the server, with a sample: calls each function that records one. */

import { systemClock } from "../../src/apimachinery/clock.ts";
import type { Resolved } from "../../src/catalog/contract.ts";
import type { FlowControlObserver } from "../../src/flow-control/contract.ts";
import type { ApiServiceView } from "../../src/forwarding/aggregator/contract.ts";
import { admissionMetrics } from "../../src/metrics/admission-metrics.ts";
import { aggregationMetrics } from "../../src/metrics/aggregation-metrics.ts";
import { allocatorMetrics } from "../../src/metrics/allocator-metrics.ts";
import { auditMetrics } from "../../src/metrics/audit-metrics.ts";
import { authenticationMetrics } from "../../src/metrics/authentication-metrics.ts";
import { authorizationMetrics } from "../../src/metrics/authorization-metrics.ts";
import { cacheMetrics } from "../../src/metrics/cache-metrics.ts";
import { callMetrics } from "../../src/metrics/call-metrics.ts";
import { certificateMetrics, handshakeMetrics } from "../../src/metrics/certificate-metrics.ts";
import { configurationMetrics } from "../../src/metrics/configuration-metrics.ts";
import { conversionMetrics } from "../../src/metrics/conversion-metrics.ts";
import { defaultMetricsOptions } from "../../src/metrics/default-options.ts";
import { encryptionMetrics } from "../../src/metrics/encryption-metrics.ts";
import { etcdMetrics } from "../../src/metrics/etcd-metrics.ts";
import { eventLoopMetric } from "../../src/metrics/event-loop-metric.ts";
import type { Metric } from "../../src/metrics/exposition.ts";
import { externalSignerMetrics } from "../../src/metrics/external-signer-metrics.ts";
import { flowControlMetrics } from "../../src/metrics/flow-control-metrics.ts";
import { healthMetrics } from "../../src/metrics/health-metrics.ts";
import { impersonationMetrics } from "../../src/metrics/impersonation-metrics.ts";
import { jwtMetrics } from "../../src/metrics/jwt-metrics.ts";
import { kubeletMetrics } from "../../src/metrics/kubelet-metrics.ts";
import { leaderElectionMetrics } from "../../src/metrics/leader-election-metrics.ts";
import { manifestMetrics } from "../../src/metrics/manifest-metrics.ts";
import { createMetrics, type Metrics } from "../../src/metrics/metrics.ts";
import { peerMetrics } from "../../src/metrics/peer-metrics.ts";
import { podSecurityMetrics } from "../../src/metrics/pod-security-metrics.ts";
import { policyMetrics } from "../../src/metrics/policy-metrics.ts";
import { queueMetrics } from "../../src/metrics/queue-metrics.ts";
import { reloadMetrics } from "../../src/metrics/reload-metrics.ts";
import { serviceAccountMetrics } from "../../src/metrics/service-account-metrics.ts";
import { shownMetrics } from "../../src/metrics/shown-metrics.ts";
import { signingRequestMetrics } from "../../src/metrics/signing-request-metrics.ts";
import { tokenMetrics } from "../../src/metrics/token-metrics.ts";
import { tracingMetrics } from "../../src/metrics/tracing-metrics.ts";
import { unexpectedErrors } from "../../src/metrics/unexpected-errors.ts";
import { validationMetrics } from "../../src/metrics/validation-metrics.ts";
import { webhookMetrics } from "../../src/metrics/webhook-metrics.ts";
import type { AdmissionAttributes } from "../../src/registry/admission-attributes.ts";
import type { RequestState } from "../../src/request/context.ts";
import type { PeerCertificate } from "../../src/request/exchange.ts";
import { requestInfo } from "../../src/request/request-info.ts";
import { readWaitBounds } from "../../src/watch-cache/counts.ts";

const unavailable: ApiServiceView = {
  name: "v1.example.com",
  group: "example.com",
  version: "v1",
  uid: "",
  resourceVersion: "1",
  service: undefined,
  caBundle: "",
  insecureSkipTlsVerify: false,
  groupPriorityMinimum: 1,
  versionPriority: 1,
  isAvailable: false,
};

const clock = systemClock;
const auditCounts = { events: 1, rejected: 1, levels: new Map([["Metadata", 1]]), errors: new Map([["log", 1]]) };

/** Collects every metric with at least one sample. */
export async function everyMetric(): Promise<Metric[]> {
  return [
    ...(await serverMetrics()),
    ...(await accessMetrics()),
    ...settingsMetrics(),
    ...admissionMetricsOfAllKinds(),
    ...extensionMetrics(),
    ...cacheAndQueueMetrics(),
    ...loopMetric(),
    ...otherMetrics(),
  ];
}

/** Of requests, watches and the process, and those about metrics. */
async function serverMetrics(): Promise<Metric[]> {
  const all: Metric[] = [];
  const keep = (metrics: readonly Metric[]): Metric[] => {
    const shown = shownMetrics(defaultMetricsOptions, new Map(), { info() {}, warn() {}, error() {} })(metrics);
    all.push(...shown, ...metrics.filter((metric) => !shown.includes(metric)));
    return shown;
  };
  const objectCounts = () => [[{ group: "", resource: "pods" }, 1]] as const;
  const own = createMetrics(
    clock,
    { audit: auditCounts, objectCounts, cacheRevisions: objectCounts, storageSizesBytes: async () => [1], build: {} },
    keep,
  );
  serveRequests(own);
  abortRequest(own);
  own.watches.counterOf("", "v1", "pods")([1]);
  own.watches.cutOff("", "pods");
  own.watches.listed(pods("GET", "/api/v1/pods?watch=1"));
  await own.handler({ exchange: { respond() {} }, auditId: "" } as unknown as RequestState);
  return all;
}

function serveRequests({ requests }: Metrics): void {
  for (const [method, path] of [
    ["GET", "/api/v1/pods/x"],
    ["GET", "/api/v1/pods?watch=1"],
    ["POST", "/api/v1/pods"],
  ] as const) {
    let close: () => void = () => {};
    const context = pods(method, path, (run) => {
      close = run;
    });
    void requests.filter(context);
    if (!path.includes("watch")) close();
  }
}

function pods(method: string, target: string, onClose: (run: () => void) => void = () => {}): RequestState {
  const deprecated = { since: "1.1", removedIn: "1.2" };
  const resolved = {
    resource: { definition: { group: "", resource: "pods" } },
    version: { version: "v1", subresources: [], deprecated },
  };
  const exchange = { method, target, status: 200, sentBytes: 1, receivedBytes: 1, header: () => undefined, onClose };
  const info = requestInfo(method, target);
  return { exchange, info, receivedAt: 0, resolved: resolved as unknown as Resolved } as unknown as RequestState;
}

function abortRequest({ requests }: Metrics): void {
  let abort: () => void = () => {};
  const aborted = {
    method: "GET",
    target: "/livez",
    status: 0,
    sentBytes: 0,
    receivedBytes: -1,
    header: () => undefined,
    onClose: (run: () => void) => {
      abort = run;
    },
  };
  const context = { exchange: aborted, info: requestInfo("GET", "/livez"), receivedAt: 0 } as unknown as RequestState;
  void requests.filter(context);
  abort();
  requests.terminated(context);
}

async function accessMetrics(): Promise<Metric[]> {
  const authentication = authenticationMetrics(clock);
  await authentication.around(() => {})({ user: { name: "a" } } as RequestState);
  const authorization = authorizationMetrics();
  authorization.attempted({ decision: "allow", reason: "" }, 1);
  authorization.decisions("RBAC", "rbac").allowed++;
  authorization.webhookCalled("w", "success", 1);
  authorization.webhookFailedOpen("w", "error");
  for (const outcome of ["excluded", "failed"] as const) authorization.conditionsEvaluated("w", outcome, 1);
  const jwt = jwtMetrics({ clock, identity: "x", keySets: true });
  jwt.observer.checked("i", true, 1);
  jwt.observer.fetchedKeys("i", Buffer.from("{}"));
  const tokens = tokenMetrics();
  tokens.observer.hit();
  const certificates = certificateMetrics(clock);
  certificates.observe({ expiresAt: 0 } as PeerCertificate);
  const impersonation = impersonationMetrics();
  impersonation.attempted("", false, 1);
  impersonation.authorized("legacy", true, 1);
  const parts = [authentication, authorization, jwt, tokens, certificates, impersonation, serviceAccountMetrics()];
  return [
    ...parts.flatMap((part) => [...part.collect()]),
    ...handshakeMetrics(() => 1)(),
    ...auditMetrics(auditCounts),
  ];
}

/** Of reloaded files, gates and health. */
function settingsMetrics(): Metric[] {
  const reloads = (["authentication", "authorization", "encryption"] as const).flatMap((part) => {
    const metrics = reloadMetrics(part, { clock, identity: "x" });
    metrics.started(Buffer.from("x"));
    metrics.succeeded(Buffer.from("y"));
    return metrics.collect();
  });
  const manifests = manifestMetrics({ clock, identity: "x" });
  manifests.loaded("MutatingAdmissionPolicy", "sha256:0");
  manifests.failed("MutatingAdmissionPolicy");
  const health = healthMetrics();
  health.observe("ping", "livez", true);
  const configuration = configurationMetrics([{ name: "A", stage: "BETA" }], { enabled: () => true }, "lmdb");
  return [...reloads, ...manifests.collect(), ...health.collect(), ...configuration];
}

function admissionMetricsOfAllKinds(): Metric[] {
  const admission = admissionMetrics();
  admission.plugins(["NamespaceLifecycle"], "admit").accepted("CREATE", 0, 1);
  admission.step("validate")("DELETE", true, 1);
  const policies = policyMetrics();
  const labels = { policy: "p", binding: "b", errorType: "no_error" } as const;
  policies.validated(labels, "deny", 1);
  policies.mutated(labels, 1);
  const owner = { name: "p", kind: "policy", type: "validate" } as const;
  policies.evaluated(owner, "CREATE", 1);
  policies.failed(owner, "CREATE");
  policies.excluded(owner, "CREATE");
  const podSecurity = podSecurityMetrics(36);
  const target = { resource: { definition: { resource: "pods" } } };
  podSecurity.failed(true, { operation: "CREATE", subresource: "", target } as unknown as AdmissionAttributes);
  const webhooks = webhookMetrics();
  const call = { name: "w", type: "admit", operation: "CREATE" } as const;
  webhooks.observer.called(call, { seconds: 1, code: 200, rejected: false });
  webhooks.observer.rejected(call, "no_error", 400);
  webhooks.observer.failedOpen(call);
  const validation = validationMetrics();
  validation.mismatched("pod_create", 2);
  validation.panic("pod_create");
  const signingRequests = signingRequestMetrics();
  signingRequests.issued("other", true);
  return [admission, policies, podSecurity, webhooks, validation, signingRequests].flatMap((part) => [
    ...part.collect(),
  ]);
}

/** Of APIServices, peers, kubelets and conversion. */
function extensionMetrics(): Metric[] {
  const aggregation = aggregationMetrics(() => [unavailable]);
  aggregation.observer.unavailable(unavailable.name, "FailedDiscoveryCheck");
  aggregation.observer.aggregated();
  const conversion = conversionMetrics();
  conversion.observer.called(undefined, 1);
  conversion.observer.converted("d", "v1", "v2", true, 1);
  const peers = peerMetrics();
  const name = { group: "", version: "v1", resource: "pods" };
  peers.observer.forwarded(200, name);
  peers.observer.notForwarded("endpoint_resolution", name);
  peers.observer.discoveryFailed("hostport_resolution");
  const kubelets = kubeletMetrics();
  kubelets.logRequested("enforce_tls");
  kubelets.streamsRequested("exec", "translated_at_apiserver");
  kubelets.translated(200);
  kubelets.tunneled(200);
  return [aggregation, conversion, peers, kubelets].flatMap((part) => [...part.collect()]);
}

function loopMetric(): Metric[] {
  const loop = eventLoopMetric();
  loop.blocked(0.3);
  return loop.collect();
}

function cacheAndQueueMetrics(): Metric[] {
  const cache = {
    capacity: 1,
    loads: 1,
    received: 1,
    dispatched: 1,
    storedLists: 1,
    storedObjects: 1,
    decodeErrors: 1,
    consistentReads: { cache: { succeeded: 1, failed: 1 }, store: { succeeded: 1, failed: 1 } },
    listed: 1,
    lists: new Map([["f:x", { lists: 1, fetched: 1 }]]),
    waits: [...readWaitBounds.map(() => 1), 1],
    waitedSeconds: 9,
    checks: { success: 1, failure: 1, error: 1 },
    shardWatches: 1,
    shardWatchesStarted: 1,
    excludedByShard: 1,
  };
  const queues = queueMetrics(() => 0);
  queues.observers("q").added()()();
  const caches = cacheMetrics(() => [[{ group: "", resource: "pods" }, cache]]);
  return [...caches(), ...queues.collect(), ...etcdMetricsOfAllKinds(), ...allocatorMetricsOfAllKinds()];
}

function allocatorMetricsOfAllKinds(): Metric[] {
  const { observer, portRepair, collect } = allocatorMetrics();
  const use = { allocated: 1, available: 1 };
  observer.follow(() => ({ addresses: new Map([["10.0.0.0/24", use]]), ports: use }));
  observer.addressAllocated("10.0.0.0/24", "static", 1);
  observer.addressFailed("10.0.0.0/24", "dynamic");
  observer.portAllocated("static");
  observer.portFailed("dynamic");
  portRepair.found("leak");
  return collect();
}

function etcdMetricsOfAllKinds(): Metric[] {
  const etcd = etcdMetrics(() => 0);
  etcd.observer.requested("get", "/registry/pods/a/b")(false);
  etcd.observer.subscribed("/registry/pods/")();
  etcd.observer.leased(1);
  etcd.observer.memberSize("http://127.0.0.1:2379", 1);
  return etcd.collect();
}

/** Of calls to other servers, flow control, elections, unexpected errors and the external signer. */
function otherMetrics(): Metric[] {
  const calls = callMetrics();
  calls.observer.sent("h", { bytes: 1, attempt: 2, status: 200 });
  calls.observer.ended("h", { seconds: 1, answerBytes: 1 });
  const flowControl = flowControlMetrics(() => 0);
  observeFlowControl(flowControl.observer);
  const elections = leaderElectionMetrics();
  elections.isLeader("l", true);
  elections.slowPath("l");
  const unexpected = unexpectedErrors({ info() {}, warn() {}, error() {} });
  const signer = externalSignerMetrics(clock);
  signer.observer.called("Sign", "OK", 1);
  signer.observer.signed("OK");
  signer.observer.fetchedKeys("OK", 1);
  const tracing = tracingMetrics();
  tracing.ended("exported", 1);
  const encryption = encryptionMetrics({ clock, identity: "x" });
  encryption.observer.transformed("secrets", "to_storage", "k8s:enc:aesgcm:v1:", 0.1, "OK");
  encryption.observer.keyMissed();
  encryption.observer.keyGenerated(0.1);
  encryption.observer.called("vault", "/v2.KeyManagementService/Status", "OK", 0.1);
  encryption.observer.keyUsed("to_storage", "vault", "first");
  encryption.observer.keyNamed("vault", "first");
  encryption.observer.keyRejected("vault", "empty");
  encryption.observer.keysPresent("vault", 1);
  encryption.observer.arrived("to_storage");
  return [calls, flowControl, elections, unexpected, signer, encryption, tracing].flatMap((part) => [
    ...part.collect(),
  ]);
}

/** Calls every function once. */
function observeFlowControl(observer: FlowControlObserver): void {
  const times = { current: 1, dispatch: 1, latestStart: 1, nextStartMin: 1, nextStartMax: 1 };
  const level = observer.level("l", () => ({ ...times, discountedMin: 1, discountedMax: 1 }));
  const demand = { demandAverage: 1, demandDeviation: 1, demandHighWatermark: 1, demandSmoothed: 1 };
  level.configured({ nominal: 1, min: 1, max: 1 }, 1);
  level.adjusted({ current: 1, denominator: 1, target: 1, ...demand });
  level.seatDemand(1, 0);
  level.seatsInUse(1, 0);
  level.requests("waiting", 1, 0);
  level.epochAdvance();
  const schema = level.schema("s");
  schema.estimated(1);
  schema.watchCount(1);
  schema.queueLength(1);
  schema.waiting(1, 1);
  schema.waited(1, true);
  schema.noAccommodation();
  schema.dispatched();
  schema.executing(1);
  schema.seatsInUse(1);
  schema.executed(1, "watch");
  schema.rejected("queue-full");
  observer.fairFraction(1);
  observer.capacity(1, 1);
  observer.waiting("mutating", 1);
  observer.executing("readOnly", 1);
}
