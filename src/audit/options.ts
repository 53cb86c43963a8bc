/**
 * The defaults and validation of the audit flags.
 * Source: k8s.io/apiserver@v0.36.0/pkg/server/options/audit.go.
 */
import { joinErrors } from "../lib/json/quote.ts";
import type { AuditBackendOptions, AuditBatchOptions, AuditLogOptions, AuditOptions } from "./contract.ts";

const modes = ["batch", "blocking", "blocking-strict"];
const formats = ["legacy", "json"];

/** Upstream's defaults. */
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
  webhook: {
    configFile: undefined,
    initialBackoffMs: 10_000,
    mode: "batch",
    version: "audit.k8s.io/v1",
    batch: {
      bufferSize: 10_000,
      maxSize: 400,
      maxWaitMs: 30_000,
      throttleEnable: true,
      throttleQps: 10,
      throttleBurst: 15,
    },
    truncate: { enabled: false, maxBatchBytes: 10 << 20, maxEventBytes: 100 << 10 },
  },
};

/**
 * @throws Error with upstream's message when options are invalid; several messages are joined in
 *   brackets
 */
export function checkAuditOptions({ log, webhook }: AuditOptions): void {
  const problems = [
    ...(log.path === undefined ? [] : [...backendProblems("log", log), ...logProblems(log)]),
    ...(webhook.configFile === undefined ? [] : backendProblems("webhook", webhook)),
  ];
  if (problems.length > 0) throw new Error(joinErrors(problems));
}

function backendProblems(plugin: string, { mode, batch, truncate, version }: AuditBackendOptions): string[] {
  const problems: string[] = [];
  if (!modes.includes(mode))
    problems.push(`invalid audit ${plugin} mode ${mode}, allowed modes are "${modes.join(",")}"`);
  else if (mode === "batch") problems.push(...batchProblems(plugin, batch));
  const { maxEventBytes, maxBatchBytes } = truncate;
  if (maxEventBytes <= 0)
    problems.push(`invalid audit truncate ${plugin} max event size ${maxEventBytes}, must be a positive number`);
  else if (maxBatchBytes < maxEventBytes)
    problems.push(
      `invalid audit truncate ${plugin} max batch size ${maxBatchBytes}, must be greater than max event size (${maxEventBytes})`,
    );
  if (version !== "audit.k8s.io/v1")
    problems.push('invalid group version, allowed versions are [{"audit.k8s.io" "v1"}]');
  return problems;
}

function logProblems({ format, maxAgeDays, maxBackups, maxSizeMib }: AuditLogOptions): string[] {
  const problems: string[] = [];
  if (!formats.includes(format))
    problems.push(`invalid audit log format ${format}, allowed formats are "${formats.join(",")}"`);
  for (const [flag, value] of Object.entries({ maxage: maxAgeDays, maxbackup: maxBackups, maxsize: maxSizeMib }))
    if (value < 0) problems.push(`--audit-log-${flag} ${value} can't be a negative number`);
  return problems;
}

/** As upstream, reports the first problem only. */
function batchProblems(
  plugin: string,
  { bufferSize, maxSize, throttleEnable, throttleQps, throttleBurst }: AuditBatchOptions,
): string[] {
  const sizes: [what: string, value: number][] = [
    ["buffer size", bufferSize],
    ["max batch size", maxSize],
  ];
  if (throttleEnable) sizes.push(["throttle QPS", throttleQps], ["throttle burst", throttleBurst]);
  const wrong = sizes.find(([, value]) => !(value > 0));
  return wrong === undefined
    ? []
    : [`invalid audit batch ${plugin} ${wrong[0]} ${wrong[1]}, must be a positive number`];
}
