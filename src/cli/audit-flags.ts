/** The flags of auditing. Names and defaults are kube-apiserver's. */
import type { AuditBackendOptions, AuditOptions, BatchOptions, TruncateOptions } from "../audit/contract.ts";
import { defaultAuditOptions } from "../audit/options.ts";
import { boolValue, durationMs, FlagValueError, integerWithin } from "./flag-values.ts";
import type { Flag } from "./flags.ts";

type Draft = { server: { audit: AuditOptions } };
type Part = "log" | "webhook";
/** @param present what the flags before say */
type Change<P extends Part, T> = (value: T, present: AuditOptions[P]) => Partial<AuditOptions[P]>;
type Rest = Omit<Flag, "term" | "set">;

function partFlag<P extends Part, T>(
  part: P,
  term: string,
  read: (text: string) => T,
  change: Change<P, T>,
  rest: Rest,
): Flag {
  return {
    term: `--audit-${part}-${term}`,
    ...rest,
    set(text, { server }: Draft) {
      const { audit } = server;
      server.audit = { ...audit, [part]: { ...audit[part], ...change(read(text), audit[part]) } };
    },
  };
}

function logFlag<T>(term: string, read: (text: string) => T, change: Change<"log", T>, rest: Rest): Flag {
  return partFlag("log", term, read, change, rest);
}

function webhookFlag<T>(term: string, read: (text: string) => T, change: Change<"webhook", T>, rest: Rest): Flag {
  return partFlag("webhook", term, read, change, rest);
}

const same = (text: string): string => text;
/** What is out of bounds is for the server to complain of, in upstream's words. */
const integer = (text: string): number =>
  integerWithin(text, { min: Number.MIN_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER });

function float(text: string): number {
  if (text.trim() === "" || Number.isNaN(Number(text)))
    throw new FlagValueError(`strconv.ParseFloat: parsing ${JSON.stringify(text)}: invalid syntax`);
  return Number(text);
}

/** What both backends have, with the defaults of one. */
function backendFlags(part: Part): Flag[] {
  const { mode, batch, truncate } = defaultAuditOptions[part];
  const flag = <T>(
    term: string,
    read: (text: string) => T,
    change: (value: T, present: AuditBackendOptions) => Partial<AuditBackendOptions>,
    rest: Rest,
  ) => partFlag(part, term, read, change as Change<Part, T>, rest);
  const batchFlag = <T>(term: string, read: (text: string) => T, key: keyof BatchOptions, rest: Rest): Flag =>
    flag(`batch-${term}`, read, (value, present) => ({ batch: { ...present.batch, [key]: value } }), rest);
  const truncateFlag = <T>(term: string, read: (text: string) => T, key: keyof TruncateOptions, rest: Rest): Flag =>
    flag(`truncate-${term}`, read, (value, present) => ({ truncate: { ...present.truncate, [key]: value } }), rest);
  return [
    flag("version <version>", same, (version) => ({ version }), {
      help: "Group and version of the events.",
      shown: "audit.k8s.io/v1",
    }),
    flag("mode <mode>", same, (value) => ({ mode: value }), { help: modeHelp[part], shown: mode }),
    batchFlag("buffer-size <int>", integer, "bufferSize", {
      help: "Events that may wait in batch mode; more are dropped and counted.",
      shown: String(batch.bufferSize),
    }),
    batchFlag("max-size <int>", integer, "maxSize", {
      help: "Events that make a batch.",
      shown: String(batch.maxSize),
    }),
    batchFlag("max-wait <duration>", durationMs, "maxWaitMs", {
      help: "How long a batch that is not full waits.",
      shown: `${batch.maxWaitMs / 1000}s`,
    }),
    batchFlag("throttle-enable [bool]", boolValue, "throttleEnable", {
      help: "Limits batches per second.",
      shown: String(batch.throttleEnable),
    }),
    batchFlag("throttle-qps <float>", float, "throttleQps", {
      help: "Batches per second, on average.",
      shown: String(batch.throttleQps),
    }),
    batchFlag("throttle-burst <int>", integer, "throttleBurst", {
      help: "Batches at once, when there were fewer before.",
      shown: String(batch.throttleBurst),
    }),
    truncateFlag("enabled [bool]", boolValue, "enabled", {
      help: "Leaves the objects out of events that are too long, and drops those that still are.",
      shown: String(truncate.enabled),
    }),
    truncateFlag("max-batch-size <bytes>", integer, "maxBatchBytes", {
      help: batchSizeHelp[part],
      shown: String(truncate.maxBatchBytes),
    }),
    truncateFlag("max-event-size <bytes>", integer, "maxEventBytes", {
      help: "Bytes from which on an event is too long.",
      shown: String(truncate.maxEventBytes),
    }),
  ];
}

const modeHelp: Readonly<Record<Part, string>> = {
  log: "blocking writes an event before the answer is sent; blocking-strict also refuses requests whose arrival cannot be recorded; batch writes later, and no request waits.",
  webhook:
    "batch posts later, and no request waits; blocking posts an event before the answer is sent, tries included; blocking-strict also refuses requests whose arrival cannot be posted.",
};
const batchSizeHelp: Readonly<Record<Part, string>> = {
  log: "Taken so that scripts for kube-apiserver work: events reach the log one by one, and there too it has no effect.",
  webhook: "Bytes of the events that are posted together, when truncation is enabled; larger batches are divided.",
};

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
  logFlag("format <format>", same, (format) => ({ format }), {
    help: "json, or legacy: a line of text per event.",
    shown: "json",
  }),
  logFlag("maxage <days>", integer, (maxAgeDays) => ({ maxAgeDays }), {
    help: "Days that files set aside are kept; 0 is no limit.",
    shown: "366",
  }),
  logFlag("maxbackup <int>", integer, (maxBackups) => ({ maxBackups }), {
    help: "Files set aside that are kept; 0 is no limit.",
    shown: "100",
  }),
  logFlag("maxsize <MiB>", integer, (maxSizeMib) => ({ maxSizeMib }), {
    help: "Size at which the file is set aside; 0 is never.",
    shown: "100",
  }),
  logFlag("compress [bool]", boolValue, (compress) => ({ compress }), {
    help: "Compresses files set aside with gzip.",
    shown: "false",
  }),
  ...backendFlags("log"),
  webhookFlag("config-file <file>", same, (file) => ({ configFile: file === "" ? undefined : file }), {
    help: "Kubeconfig that names the server to which audit events are posted, and how to prove who we are.",
  }),
  webhookFlag("initial-backoff <duration>", durationMs, (initialBackoffMs) => ({ initialBackoffMs }), {
    help: "How long to wait before a post that failed is tried again; each time half as long again.",
    shown: "10s",
  }),
  webhookFlag("batch-initial-backoff <duration>", durationMs, (initialBackoffMs) => ({ initialBackoffMs }), {
    help: "The same.",
    shown: "10s",
    deprecated: "Deprecated, use --audit-webhook-initial-backoff instead.",
  }),
  ...backendFlags("webhook"),
];
