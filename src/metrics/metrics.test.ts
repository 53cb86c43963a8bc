import assert from "node:assert/strict";
import { test } from "node:test";
import { ask } from "../../test/support/request-context.ts";
import type { Clock } from "../apimachinery/clock.ts";
import type { Resolved, ResourceDefinition, ServedVersion } from "../catalog/contract.ts";
import type { RequestContext } from "../http/contract.ts";
import { formatGoFloat } from "../lib/json/go-value.ts";
import type { Exchange } from "../request/exchange.ts";
import { requestInfo } from "../request/request-info.ts";
import { formatLabels } from "./exposition.ts";
import { createMetrics, type Metrics } from "./metrics.ts";

/** A clock that only `advance` moves. */
function ownClock(): Clock & { advance(ms: number): void } {
  let now = 1_000_000;
  return {
    now: () => now,
    after: () => () => {},
    advance(ms) {
      now += ms;
    },
  };
}

const sources = {
  audit: { events: 0, rejected: 0, levels: new Map(), errors: new Map() },
  objectCounts: () =>
    [
      [{ group: "", resource: "configmaps" }, 3],
      [{ group: "apps", resource: "deployments" }, 2_000_000],
    ] as const,
  cacheRevisions: () =>
    [
      [{ group: "", resource: "configmaps" }, 17],
      [{ group: "apps", resource: "deployments" }, 18],
    ] as const,
  storageSizesBytes: async () => [4096],
  build: { major: "1", minor: "36" },
};

interface TestRequest {
  readonly method?: string;
  readonly path: string;
  readonly deprecatedIn?: string;
  readonly status?: number;
  readonly bytes?: number;
  /** The size of the request body. */
  readonly received?: number;
  readonly ms?: number;
  /** The request is terminated because of its timeout. */
  readonly isTerminated?: true;
}

/** Passes a request through the filter. @returns a function that ends the request */
function begin(metrics: Metrics, clock: ReturnType<typeof ownClock>, request: TestRequest): () => void {
  const info = requestInfo(request.method ?? "GET", request.path);
  const closing: (() => void)[] = [];
  const exchange = {
    method: request.method ?? "GET",
    target: request.path,
    receivedBytes: request.received ?? -1,
    status: request.status ?? 200,
    sentBytes: request.bytes ?? 0,
    header: () => undefined,
    onClose: (run: () => void) => closing.push(run),
  } as unknown as Exchange;
  const version = {
    version: info.version,
    subresources: [{ name: "status" }],
    ...(request.deprecatedIn !== undefined && { deprecated: { since: "1.1", removedIn: request.deprecatedIn } }),
  };
  const resolved = {
    resource: { definition: { group: info.group, resource: info.resource } as ResourceDefinition },
    version: version as unknown as ServedVersion,
  };
  const context = {
    exchange,
    info,
    resolved: info.isResourceRequest ? (resolved as Resolved) : undefined,
    receivedAt: clock.now(),
  } as RequestContext;
  void metrics.requests.filter(context);
  if (request.isTerminated) metrics.requests.terminated(context);
  return () => {
    clock.advance(request.ms ?? 0);
    for (const run of closing) run();
  };
}

async function scrape(metrics: Metrics): Promise<string> {
  return (await ask(metrics.handler, { path: "/metrics" })).body.toString();
}

