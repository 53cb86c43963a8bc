/**
 * `/metrics` of a real server: names, types and stability are upstream's, and the options select
 * what is exposed.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import type { Logger } from "../../src/apimachinery/logger.ts";
import type { MetricsOptions } from "../../src/metrics/contract.ts";
import { defaultMetricsOptions } from "../../src/metrics/default-options.ts";
import { eventually } from "../../src/testing/eventually.ts";
import { rawClient } from "../support/raw-client.ts";
import { startServerWithClient } from "../support/server-with-client.ts";
import { startTestServer } from "../support/start-test-server.ts";

interface Row {
  readonly type: string;
  readonly stability: string;
}

const table: Readonly<Record<string, Row>> = JSON.parse(
  readFileSync(join(import.meta.dirname, "../../src/metrics/testdata/upstream-metrics.json"), "utf8"),
);

const { server, client: admin } = await startServerWithClient();

async function scrape(client = admin): Promise<string> {
  const answer = await client.send({ path: "/metrics" });
  assert.equal(answer.status, 200);
  assert.match(answer.headers["process-start-time-unix"] as string, /^\d{10}$/);
  return answer.text;
}

function seriesValue(text: string, series: string): number {
  return Number(
    text
      .split("\n")
      .find((line) => line.startsWith(`${series} `))
      ?.slice(series.length + 1),
  );
}

/**
 * Metrics that upstream does not document: those of processes and of logs, for which see
 * k8s.io/kubernetes@v1.36.0/pkg/registry/core/pod/rest/metrics.go, one of the specification, and this server's own.
 */
const unlisted = /^(process_|coxswain_|kube_apiserver_pod_logs_|declarative_validation_mismatch_total$)/;

