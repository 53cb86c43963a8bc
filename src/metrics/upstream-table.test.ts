/** Every metric is in upstream's table with the same type, stability, labels and buckets. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { AdmissionAttributes } from "../admission/contract.ts";
import type { ApiServiceView } from "../aggregator/contract.ts";
import { systemClock } from "../apimachinery/clock.ts";
import type { Resolved } from "../catalog/contract.ts";
import type { FlowControlObserver } from "../flow-control/contract.ts";
import type { PeerCertificate, RequestContext } from "../http/contract.ts";
import { requestInfo } from "../http/request-info.ts";
import { readWaitBounds } from "../watch-cache/counts.ts";
import { admissionMetrics } from "./admission-metrics.ts";
import { aggregationMetrics } from "./aggregation-metrics.ts";
import { auditMetrics } from "./audit-metrics.ts";
import { authenticationMetrics } from "./authentication-metrics.ts";
import { authorizationMetrics } from "./authorization-metrics.ts";
import { cacheMetrics } from "./cache-metrics.ts";
import { callMetrics } from "./call-metrics.ts";
import { certificateMetrics, handshakeMetrics } from "./certificate-metrics.ts";
import { conversionMetrics } from "./conversion-metrics.ts";
import { formatLabels, type Metric } from "./exposition.ts";
import { featureMetrics } from "./feature-metrics.ts";
import { flowControlMetrics } from "./flow-control-metrics.ts";
import { healthMetrics } from "./health-metrics.ts";
import { impersonationMetrics } from "./impersonation-metrics.ts";
import { jwtMetrics } from "./jwt-metrics.ts";
import { leaderElectionMetrics } from "./leader-election-metrics.ts";
import { manifestMetrics } from "./manifest-metrics.ts";
import { createMetrics } from "./metrics.ts";
import { defaultMetricsOptions } from "./options.ts";
import { podSecurityMetrics } from "./pod-security-metrics.ts";
import { policyMetrics } from "./policy-metrics.ts";
import { queueMetrics } from "./queue-metrics.ts";
import { reloadMetrics } from "./reload-metrics.ts";
import { serviceAccountMetrics } from "./service-account-metrics.ts";
import { shownMetrics } from "./shown-metrics.ts";
import { tokenMetrics } from "./token-metrics.ts";
import { validationMetrics } from "./validation-metrics.ts";
import { webhookMetrics } from "./webhook-metrics.ts";

interface Row {
  readonly type: string;
  readonly stability: string;
  readonly labels?: readonly string[];
  readonly deprecatedSince?: string;
  readonly buckets?: readonly number[];
}

/**
 * A name from the documentation of the feature gate DeclarativeValidation, which the code of 1.36
 * does not use.
 */
const documented: Readonly<Record<string, Row>> = {
  declarative_validation_mismatch_total: { type: "counter", stability: "BETA" },
};
/** Labels with one value, which the table does not have. */
const constantLabels: Readonly<Record<string, readonly string[]>> = {
  apiserver_flowcontrol_priority_level_seat_utilization: ["phase"],
};
const table: Readonly<Record<string, Row>> = JSON.parse(
  readFileSync(join(import.meta.dirname, "testdata/upstream-metrics.json"), "utf8"),
);

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