const configMaps = 'group="",version="v1",resource="configmaps",subresource=""';
const rows: [what: string, request: TestRequest, lines: string[]][] = [
  [
    "a get",
    { path: "/api/v1/namespaces/a/configmaps/b", bytes: 1300, ms: 30 },
    [
      `apiserver_request_total{verb="GET",dry_run="",${configMaps},scope="resource",component="apiserver",code="200"} 1`,
      `apiserver_request_duration_seconds_bucket{verb="GET",dry_run="",${configMaps},scope="resource",component="apiserver",le="0.025"} 0`,
      `apiserver_request_duration_seconds_bucket{verb="GET",dry_run="",${configMaps},scope="resource",component="apiserver",le="0.05"} 1`,
      `apiserver_request_duration_seconds_bucket{verb="GET",dry_run="",${configMaps},scope="resource",component="apiserver",le="+Inf"} 1`,
      `apiserver_request_duration_seconds_sum{verb="GET",dry_run="",${configMaps},scope="resource",component="apiserver"} 0.03`,
      `apiserver_request_sli_duration_seconds_bucket{verb="GET",${configMaps},scope="resource",component="apiserver",le="0.05"} 1`,
      `apiserver_request_sli_duration_seconds_sum{verb="GET",${configMaps},scope="resource",component="apiserver"} 0.03`,
      `apiserver_response_sizes_bucket{verb="GET",${configMaps},scope="resource",component="apiserver",le="1000"} 0`,
      `apiserver_response_sizes_bucket{verb="GET",${configMaps},scope="resource",component="apiserver",le="1e+06"} 1`,
    ],
  ],
  [
    "a dry-run create",
    { method: "POST", path: "/api/v1/namespaces/a/configmaps?dryRun=All", status: 201 },
    [
      `apiserver_request_total{verb="POST",dry_run="All",${configMaps},scope="resource",component="apiserver",code="201"} 1`,
    ],
  ],
  [
    "a create whose dryRun has no value",
    { method: "POST", path: "/api/v1/namespaces/a/configmaps?dryRun", status: 201 },
    [
      `apiserver_request_total{verb="POST",dry_run="",${configMaps},scope="resource",component="apiserver",code="201"} 1`,
    ],
  ],
  [
    "a create with an invalid dryRun",
    { method: "POST", path: "/api/v1/namespaces/a/configmaps?dryRun=some", status: 400 },
    [
      `apiserver_request_total{verb="POST",dry_run="invalid",${configMaps},scope="resource",component="apiserver",code="400"} 1`,
    ],
  ],
  [
    "a list in a namespace",
    { path: "/api/v1/namespaces/a/configmaps" },
    [
      `apiserver_request_total{verb="LIST",dry_run="",${configMaps},scope="namespace",component="apiserver",code="200"} 1`,
    ],
  ],
  [
    "an unknown subresource",
    { path: "/api/v1/namespaces/a/configmaps/b/made-up", status: 404 },
    [
      `apiserver_request_total{verb="GET",dry_run="",${configMaps},scope="resource",component="apiserver",code="404"} 1`,
    ],
  ],
  [
    "a connection that the client closed before the response",
    { path: "/api/v1/namespaces/a/configmaps/b", status: 0 },
    [`apiserver_request_aborts_total{verb="GET",${configMaps},scope="resource"} 1`],
  ],
  [
    "health",
    { path: "/livez/ping" },
    [
      'apiserver_request_total{verb="GET",dry_run="",group="",version="",resource="",subresource="/livez",scope="",component="",code="200"} 1',
    ],
  ],
  [
    "a deprecated version",
    { path: "/apis/x.k8s.io/v1beta1/things", deprecatedIn: "1.37" },
    [
      'apiserver_requested_deprecated_apis{group="x.k8s.io",version="v1beta1",resource="things",subresource="",removed_release="1.37"} 1',
    ],
  ],
];
for (const [what, request, lines] of rows) {
  test(`metrics: ${what}`, async () => {
    const clock = ownClock();
    const metrics = createMetrics(clock, sources);
    begin(metrics, clock, request)();
    const text = await scrape(metrics);
    for (const line of lines) assert.ok(text.includes(`${line}\n`), `${line}\nnot in\n${text}`);
    assert.ok(!text.includes("made-up"));
  });
}

test("metrics: SLI durations merge the buckets of request durations", async () => {
  const clock = ownClock();
  const metrics = createMetrics(clock, sources);
  for (const [ms, path] of [
    [1, "?"],
    [26, "?"],
    [30, "?dryRun=All"],
    [55, "?"],
    [70_000, "?"],
  ] as const)
    begin(metrics, clock, { method: "POST", path: `/api/v1/namespaces/a/configmaps${path}`, ms })();
  begin(metrics, clock, { path: "/api/v1/configmaps?watch=1", ms: 100 })();
  const text = await scrape(metrics);
  const series = `{verb="POST",${configMaps},scope="resource",component="apiserver"`;
  for (const line of [
    `_bucket${series},le="0.05"} 2`,
    `_bucket${series},le="0.1"} 3`,
    `_bucket${series},le="60"} 3`,
    `_bucket${series},le="+Inf"} 4`,
    `_count${series}} 4`,
  ])
    assert.ok(text.includes(`apiserver_request_sli_duration_seconds${line}\n`), line);
  assert.ok(!text.includes('apiserver_request_sli_duration_seconds_count{verb="WATCH"'));
});

