/**
 * Audit and metrics flags have kube-apiserver's names and defaults. Source: its --help of version
 * 1.36.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { auditFlags } from "./audit-flags.ts";
import { commandDefaults, parseFlags } from "./flags.ts";
import { metricsFlags } from "./metrics-flags.ts";

const rows: [flag: string, standard: string][] = [
  ["allow-metric-labels", "[]"],
  ["allow-metric-labels-manifest", ""],
  ["audit-log-batch-buffer-size", "10000"],
  ["audit-log-batch-max-size", "1"],
  ["audit-log-batch-max-wait", "0s"],
  ["audit-log-batch-throttle-burst", "0"],
  ["audit-log-batch-throttle-enable", "false"],
  ["audit-log-batch-throttle-qps", "0"],
  ["audit-log-compress", "false"],
  ["audit-log-format", "json"],
  ["audit-log-maxage", "366"],
  ["audit-log-maxbackup", "100"],
  ["audit-log-maxsize", "100"],
  ["audit-log-mode", "blocking"],
  ["audit-log-path", ""],
  ["audit-log-truncate-enabled", "false"],
  ["audit-log-truncate-max-batch-size", "10485760"],
  ["audit-log-truncate-max-event-size", "102400"],
  ["audit-log-version", "audit.k8s.io/v1"],
  ["audit-policy-file", ""],
  ["audit-webhook-batch-buffer-size", "10000"],
  ["audit-webhook-batch-initial-backoff", "10s"],
  ["audit-webhook-batch-max-size", "400"],
  ["audit-webhook-batch-max-wait", "30s"],
  ["audit-webhook-batch-throttle-burst", "15"],
  ["audit-webhook-batch-throttle-enable", "true"],
  ["audit-webhook-batch-throttle-qps", "10"],
  ["audit-webhook-config-file", ""],
  ["audit-webhook-initial-backoff", "10s"],
  ["audit-webhook-mode", "batch"],
  ["audit-webhook-truncate-enabled", "false"],
  ["audit-webhook-truncate-max-batch-size", "10485760"],
  ["audit-webhook-truncate-max-event-size", "102400"],
  ["audit-webhook-version", "audit.k8s.io/v1"],
  ["disabled-metrics", "[]"],
  ["show-hidden-metrics-for-version", ""],
];

const nothing = new Set(["", "[]"]);
const nameOf = (term: string): string => /^--([\w-]+)/.exec(term)?.[1] as string;

test("has exactly upstream's audit and metrics flags and defaults", () => {
  const flags = [...auditFlags, ...metricsFlags].map(({ term, shown = "" }) => [nameOf(term), shown] as const);
  const want = rows.map(([flag, standard]) => [flag, nothing.has(standard) ? "" : standard] as const);
  assert.deepEqual(new Map([...flags].sort()), new Map([...want].sort()));
});

function optionsOf(...argv: string[]): typeof commandDefaults.server {
  const line = parseFlags(argv);
  assert.ok(line.run === "server");
  return line.settings.server;
}

const { audit: auditDefaults, metrics: metricsDefaults } = commandDefaults.server;
const { log, webhook } = auditDefaults;
const auditRows: [argv: string[], want: typeof auditDefaults][] = [
  [["--audit-policy-file=p"], { ...auditDefaults, policyFile: "p" }],
  [
    ["--audit-log-path=-", "--audit-log-format=legacy"],
    { ...auditDefaults, log: { ...log, path: "-", format: "legacy" } },
  ],
  [
    ["--audit-log-mode=batch", "--audit-log-batch-max-size=5"],
    { ...auditDefaults, log: { ...log, mode: "batch", batch: { ...log.batch, maxSize: 5 } } },
  ],
  [["--audit-webhook-config-file=k"], { ...auditDefaults, webhook: { ...webhook, configFile: "k" } }],
  [["--audit-webhook-initial-backoff=1m"], { ...auditDefaults, webhook: { ...webhook, initialBackoffMs: 60_000 } }],
  [
    [
      "--audit-webhook-batch-throttle-enable=false",
      "--audit-webhook-batch-throttle-qps=2.5",
      "--audit-webhook-batch-max-wait=1s",
    ],
    {
      ...auditDefaults,
      webhook: { ...webhook, batch: { ...webhook.batch, throttleEnable: false, throttleQps: 2.5, maxWaitMs: 1000 } },
    },
  ],
  [
    [
      "--audit-webhook-truncate-enabled",
      "--audit-webhook-truncate-max-event-size=7",
      "--audit-log-truncate-max-event-size=8",
    ],
    {
      ...auditDefaults,
      log: { ...log, truncate: { ...log.truncate, maxEventBytes: 8 } },
      webhook: { ...webhook, truncate: { ...webhook.truncate, enabled: true, maxEventBytes: 7 } },
    },
  ],
];
for (const [argv, want] of auditRows)
  test(`flags: ${argv.join(" ")}`, () => assert.deepEqual(optionsOf(...argv).audit, want));

const metricsRows: [argv: string[], want: Partial<typeof metricsDefaults>][] = [
  [["--show-hidden-metrics-for-version=1.35"], { showHiddenForVersion: "1.35" }],
  [["--disabled-metrics=a,b", "--disabled-metrics=c", "--disabled-metrics="], { disabled: ["a", "b", "c"] }],
  [["--allow-metric-labels=m,l=a,b"], { allowLabels: new Map([["m,l", "a,b"]]) }],
  [
    ['--allow-metric-labels="m,l=a,b","n,l=c"', '--allow-metric-labels="m,l=d"'],
    {
      allowLabels: new Map([
        ["m,l", "d"],
        ["n,l", "c"],
      ]),
    },
  ],
  [["--allow-metric-labels-manifest=f"], { allowLabelsManifest: "f" }],
];
for (const [argv, want] of metricsRows)
  test(`flags: ${argv.join(" ")}`, () => assert.deepEqual(optionsOf(...argv).metrics, { ...metricsDefaults, ...want }));

test("rejects labels without values", () => {
  assert.throws(
    () => optionsOf("--allow-metric-labels=m"),
    /invalid argument "m" for "--allow-metric-labels" flag: m must be formatted as key=value/,
  );
});
