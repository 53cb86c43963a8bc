/** docs/conformance.md: the results of upstream's tests, which `--write` of the runs records in results.json. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { upstreamVersion } from "../../test/support/upstream-programs.ts";
import { readList } from "./conformance/list.ts";
import { type Exception, findException, kinds } from "./exceptions.ts";
import { readExceptions } from "./integration/exceptions.ts";

interface ConformanceResult {
  readonly state: "passed" | "failed";
  /** Rounded. */
  readonly seconds: number;
}

interface Results {
  /** Of each server: the day of its last run, and the results by the names of tests. */
  readonly conformance: Record<"coxswain" | "upstream", { date: string; tests: Record<string, ConformanceResult> }>;
  /** By the names of packages. */
  readonly integration: Record<string, { date: string; passed: number; skipped: number; failed: readonly string[] }>;
}

interface Outcome {
  readonly name: string;
  readonly state: string;
  readonly seconds: number;
}

interface PackageResult {
  readonly name: string;
  readonly passed: number;
  readonly skipped: number;
  readonly listed: readonly string[];
  readonly unlisted: readonly string[];
}

const file = join(import.meta.dirname, "results.json");
const page = join(import.meta.dirname, "../../docs/conformance.md");

/** Adds the outcomes of a run to those of earlier runs, and writes the page. */
export function recordConformance(server: "coxswain" | "upstream", outcomes: readonly Outcome[], date = today()): void {
  const results = readResults();
  const entry = results.conformance[server];
  entry.date = date;
  for (const { name, state, seconds } of outcomes)
    entry.tests[name] = { state: state === "passed" ? "passed" : "failed", seconds: Math.round(seconds) };
  write(results);
}

/** Replaces the counts of a package, and writes the page. */
export function recordIntegration(run: PackageResult, date = today()): void {
  const results = readResults();
  const { name, passed, skipped, listed, unlisted } = run;
  results.integration[name] = { date, passed, skipped, failed: [...listed, ...unlisted] };
  write(results);
}

export function readResults(): Results {
  return JSON.parse(readFileSync(file, "utf8"));
}

function write(results: Results): void {
  writeFileSync(file, `${JSON.stringify(results, undefined, 2)}\n`);
  writeFileSync(page, formatPage(results));
}

function today(): string {
  return new Date().toISOString().slice(0, 10);
}

/** The text of docs/conformance.md. */
export function formatPage(results: Results): string {
  return [
    "# Conformance",
    "",
    `Kubernetes ${upstreamVersion.slice(1)} judges this server with its own tests: the conformance tests of its program e2e.test, and the integration tests of its API server, with this server in place of theirs. \`npm run upstream\` repeats both, see [Judge](how-to/judge.md), and writes this page.`,
    "",
    ...formatConformance(results),
    "",
    ...formatIntegration(results),
    "",
  ].join("\n");
}

function formatConformance({ conformance: { coxswain, upstream } }: Results): string[] {
  const { withoutContainers, exceptions } = readList();
  const names = Object.keys(coxswain.tests).sort();
  const passedOf = (tests: Record<string, ConformanceResult>): number =>
    withoutContainers.filter((name) => tests[name]?.state === "passed").length;
  return [
    "## Conformance tests",
    "",
    `${withoutContainers.length} of the conformance tests need an API server, controllers and Node objects, and no container. Two nodes are ready, and kube-controller-manager runs the controllers that this server does not have. The others need kubelets, which run containers.`,
    "",
    "| server | date | passed | of |",
    "|---|---|---|---|",
    `| Coxswain | ${coxswain.date} | ${passedOf(coxswain.tests)} | ${withoutContainers.length} |`,
    `| kube-apiserver ${upstreamVersion} | ${upstream.date} | ${passedOf(upstream.tests)} | ${withoutContainers.length} |`,
    "",
    "| test | Coxswain | seconds | kube-apiserver | seconds | exception |",
    "|---|---|---|---|---|---|",
    ...names.map((name) => {
      const [ours, theirs] = [coxswain.tests[name], upstream.tests[name]];
      return row(cell(name), ours?.state, ours?.seconds, theirs?.state, theirs?.seconds, reasonFor(exceptions, name));
    }),
  ];
}

function formatIntegration({ integration }: Results): string[] {
  const exceptions = readExceptions();
  const packages = Object.entries(integration).sort(([a], [b]) => (a < b ? -1 : 1));
  const sum = (count: (result: Results["integration"][string]) => number): number =>
    packages.reduce((all, [, result]) => all + count(result), 0);
  return [
    "## Integration tests",
    "",
    "The packages of Kubernetes' folder test/integration that start an API server. Tests without subtests are counted. A test is skipped when it needs a kube-apiserver within its own process, or skips itself.",
    "",
    "| package | date | passed | failed | skipped |",
    "|---|---|---|---|---|",
    ...packages.map(([name, { date, passed, failed, skipped }]) => row(name, date, passed, failed.length, skipped)),
    row(
      "all",
      "",
      sum(({ passed }) => passed),
      sum(({ failed }) => failed.length),
      sum(({ skipped }) => skipped),
    ),
    "",
    "### Tests that fail",
    "",
    ...Object.entries(kinds).map(([kind, meaning]) => `- \`${kind}\`: ${meaning}`),
    "",
    "| package | test | failures | exception |",
    "|---|---|---|---|",
    ...packages.flatMap(([name, { failed }]) => failureRows(name, failed, exceptions[name] ?? [])),
  ];
}

/** One row for each exception, and for each failed test without one. */
function failureRows(name: string, failed: readonly string[], exceptions: readonly Exception[]): string[] {
  const counts = new Map<string, number>();
  for (const test of failed) {
    const key = findException(exceptions, test)?.test ?? test;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return [...counts].map(([test, count]) => row(name, cell(test), count, reasonFor(exceptions, test)));
}

function reasonFor(exceptions: readonly Exception[], test: string): string {
  const exception = findException(exceptions, test);
  return exception === undefined ? "" : `${exception.kind}: ${exception.reason}`;
}

function row(...cells: readonly (string | number | undefined)[]): string {
  return `| ${cells.map((text) => text ?? "").join(" | ")} |`;
}

function cell(text: string): string {
  return `\`${text.replaceAll("|", "\\|").replaceAll("`", "'")}\``;
}
