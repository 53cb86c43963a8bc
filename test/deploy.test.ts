/** The files of deploy/ name metrics and labels that the server has, and their own tools accept them. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { parseFlags } from "../src/cli/flags/parse-flags.ts";
import { decodeYaml } from "../src/lib/yaml/decode.ts";
import { skipWithout } from "./support/needs.ts";

const root = join(import.meta.dirname, "..");
const read = (file: string): string => readFileSync(join(root, file), "utf8");
const directory = mkdtempSync(join(tmpdir(), "coxswain-deploy-"));
after(() => rmSync(directory, { recursive: true, force: true }));

interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly annotations: { readonly summary: string };
}
interface Panel {
  readonly title: string;
  readonly targets: readonly { readonly expr: string; readonly legendFormat: string }[];
}

const rulesFile = "deploy/prometheus/rules.yaml";
const rules = decodeYaml(Buffer.from(read(rulesFile))).value as { groups: [{ rules: Alert[] }] };
const alerts = rules.groups[0].rules;
const { panels } = JSON.parse(read("deploy/grafana/coxswain.json")) as { panels: Panel[] };

/** Labels by the names of metrics, of which Prometheus itself makes `up`. */
const labelsOf = new Map<string, readonly string[]>([["up", []]]);
for (const line of read("docs/reference/metrics.md").split("\n")) {
  const [, name, type, , labels = ""] = line.split("|").map((cell) => cell.trim());
  const metric = name?.replaceAll("`", "") ?? "";
  const own = labels.split(", ").map((label) => label.replaceAll("`", ""));
  const suffixes = type === "histogram" ? ["_bucket", "_count", "_sum"] : [""];
  if (/^[a-z_]+$/.test(metric)) for (const suffix of suffixes) labelsOf.set(`${metric}${suffix}`, own);
}

const used = [
  ...alerts.map(({ alert, expr, annotations }) => ({ name: alert, expr, text: annotations.summary })),
  ...panels.flatMap(({ title, targets }) =>
    targets.map(({ expr, legendFormat }) => ({ name: title, expr, text: legendFormat })),
  ),
];
/** Prometheus adds the first two to each sample; the third is that of buckets. */
const common = ["job", "instance", "le"];

for (const { name, expr, text } of used)
  test(`${name}: its metrics and labels exist`, () => {
    const metrics = [...expr.matchAll(/([a-z_]+)\{/g)].map(([, metric]) => metric as string);
    assert.notEqual(metrics.length, 0);
    for (const metric of metrics) assert.ok(labelsOf.has(metric), metric);
    const known = new Set([...common, ...metrics.flatMap((metric) => labelsOf.get(metric) ?? [])]);
    const selected = [...expr.matchAll(/([a-z_]+)(?:=~|!~|!=|=)"/g)].map(([, label]) => label as string);
    const grouped = [...expr.matchAll(/by \(([a-z_, ]+)\)/g)].flatMap(([, labels = ""]) => labels.split(", "));
    const shown = [...text.matchAll(/\{\{ ?(?:\$labels\.)?([a-z_]+) ?\}\}/g)].map(([, label]) => label as string);
    for (const label of [...selected, ...grouped, ...shown]) assert.ok(known.has(label), label);
  });

test("docs/operate.md explains each alert", () => {
  const page = read("docs/operate.md");
  for (const { alert } of alerts) assert.ok(page.includes(`\`${alert}\``), alert);
});

test("promtool accepts the rules, and the queries of the dashboard", { skip: skipWithout("promtool") }, () => {
  const queries = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr.replaceAll("$__rate_interval", "5m")));
  const recorded = queries.map((expr, at) => ({ record: `query${at}`, expr }));
  const file = join(directory, "dashboard.json");
  writeFileSync(file, JSON.stringify({ groups: [{ name: "dashboard", rules: recorded }] }));
  for (const one of [join(root, rulesFile), file]) {
    const { status, stdout, stderr } = spawnSync("promtool", ["check", "rules", one], { encoding: "utf8" });
    assert.equal(status, 0, stdout + stderr);
  }
});

const unit = read("deploy/systemd/coxswain.service");

test("the command of the unit is valid", () => {
  const command = /^ExecStart=\S+ serve (.*)$/m.exec(unit)?.[1] ?? "";
  const line = parseFlags(command.split(" "));
  assert.ok(line.run === "server");
  assert.equal(line.settings.server.dataDir, "/var/lib/coxswain");
});

test("systemd accepts the unit", { skip: skipWithout("systemdAnalyze") }, () => {
  const file = join(directory, "coxswain.service");
  writeFileSync(file, unit.replace("/usr/local/bin/coxswain", process.execPath));
  const { status, stdout, stderr } = spawnSync("systemd-analyze", ["verify", file], { encoding: "utf8" });
  assert.equal(status, 0, stdout + stderr);
});
