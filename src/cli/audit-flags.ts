/** The flags of auditing. Names and defaults are kube-apiserver's. */
import type { AuditLogOptions, AuditOptions } from "../audit/contract.ts";
import { boolValue, durationMs, FlagValueError, integerWithin } from "./flag-values.ts";
import type { Flag } from "./flags.ts";

type Change<T> = (value: T) => Partial<AuditLogOptions> | ((log: AuditLogOptions) => Partial<AuditLogOptions>);
type Draft = { server: { audit: AuditOptions } };

function logFlag<T>(term: string, read: (text: string) => T, change: Change<T>, rest: Pick<Flag, "help" | "shown">): Flag {
  return {
    term: `--audit-log-${term}`,
    ...rest,
    set(text, { server }: Draft) {
      const changed = change(read(text));
      const { audit } = server;
      server.audit = { ...audit, log: { ...audit.log, ...(typeof changed === "function" ? changed(audit.log) : changed) } };
    },
  };
}

const same = (text: string): string => text;
/** What is out of bounds is for the server to complain of, in upstream's words. */
const integer = (text: string): number => integerWithin(text, { min: Number.MIN_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER });

function float(text: string): number {
  if (text.trim() === "" || Number.isNaN(Number(text)))
    throw new FlagValueError(`strconv.ParseFloat: parsing ${JSON.stringify(text)}: invalid syntax`);
  return Number(text);
}

const batch =
  (part: Partial<AuditLogOptions["batch"]>) =>
  (log: AuditLogOptions): Partial<AuditLogOptions> => ({ batch: { ...log.batch, ...part } });
const truncate =
  (part: Partial<AuditLogOptions["truncate"]>) =>
  (log: AuditLogOptions): Partial<AuditLogOptions> => ({
    truncate: { ...log.truncate, ...part },
  });

export const auditFlags: readonly Flag[] = [
  {
    term: "--audit-policy-file <file>",
    help: "File with the audit.k8s.io/v1 Policy that says what is recorded of which requests. Without it, nothing is.",
    set: (text, { server }: Draft) => {
      server.audit = { ...server.audit, policyFile: text === "" ? undefined : text };
    },
  },
  logFlag("path <file>", same, (path) => ({ path: path === "" ? undefined : path }), {
    help: "File that audit events are appended to; - is standard output.",
  }),
  logFlag("format <format>", same, (format) => ({ format }), { help: "json, or legacy: a line of text per event.", shown: "json" }),
  logFlag("version <version>", same, (version) => ({ version }), { help: "Group and version of the events.", shown: "audit.k8s.io/v1" }),
  logFlag("mode <mode>", same, (mode) => ({ mode }), {
    help: "blocking writes an event before the answer is sent; blocking-strict also refuses requests whose arrival cannot be recorded; batch writes later, and no request waits.",
    shown: "blocking",
  }),
  logFlag("maxage <days>", integer, (maxAgeDays) => ({ maxAgeDays }), { help: "Days that files set aside are kept; 0 is no limit.", shown: "366" }),
  logFlag("maxbackup <int>", integer, (maxBackups) => ({ maxBackups }), { help: "Files set aside that are kept; 0 is no limit.", shown: "100" }),
  logFlag("maxsize <MiB>", integer, (maxSizeMib) => ({ maxSizeMib }), { help: "Size at which the file is set aside; 0 is never.", shown: "100" }),
  logFlag("compress [bool]", boolValue, (compress) => ({ compress }), { help: "Compresses files set aside with gzip.", shown: "false" }),
  logFlag("batch-buffer-size <int>", integer, (bufferSize) => batch({ bufferSize }), {
    help: "Events that may wait to be written in batch mode; more are dropped and counted.",
    shown: "10000",
  }),
  logFlag("batch-max-size <int>", integer, (maxSize) => batch({ maxSize }), { help: "Events that make a batch.", shown: "1" }),
  logFlag("batch-max-wait <duration>", durationMs, (maxWaitMs) => batch({ maxWaitMs }), {
    help: "How long a batch that is not full waits.",
    shown: "0s",
  }),
  logFlag("batch-throttle-enable [bool]", boolValue, (throttleEnable) => batch({ throttleEnable }), {
    help: "Limits batches per second.",
    shown: "false",
  }),
  logFlag("batch-throttle-qps <float>", float, (throttleQps) => batch({ throttleQps }), { help: "Batches per second, on average.", shown: "0" }),
  logFlag("batch-throttle-burst <int>", integer, (throttleBurst) => batch({ throttleBurst }), {
    help: "Batches at once, when there were fewer before.",
    shown: "0",
  }),
  logFlag("truncate-enabled [bool]", boolValue, (enabled) => truncate({ enabled }), {
    help: "Leaves the objects out of events that are too long, and drops those that still are.",
    shown: "false",
  }),
  logFlag("truncate-max-batch-size <bytes>", integer, (maxBatchBytes) => truncate({ maxBatchBytes }), {
    help: "Taken so that scripts for kube-apiserver work: events reach the log one by one, and there too it has no effect.",
    shown: "10485760",
  }),
  logFlag("truncate-max-event-size <bytes>", integer, (maxEventBytes) => truncate({ maxEventBytes }), {
    help: "Bytes from which on an event is too long.",
    shown: "102400",
  }),
];
