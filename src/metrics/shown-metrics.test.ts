import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import type { MetricsOptions } from "./contract.ts";
import { defaultMetricsOptions } from "./default-options.ts";
import { formatMetrics, type Metric } from "./exposition.ts";
import { isHidden, type Stability } from "./life-cycle.ts";
import { checkMetricsOptions } from "./options.ts";
import { shownMetrics } from "./shown-metrics.ts";

const directory = mkdtempSync(join(tmpdir(), "coxswain-metrics-"));
after(() => rmSync(directory, { recursive: true, force: true }));

const hiddenRows: [stability: Stability | undefined, deprecatedSince: string | undefined, want: boolean][] = [
  ["STABLE", undefined, false],
  ["STABLE", "1.33.0", true],
  ["STABLE", "1.34.0", false],
  ["STABLE", "1.36.0", false],
  ["BETA", "1.35.0", true],
  ["BETA", "1.36.0", false],
  ["ALPHA", "1.36.0", true],
  ["ALPHA", "1.37.0", false],
  ["STABLE", "2.0.0", false],
  ["STABLE", "0.9.0", true],
  [undefined, undefined, false],
];
for (const [stability, deprecatedSince, want] of hiddenRows) {
  test(`life cycle: ${stability}, deprecated since ${deprecatedSince}, is hidden in 1.36: ${want}`, () => {
    assert.equal(isHidden({ stability, ...(deprecatedSince !== undefined && { deprecatedSince }) }), want);
  });
}

const samples = [
  { suffix: "", labels: 'user="ann",code="200"', value: 1 },
  { suffix: "", labels: 'user="b\\"o\\\\b",code="200"', value: 2 },
  { suffix: "", labels: 'user="eve",code="200"', value: 4 },
  { suffix: "", labels: 'user="eve",code="500"', value: 8 },
];
const all: readonly Metric[] = [
  { name: "plain", type: "counter", stability: "STABLE", help: "Plain.", samples },
  {
    name: "old",
    type: "gauge",
    stability: "STABLE",
    deprecatedSince: "1.34.0",
    help: "Old.",
    samples: [{ suffix: "", labels: "", value: 1 }],
  },
  {
    name: "very_old",
    type: "gauge",
    stability: "ALPHA",
    deprecatedSince: "1.30.0",
    help: "Very old.",
    samples: [{ suffix: "", labels: "", value: 1 }],
  },
  {
    name: "coming",
    type: "gauge",
    stability: "BETA",
    deprecatedSince: "1.37.0",
    help: "Coming.",
    samples: [{ suffix: "", labels: "", value: 1 }],
  },
];

interface Shown {
  readonly text: string;
  readonly warnings: readonly string[];
}

async function show(options: Partial<MetricsOptions>, times = 1): Promise<Shown> {
  const warnings: string[] = [];
  const whole = { ...defaultMetricsOptions, ...options };
  const shown = shownMetrics(whole, await checkMetricsOptions(whole), {
    info() {},
    warn: (text) => warnings.push(text),
    error() {},
  });
  let text = "";
  for (let time = 0; time < times; time++) text = formatMetrics(shown(all));
  return { text, warnings };
}

const oldWarning = "Metric old is deprecated since 1.34.0; it will be hidden in a future release";

