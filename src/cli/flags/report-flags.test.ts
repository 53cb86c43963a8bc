import assert from "node:assert/strict";
import { test } from "node:test";
import type { Settings } from "./contract.ts";
import { flagDefaults } from "./defaults.ts";
import { parseFlags } from "./parse-flags.ts";

function optionsOf(...argv: string[]): Settings["server"] {
  const line = parseFlags(argv);
  assert.ok(line.run === "server");
  return line.settings.server;
}

const { audit: auditDefaults, metrics: metricsDefaults } = flagDefaults;
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