test("every metric has the type and stability of upstream, and each series is exposed once", async () => {
  await admin.send({ path: "/api/v1/namespaces" });
  await admin.send({ path: "/api/v1/endpoints" });
  await admin.send({
    method: "POST",
    path: "/api/v1/namespaces/default/configmaps",
    body: { metadata: { name: "a" } },
  });
  const text = await scrape();
  const series = new Set<string>();
  let name = "";
  for (const line of text.trimEnd().split("\n")) {
    const [, comment, metric, rest = ""] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? [];
    if (metric !== undefined && comment === "HELP") {
      name = metric;
      const row = table[name];
      assert.ok(row !== undefined || unlisted.test(name), name);
      if (row !== undefined) assert.ok(rest.startsWith(`[${row.stability}] `), line);
    } else if (metric !== undefined) assert.deepEqual([metric, rest], [name, table[name]?.type ?? rest]);
    else {
      const [, key = "", value = ""] = /^([a-z_0-9]+(?:\{(?:\w+="(?:[^"\\]|\\.)*",?)*\})?) (\S+)$/.exec(line) ?? [];
      assert.ok(
        key.startsWith(name) && !series.has(key) && !Number.isNaN(Number(value.replace("+Inf", "Infinity"))),
        line,
      );
      series.add(key);
    }
  }
  assert.ok(series.size > 100);
});

test("counts authentication attempts and authenticated users", async () => {
  const counted = async (): Promise<Record<string, number>> => {
    const text = await scrape();
    return Object.fromEntries(
      [
        'authentication_attempts{result="success"}',
        'authentication_attempts{result="error"}',
        'authenticated_user_requests{username="other"}',
        'authenticated_user_requests{username="email_id"}',
        'authentication_duration_seconds_count{result="success"}',
      ].map((one) => [one, seriesValue(text, one) || 0]),
    );
  };
  const before = await counted();
  const user = rawClient((await server.as("ann@example.com")).kubeconfig);
  await user.send({ path: "/version" });
  user.close();
  await admin.send({ path: "/version", anonymous: true });
  await admin.send({ path: "/version", anonymous: true, headers: { authorization: "Bearer wrong" } });
  const now = await counted();
  const more = Object.keys(now).map((one) => (now[one] as number) - (before[one] as number));
  assert.deepEqual(more, [3, 1, 2, 1, 3]); // The second scrape counts, too.
});

test("counts impersonation attempts", async () => {
  const impersonations: Record<string, string>[] = [
    { "impersonate-user": "bob" },
    { "impersonate-user": "bob", "impersonate-group": "dev" },
  ];
  for (const headers of impersonations) await admin.send({ path: "/version", headers });
  const user = rawClient((await server.as("eve")).kubeconfig);
  await user.send({ path: "/version", headers: { "impersonate-user": "bob" } });
  user.close();
  const text = await scrape();
  assert.equal(seriesValue(text, 'apiserver_impersonation_attempts_total{mode="user-info",decision="allowed"}'), 2);
  assert.equal(seriesValue(text, 'apiserver_impersonation_attempts_total{mode="",decision="denied"}'), 1);
  assert.ok(
    seriesValue(text, 'apiserver_impersonation_authorization_attempts_total{mode="legacy",decision="denied"}') >= 1,
  );
  assert.ok(
    seriesValue(
      text,
      'apiserver_impersonation_authorization_attempts_duration_seconds_count{mode="user-info",decision="allowed"}',
    ) >= 2,
  );
});

test("exposes the feature gates", async () => {
  const text = await scrape();
  assert.equal(seriesValue(text, 'kubernetes_feature_enabled{name="WatchList",stage="BETA"}'), 1);
  assert.equal(seriesValue(text, 'kubernetes_feature_enabled{name="CBORServingAndStorage",stage="ALPHA"}'), 0);
  assert.equal(seriesValue(text, 'kubernetes_feature_enabled{name="AllAlpha",stage="ALPHA"}'), 0);
  assert.equal(seriesValue(text, 'kubernetes_feature_enabled{name="AllBeta",stage="BETA"}'), 0);
});

test("compresses a large response for clients that accept gzip", async () => {
  for (const resource of ["pods", "secrets", "services", "nodes", "events", "endpoints", "configmaps", "limitranges"])
    for (const path of [
      resource,
      `${resource}/x`,
      `namespaces/default/${resource}`,
      `namespaces/default/${resource}/x/status`,
    ])
      for (const method of ["GET", "PUT", "DELETE", "PATCH", "POST"])
        await admin.send({ method, path: `/api/v1/${path}` });
  const { headers, bytes } = await admin.send({ path: "/metrics", headers: { "accept-encoding": "gzip" } });
  assert.equal(headers["content-encoding"], "gzip");
  assert.ok(gunzipSync(bytes).length > 128 << 10);
});

test("counts the results of health checks", async () => {
  for (const path of ["/livez", "/livez?exclude=etcd", "/readyz", "/livez/ping"]) await admin.send({ path });
  const { text } = await admin.send({ path: "/metrics/slis" });
  assert.match(text, /^# HELP kubernetes_healthcheck \[STABLE\] /m);
  assert.equal(seriesValue(text, 'kubernetes_healthcheck{name="etcd",type="livez"}'), 1);
  assert.equal(seriesValue(text, 'kubernetes_healthchecks_total{name="etcd",type="livez",status="success"}'), 1);
  assert.equal(seriesValue(text, 'kubernetes_healthchecks_total{name="ping",type="livez",status="success"}'), 2);
  assert.ok(seriesValue(text, "process_start_time_seconds") > 1e9);
  assert.ok((await admin.send({ path: "/" })).body.paths.includes("/metrics/slis"));
});

interface Exposed {
  readonly text: string;
  readonly warnings: readonly string[];
}

async function exposedWith(metrics: Partial<MetricsOptions>): Promise<Exposed> {
  const warnings: string[] = [];
  const logger: Logger = { info() {}, warn: (text) => warnings.push(text), error() {} };
  const other = await startTestServer({ metrics: { ...defaultMetricsOptions, ...metrics }, logger });
  const client = rawClient(other.kubeconfig);
  await client.send({ path: "/api/v1/namespaces" });
  await scrape(client);
  const text = await scrape(client);
  client.close();
  await other.close();
  return { text, warnings: warnings.filter((warning) => /metric/i.test(warning)) };
}

const deprecated = "Metric apiserver_storage_objects is deprecated since 1.34.0; it will be hidden in a future release";

test("exposes deprecated metrics with a note and one warning, and no hidden metrics", async () => {
  const { text, warnings } = await exposedWith({});
  assert.match(text, /^# HELP apiserver_storage_objects \[STABLE\] \(Deprecated from 1\.34\) /m);
  assert.doesNotMatch(text, /apiserver_request_slo_duration_seconds|apiserver_storage_db_total_size_in_bytes/);
  assert.deepEqual(warnings, [deprecated]);
});

test("exposes hidden metrics when the options request them, no disabled metrics, and only allowed label values", async () => {
  const { text, warnings } = await exposedWith({
    showHiddenForVersion: "1.35",
    disabled: ["apiserver_storage_db_total_size_in_bytes", "apiserver_request_duration_seconds"],
    allowLabels: new Map([["apiserver_request_total,resource", "pods"]]),
  });
  assert.match(text, /^# HELP apiserver_request_slo_duration_seconds \[ALPHA\] \(Deprecated from 1\.27\) /m);
  assert.doesNotMatch(text, /apiserver_storage_db_total_size_in_bytes|apiserver_request_duration_seconds/);
  assert.match(text, /^apiserver_request_total\{verb="LIST",.*resource="unexpected",/m);
  assert.doesNotMatch(text, /^apiserver_request_total\{.*resource="namespaces"/m);
  assert.equal(warnings.length, 4);
  for (const name of ["apiserver_request_slo_duration_seconds", "apiserver_flowcontrol_request_concurrency_limit"])
    assert.ok(
      warnings.includes(`Hidden metrics (${name}) have been manually overridden, showing this very deprecated metric.`),
    );
});

test("does not count objects without a period", async () => {
  const other = await startTestServer({ objectCountPollMs: 0 });
  const own = rawClient(other.kubeconfig);
  await own.send({ path: "/api/v1/namespaces" });
  const text = await scrape(own);
  own.close();
  await other.close();
  assert.match(text, /^apiserver_watch_cache_resource_version\{group="",resource="namespaces"\} \d/m);
  assert.doesNotMatch(text, /apiserver_storage_objects|apiserver_resource_objects/);
  assert.match(await scrape(), /^apiserver_storage_objects\{resource="namespaces"\} [1-9]/m);
});

test("rejects the start with invalid options", async () => {
  await assert.rejects(startTestServer({ metrics: { ...defaultMetricsOptions, showHiddenForVersion: "1.30" } }), {
    message:
      "metrics.showHiddenMetricsForVersion: Invalid value: \"1.30\": must be omitted or have the value '1.35'; only the previous minor version is allowed",
  });
});

test("counts and logs a block of the event loop", async (t) => {
  const lines: [message: string, values?: Record<string, unknown>][] = [];
  const logger: Logger = { warn() {}, info: (...line) => void lines.push(line), error() {} };
  const watched = await startTestServer({ logger });
  const client = rawClient(watched.kubeconfig);
  t.after(async () => {
    client.close();
    await watched.close();
  });
  // own wait: blocks the event loop, which the server shares
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 400);
  await eventually(async () => {
    const text = await scrape(client);
    assert.ok(seriesValue(text, "coxswain_event_loop_blocked_seconds_count") >= 1);
  });
  const [, values] = lines.find(([message]) => message === "Event loop was blocked") ?? assert.fail("no line");
  assert.ok((values?.blockedMs as number) > 250);
});