test("marks deprecated metrics, logs each once, and hides hidden metrics", async () => {
  const { text, warnings } = await show({}, 3);
  assert.match(text, /^# HELP plain \[STABLE\] Plain\.$/m);
  assert.match(text, /^# HELP old \[STABLE\] \(Deprecated from 1\.34\) Old\.$/m);
  assert.match(text, /^# HELP coming \[BETA\] Coming\.$/m);
  assert.doesNotMatch(text, /very_old/);
  assert.deepEqual(warnings, [oldWarning]);
  for (const line of [
    "hidden_metrics_total 1",
    "disabled_metrics_total 0",
    'registered_metrics_total{stability_level="STABLE",deprecated_version="1.34.0"} 1',
    'registered_metrics_total{stability_level="STABLE",deprecated_version=""} 1',
    "cardinality_enforcement_unexpected_categorizations_total 0",
  ])
    assert.ok(text.includes(`${line}\n`), line);
});

test("shows hidden metrics with showHiddenForVersion", async () => {
  const { text, warnings } = await show({ showHiddenForVersion: "1.35" });
  assert.match(text, /^# HELP very_old \[ALPHA\] \(Deprecated from 1\.30\) Very old\.$/m);
  assert.match(text, /^hidden_metrics_total 0$/m);
  assert.deepEqual(warnings, [
    oldWarning,
    "Hidden metrics (very_old) have been manually overridden, showing this very deprecated metric.",
  ]);
});

test("hides disabled metrics also with showHiddenForVersion", async () => {
  const { text } = await show({ showHiddenForVersion: "1.35", disabled: ["very_old", "plain", "unknown"] });
  assert.doesNotMatch(text, /very_old|plain/);
  assert.match(text, /^disabled_metrics_total 3$/m);
  assert.match(text, /^hidden_metrics_total 2$/m);
});

test("merges label values that are not allowed", async () => {
  const manifest = join(directory, "allow.yaml");
  writeFileSync(manifest, '"plain,user": "ann,b\\"o\\\\b"\n"other,user": ""\n');
  for (const options of [{ allowLabels: new Map([["plain,user", 'ann,b"o\\b']]) }, { allowLabelsManifest: manifest }]) {
    const { text } = await show(options);
    const lines = text.split("\n").filter((line) => line.startsWith("plain{"));
    assert.deepEqual(lines, [
      'plain{user="ann",code="200"} 1',
      'plain{user="b\\"o\\\\b",code="200"} 2',
      'plain{user="unexpected",code="200"} 4',
      'plain{user="unexpected",code="500"} 8',
    ]);
    assert.match(text, /^cardinality_enforcement_unexpected_categorizations_total 12$/m);
  }
  const { text } = await show({
    allowLabels: new Map([
      ["plain,user", "ann"],
      ["plain,code", "200"],
    ]),
  });
  assert.ok(text.includes('plain{user="unexpected",code="200"} 6\nplain{user="unexpected",code="unexpected"} 8\n'));
});

const keys =
  'must have keys with format `metricName,labelName` where metricName matches "[a-zA-Z_:][a-zA-Z0-9_:]*" and labelName matches "[a-zA-Z_][a-zA-Z0-9_]*"';
const invalidOptions: [what: string, options: Partial<MetricsOptions>, want: string | RegExp][] = [
  [
    "a version that is not the previous one",
    { showHiddenForVersion: "1.34" },
    `metrics.showHiddenMetricsForVersion: Invalid value: "1.34": must be omitted or have the value '1.35'; only the previous minor version is allowed`,
  ],
  ["a version with a patch", { showHiddenForVersion: "1.35.0" }, /must be omitted or have the value '1\.35'/],
  [
    "an invalid name",
    { disabled: ["a", "b.c"] },
    /^metrics\.disabledMetrics: Invalid value: .*must be fully qualified metric names matching "\^\[a-zA-Z_:\]\[a-zA-Z0-9_:\]\*\$", got "b\.c"$/,
  ],
  [
    "a key without a label",
    { allowLabels: new Map([["a", "b"]]) },
    `metrics.allowListMapping: Invalid value: {"a":"b"}: ${keys}`,
  ],
  [
    "a missing manifest",
    { allowLabelsManifest: join(directory, "none") },
    /^metrics\.allowListMappingManifest: Invalid value: ".*none": failed to read allow list manifest: .*no such file/,
  ],
  [
    "a map and a manifest",
    { allowLabels: new Map([["a,b", "c"]]), allowLabelsManifest: "/dev/null" },
    /cannot specify both allowListMapping and allowListMappingManifest$/,
  ],
];
for (const [what, options, want] of invalidOptions) {
  test(`options: ${what}`, async () => {
    await assert.rejects(
      checkMetricsOptions({ ...defaultMetricsOptions, ...options }),
      typeof want === "string" ? { message: want } : { message: want },
    );
  });
}
