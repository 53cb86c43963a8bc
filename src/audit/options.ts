/** Upstream's defaults for auditing, and its complaints. Source: apiserver's options/audit.go. */
import type { AuditLogOptions, AuditOptions } from "./contract.ts";

const modes = ["batch", "blocking", "blocking-strict"];
const formats = ["legacy", "json"];

export const defaultAuditOptions: AuditOptions = {
  policyFile: undefined,
  log: {
    path: undefined,
    format: "json",
    mode: "blocking",
    version: "audit.k8s.io/v1",
    maxAgeDays: 366,
    maxBackups: 100,
    maxSizeMib: 100,
    compress: false,
    batch: { bufferSize: 10_000, maxSize: 1, maxWaitMs: 0, throttleEnable: false, throttleQps: 0, throttleBurst: 0 },
    truncate: { enabled: false, maxBatchBytes: 10 << 20, maxEventBytes: 100 << 10 },
  },
};

/** @throws Error with upstream's texts, several in brackets */
export function checkAuditOptions({ log }: AuditOptions): void {
  if (log.path === undefined) return;
  const problems = logProblems(log);
  if (problems.length > 0) throw new Error(problems.length === 1 ? problems[0] : `[${problems.join(", ")}]`);
}

function logProblems({ mode, batch, truncate, version, format, maxAgeDays, maxBackups, maxSizeMib }: AuditLogOptions): string[] {
  const problems: string[] = [];
  if (!modes.includes(mode)) problems.push(`invalid audit log mode ${mode}, allowed modes are "${modes.join(",")}"`);
  else if (mode === "batch") problems.push(...batchProblems(batch));
  if (truncate.maxEventBytes <= 0) problems.push(`invalid audit truncate log max event size ${truncate.maxEventBytes}, must be a positive number`);
  else if (truncate.maxBatchBytes < truncate.maxEventBytes)
    problems.push(
      `invalid audit truncate log max batch size ${truncate.maxBatchBytes}, must be greater than max event size (${truncate.maxEventBytes})`,
    );
  if (version !== "audit.k8s.io/v1") problems.push('invalid group version, allowed versions are [{"audit.k8s.io" "v1"}]');
  if (!formats.includes(format)) problems.push(`invalid audit log format ${format}, allowed formats are "${formats.join(",")}"`);
  for (const [flag, value] of Object.entries({ maxage: maxAgeDays, maxbackup: maxBackups, maxsize: maxSizeMib }))
    if (value < 0) problems.push(`--audit-log-${flag} ${value} can't be a negative number`);
  return problems;
}

/** Of these, upstream tells the first alone. */
function batchProblems({ bufferSize, maxSize, throttleEnable, throttleQps, throttleBurst }: AuditLogOptions["batch"]): string[] {
  const sizes: [what: string, value: number][] = [
    ["buffer size", bufferSize],
    ["max batch size", maxSize],
  ];
  if (throttleEnable) sizes.push(["throttle QPS", throttleQps], ["throttle burst", throttleBurst]);
  const wrong = sizes.find(([, value]) => !(value > 0));
  return wrong === undefined ? [] : [`invalid audit batch log ${wrong[0]} ${wrong[1]}, must be a positive number`];
}