test("metrics: body sizes of writes, values of fieldValidation, and terminated requests", async () => {
  const clock = ownClock();
  const metrics = createMetrics(clock, sources);
  const object = "/api/v1/namespaces/a/configmaps/b";
  const requests: TestRequest[] = [
    { method: "PUT", path: `${object}?fieldValidation=Strict`, received: 50_000 },
    { method: "PUT", path: `${object}?fieldValidation=Odd`, received: 50_001 },
    { method: "PATCH", path: object, received: 0 },
    { method: "DELETE", path: object },
    { method: "GET", path: object, received: 7 },
    { method: "GET", path: object, isTerminated: true },
    { method: "POST", path: "/nowhere", isTerminated: true },
  ];
  for (const request of requests) begin(metrics, clock, request)();
  const text = await scrape(metrics);
  for (const line of [
    'apiserver_request_body_size_bytes_bucket{group="",resource="configmaps",verb="update",le="50000"} 1',
    'apiserver_request_body_size_bytes_count{group="",resource="configmaps",verb="update"} 2',
    'apiserver_request_body_size_bytes_count{group="",resource="configmaps",verb="patch"} 1',
    'field_validation_request_duration_seconds_count{field_validation=""} 0',
    'field_validation_request_duration_seconds_count{field_validation="Strict"} 0',
    'apiserver_request_terminations_total{verb="GET",group="",version="v1",resource="configmaps",subresource="",scope="resource",component="apiserver",code="504"} 1',
    'apiserver_request_terminations_total{verb="POST",group="",version="",resource="",subresource="/nowhere",scope="",component="apiserver",code="504"} 1',
  ])
    assert.ok(text.includes(`${line}\n`), line);
  assert.doesNotMatch(text, /Odd|verb="delete"|body_size.*verb="get"/);
});

test("metrics: gauges of current requests", async () => {
  const clock = ownClock();
  const metrics = createMetrics(clock, sources);
  const watch = `apiserver_longrunning_requests{verb="WATCH",${configMaps},scope="cluster",component="apiserver"}`;
  const ends = [
    begin(metrics, clock, { path: "/api/v1/configmaps?watch=1" }),
    begin(metrics, clock, { path: "/api/v1/configmaps?watch=1" }),
    begin(metrics, clock, { path: "/api/v1/configmaps" }),
    begin(metrics, clock, { method: "PUT", path: "/api/v1/namespaces/a/configmaps/b" }),
  ];
  const during = await scrape(metrics);
  assert.ok(during.includes(`${watch} 2\n`));
  for (const end of ends) end();
  const after = await scrape(metrics);
  assert.ok(!after.includes(watch));
});

test("metrics: watch events, storage and process; sorted by name, with help and type", async () => {
  const metrics = createMetrics(ownClock(), sources);
  metrics.watches.counterOf("", "v1", "configmaps")([100, 2000]);
  metrics.watches.counterOf("", "v1", "configmaps")([1024, 1025, 200_000]);
  const text = await scrape(metrics);
  for (const line of [
    'apiserver_watch_events_total{group="",version="v1",resource="configmaps"} 5',
    'apiserver_watch_events_sizes_bucket{group="",version="v1",resource="configmaps",le="1024"} 2',
    'apiserver_watch_events_sizes_bucket{group="",version="v1",resource="configmaps",le="131072"} 4',
    'apiserver_watch_events_sizes_sum{group="",version="v1",resource="configmaps"} 204149',
    'apiserver_storage_objects{resource="deployments.apps"} 2e+06',
    'apiserver_resource_objects{group="",resource="configmaps"} 3',
    'apiserver_storage_size_bytes{storage_cluster_id="etcd-0"} 4096',
    'apiserver_watch_cache_resource_version{group="apps",resource="deployments"} 18',
  ])
    assert.ok(text.includes(`${line}\n`), line);
  assert.match(text, /^process_resident_memory_bytes \d/m);
  const names = [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name);
  assert.deepEqual(names, [...names].sort());
  assert.equal([...text.matchAll(/^# HELP /gm)].length, names.length);
});

const numberRows: [number, string][] = [
  [0, "0"],
  [1.5, "1.5"],
  [999_999, "999999"],
  [1e6, "1e+06"],
  [1_234_567, "1.234567e+06"],
  [0.00001, "1e-05"],
  [Number.POSITIVE_INFINITY, "+Inf"],
];
for (const [value, want] of numberRows)
  test(`metrics: ${value} is formatted as ${want}`, () => assert.equal(formatGoFloat(value), want));

test("metrics: label values are escaped", () => assert.equal(formatLabels(["a"], ['\\ " \n']), 'a="\\\\ \\" \\n"'));
