/** What a study prints. */
import { compareRuns } from "./compare.ts";
import type { Run, Study } from "./contract.ts";
import type { ServerName } from "./servers.ts";

const differencesMax = 40;
const textMax = 300;

/** @returns the costs of each process, and the comparison when there are two runs */
export function reportOf({ name, module }: Study, runs: ReadonlyMap<ServerName, Run>): string {
  const lines = [`${name} (${module})`];
  for (const [server, { costs, requests, seconds }] of runs) {
    const sent = Object.values(requests).reduce((all, count) => all + count, 0);
    lines.push(`  ${server}: ${seconds.toFixed(0)} s, ${sent} requests of the programs`);
    for (const [process, { cpuSeconds, memoryMiB }] of Object.entries(costs))
      lines.push(
        `    ${process.padEnd(32)} ${cpuSeconds.toFixed(2).padStart(8)} s of CPU ${memoryMiB.toFixed(0).padStart(6)} MiB`,
      );
  }
  const [ours, theirs] = [runs.get("coxswain"), runs.get("kube-apiserver")];
  return [...lines, ...(ours && theirs ? comparisonOf(ours, theirs) : [])].join("\n");
}

function comparisonOf(ours: Run, theirs: Run): string[] {
  const { objects, differences, writes } = compareRuns(ours, theirs);
  const found = [
    ...differences.map(({ path, ...values }) => `${path.join(".")}: ${cut(values.ours)} · ${cut(values.theirs)}`),
    ...writes,
  ];
  const rest = found.length > differencesMax ? [`    and ${found.length - differencesMax} more`] : [];
  const count = found.length === 0 ? "no difference" : `${found.length} differences (coxswain · kube-apiserver)`;
  const lines = found.slice(0, differencesMax).map((line) => `    ${line}`);
  return [`  ${objects} objects compared: ${count}`, ...lines, ...rest];
}

function cut(value: unknown): string {
  return (JSON.stringify(value) ?? "missing").slice(0, textMax);
}