/** Collects every metric with at least one sample. */
async function everyMetric(): Promise<Metric[]> {
  const clock = systemClock;
  const counts = { events: 1, rejected: 1, levels: new Map([["Metadata", 1]]), errors: new Map([["log", 1]]) };
  const all: Metric[] = [];
  const keep = (metrics: readonly Metric[]): Metric[] => {
    const shown = shownMetrics(defaultMetricsOptions, new Map(), { info() {}, warn() {}, error() {} })(metrics);
    all.push(...shown, ...metrics.filter((metric) => !shown.includes(metric)));
    return shown;
  };
  const own = createMetrics(
    clock,
    {
      audit: counts,
      objectCounts: () => [[{ group: "", resource: "pods" }, 1, 1]],
      storageSizeBytes: () => 1,
      build: {},
    },
    keep,
  );
  for (const [method, path] of [
    ["GET", "/api/v1/pods/x"],
    ["GET", "/api/v1/pods?watch=1"],
    ["POST", "/api/v1/pods"],
  ] as const) {
    let close: () => void = () => {};
    const resolved = {
      resource: { definition: { group: "", resource: "pods" } },
      version: { version: "v1", subresources: [], deprecated: { since: "1.1", removedIn: "1.2" } },
    };
    const exchange = {
      method,
      target: path,
      status: 200,
      sentBytes: 1,
      receivedBytes: 1,
      header: () => undefined,
      onClose: (run: () => void) => (close = run),
    };
    void own.requests.filter({
      exchange,
      info: requestInfo(method, path),
      receivedAt: 0,
      resolved: resolved as unknown as Resolved,
    } as unknown as RequestContext);
    if (!path.includes("watch")) close();
  }
  let abort: () => void = () => {};
  const aborted = {
    method: "GET",
    target: "/livez",
    status: 0,
    sentBytes: 0,
    receivedBytes: -1,
    header: () => undefined,
    onClose: (run: () => void) => (abort = run),
  };
  void own.requests.filter({
    exchange: aborted,
    info: requestInfo("GET", "/livez"),
    receivedAt: 0,
  } as unknown as RequestContext);
  abort();
  own.requests.terminated({
    exchange: aborted,
    info: requestInfo("GET", "/livez"),
    receivedAt: 0,
  } as unknown as RequestContext);
  own.watches.counterOf("", "v1", "pods")([1]);
  own.watches.cutOff("", "pods");
  own.watches.listed({
    exchange: { method: "GET", header: () => undefined },
    info: requestInfo("GET", "/api/v1/pods?watch=1"),
    receivedAt: 0,
    resolved: {
      resource: { definition: { group: "", resource: "pods" } },
      version: { version: "v1", subresources: [] },
    },
  } as unknown as RequestContext);
  const collect = { exchange: { respond() {} }, auditId: "" } as unknown as RequestContext;
  own.handler(collect);
  const authentication = authenticationMetrics(clock);
  await authentication.around(() => {})({ user: { name: "a" } } as RequestContext);
  const policies = policyMetrics();
  const labels = { policy: "p", binding: "b", errorType: "no_error" } as const;
  policies.validated(labels, "deny", 1);
  policies.mutated(labels, 1);
  const owner = { name: "p", kind: "policy", type: "validate" } as const;
  policies.evaluated(owner, "CREATE", 1);
  policies.failed(owner, "CREATE");
  policies.excluded(owner, "CREATE");
  const podSecurity = podSecurityMetrics(36);
  const attributes = {
    operation: "CREATE",
    subresource: "",
    target: { resource: { definition: { resource: "pods" } } },
  } as unknown as AdmissionAttributes;
  podSecurity.failed(true, attributes);
  const authorization = authorizationMetrics();
  authorization.attempted({ decision: "allow", reason: "" }, 1);
  authorization.decisions("RBAC", "rbac").allowed++;
  authorization.webhookCalled("w", "success", 1);
  authorization.webhookFailedOpen("w", "error");
  for (const outcome of ["excluded", "failed"] as const) authorization.conditionsEvaluated("w", outcome, 1);
  const webhooks = webhookMetrics();
  const call = { name: "w", type: "admit", operation: "CREATE" } as const;
  webhooks.observer.called(call, { seconds: 1, code: 200, rejected: false });
  webhooks.observer.rejected(call, "no_error", 400);
  webhooks.observer.failedOpen(call);
  all.push(...webhooks.collect());
  const aggregation = aggregationMetrics(() => [unavailable]);
  aggregation.observer.unavailable(unavailable.name, "FailedDiscoveryCheck");
  aggregation.observer.aggregated();
  all.push(...aggregation.collect());
  const conversion = conversionMetrics();
  conversion.observer.called(undefined, 1);
  conversion.observer.converted("d", "v1", "v2", true, 1);
  const jwt = jwtMetrics({ clock, identity: "x", keySets: true });
  jwt.observer.checked("i", true, 1);
  jwt.observer.fetchedKeys("i", Buffer.from("{}"));
  const tokens = tokenMetrics();
  tokens.observer.hit();
  const reloads = (["authentication", "authorization"] as const).flatMap((part) => {
    const metrics = reloadMetrics(part, { clock, identity: "x" });
    metrics.started(Buffer.from("x"));
    metrics.succeeded(Buffer.from("y"));
    return metrics.collect();
  });
  const manifests = manifestMetrics({ clock, identity: "x" });
  manifests.loaded("MutatingAdmissionPolicy", "sha256:0");
  manifests.failed("MutatingAdmissionPolicy");
  const certificates = certificateMetrics(clock);
  certificates.observe({ expiresAt: 0 } as PeerCertificate);
  const health = healthMetrics();
  health.observe("ping", "livez", true);
  const admission = admissionMetrics();
  admission.plugin("NamespaceLifecycle", "admit")("CREATE", false, 0);
  admission.step("validate")("DELETE", true, 1);
  const impersonation = impersonationMetrics();
  impersonation.attempted("", false, 1);
  impersonation.authorized("legacy", true, 1);
  const numbers = {
    loads: 1,
    received: 1,
    dispatched: 1,
    storedLists: 1,
    storedObjects: 1,
    decodeErrors: 1,
    consistentReads: 2,
    consistentFailures: 1,
    listed: 1,
  };
  const cache = {
    ...numbers,
    lists: new Map([["f:x", { lists: 1, fetched: 1 }]]),
    waits: [...readWaitBounds.map(() => 1), 1],
    waitedSeconds: 9,
    shardWatches: 1,
    shardWatchesStarted: 1,
    excludedByShard: 1,
  };
  const caches = { collect: cacheMetrics(() => [[{ group: "", resource: "pods" }, cache]], readWaitBounds) };
  const calls = callMetrics();
  calls.observer.sent("h", { bytes: 1, attempt: 2, status: 200 });
  calls.observer.ended("h", { seconds: 1, answerBytes: 1 });
  const queues = queueMetrics(() => 0);
  queues.observers("q").added()()();
  const flowControl = flowControlMetrics(() => 0);
  observeFlowControl(flowControl.observer);
  const elections = leaderElectionMetrics();
  elections.isLeader("l", true);
  elections.slowPath("l");
  const validation = validationMetrics();
  validation.mismatched("pod_create", 2);
  validation.panic("pod_create");
  const others = [
    flowControl,
    elections,
    validation,
    manifests,
    calls,
    queues,
    caches,
    impersonation,
    admission,
    health,
    certificates,
    serviceAccountMetrics(),
    authentication,
    authorization,
    policies,
    podSecurity,
    conversion,
    jwt,
    tokens,
  ].flatMap((part) => part.collect());
  return [
    ...all,
    ...others,
    ...handshakeMetrics(() => 1)(),
    ...reloads,
    ...auditMetrics(counts),
    featureMetrics([{ name: "A", stage: "BETA" }], { enabled: () => true }),
  ];
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

const labelNames = (labels: string): string[] =>
  [...labels.matchAll(/(\w+)="(?:[^"\\]|\\.)*"/g)].map(([, name]) => name as string);

test("metrics have upstream's type, stability, labels, buckets and deprecation", async () => {
  const metrics = (await everyMetric()).filter(({ name }) => !name.startsWith("process_"));
  assert.ok(metrics.length > 40);
  for (const { name, type, stability, deprecatedSince, samples } of metrics) {
    const row = table[name] ?? documented[name];
    assert.ok(row !== undefined, `${name} is not upstream's`);
    assert.deepEqual([name, type, stability, deprecatedSince], [name, row.type, row.stability, row.deprecatedSince]);
    const [sample] = samples;
    assert.ok(sample !== undefined, `${name} has no sample`);
    const bounds = samples
      .filter(({ suffix }) => suffix === "_bucket")
      .map(({ labels }) => Number(/le="([^"]*)"/.exec(labels)?.[1]));
    if (row.buckets !== undefined)
      assert.deepEqual([name, ...new Set(bounds.filter((bound) => !Number.isNaN(bound)))], [name, ...row.buckets]);
    const names = labelNames(sample.labels).filter((label) => label !== "le");
    assert.deepEqual(
      [name, ...names.sort()],
      [name, ...(row.labels ?? []), ...(constantLabels[name] ?? [])].sort((a, b) =>
        a === name ? -1 : b === name ? 1 : a < b ? -1 : 1,
      ),
    );
  }
});

test("parses encoded label values", () =>
  assert.deepEqual(labelNames(formatLabels(["a", "b"], ['"x="', "\\"])), ["a", "b"]));
