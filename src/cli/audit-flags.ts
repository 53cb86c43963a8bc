/** Audit flags. Names and defaults are kube-apiserver's. */
import type { AuditBackendOptions, AuditBatchOptions, AuditOptions, AuditTruncateOptions } from "../audit/contract.ts";
import { defaultAuditOptions } from "../audit/options.ts";
import { boolValue, durationMs, FlagValueError, integerWithin } from "./flag-values.ts";
import type { Flag } from "./flags.ts";

type Draft = { server: { audit: AuditOptions } };
type Part = "log" | "webhook";
/** @param present the options so far, which earlier flags have set */
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
/** The server checks the limits, with upstream's error messages. */
const integer = (text: string): number =>
  integerWithin(text, { min: Number.MIN_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER });

function float(text: string): number {
  if (text.trim() === "" || Number.isNaN(Number(text)))
    throw new FlagValueError(`strconv.ParseFloat: parsing ${JSON.stringify(text)}: invalid syntax`);
  return Number(text);
}

/** Flags that both backends have, with the defaults of one backend. */
function backendFlags(part: Part): Flag[] {
  const { mode, batch, truncate } = defaultAuditOptions[part];
  const flag = <T>(
    term: string,
    read: (text: string) => T,
    change: (value: T, present: AuditBackendOptions) => Partial<AuditBackendOptions>,
    rest: Rest,
  ) => partFlag(part, term, read, change as Change<Part, T>, rest);
  const batchFlag = <T>(term: string, read: (text: string) => T, key: keyof AuditBatchOptions, rest: Rest): Flag =>
    flag(`batch-${term}`, read, (value, present) => ({ batch: { ...present.batch, [key]: value } }), rest);
  const truncateFlag = <T>(
    term: string,
    read: (text: string) => T,
    key: keyof AuditTruncateOptions,
    rest: Rest,
  ): Flag =>
    flag(`truncate-${term}`, read, (value, present) => ({ truncate: { ...present.truncate, [key]: value } }), rest);
  return [
    flag("version <version>", same, (version) => ({ version }), {
      help: "API group and version of the events.",
      shown: "audit.k8s.io/v1",
    }),
    flag("mode <mode>", same, (value) => ({ mode: value }), { help: modeHelp[part], shown: mode }),
    batchFlag("buffer-size <int>", integer, "bufferSize", {
      help: "Size of the event buffer in batch mode; events that exceed it are dropped and counted.",
      shown: String(batch.bufferSize),
    }),
    batchFlag("max-size <int>", integer, "maxSize", {
      help: "Maximum number of events in a batch.",
      shown: String(batch.maxSize),
    }),
    batchFlag("max-wait <duration>", durationMs, "maxWaitMs", {
      help: "How long to wait before a batch that is not full is sent.",
      shown: `${batch.maxWaitMs / 1000}s`,
    }),
    batchFlag("throttle-enable [bool]", boolValue, "throttleEnable", {
      help: "Limits the number of batches per second.",
      shown: String(batch.throttleEnable),
    }),
    batchFlag("throttle-qps <float>", float, "throttleQps", {
      help: "Maximum average number of batches per second.",
      shown: String(batch.throttleQps),
    }),
    batchFlag("throttle-burst <int>", integer, "throttleBurst", {
      help: "Maximum number of batches sent at once when the average has not been used up.",
      shown: String(batch.throttleBurst),
    }),
    truncateFlag("enabled [bool]", boolValue, "enabled", {
      help: "Removes the objects from events that are too large, and drops events that are still too large.",
      shown: String(truncate.enabled),
    }),
    truncateFlag("max-batch-size <bytes>", integer, "maxBatchBytes", {
      help: batchSizeHelp[part],
      shown: String(truncate.maxBatchBytes),
    }),
    truncateFlag("max-event-size <bytes>", integer, "maxEventBytes", {
      help: "Maximum bytes of an event.",
      shown: String(truncate.maxEventBytes),
    }),
  ];
}

const modeHelp: Readonly<Record<Part, string>> = {
  log: "blocking writes an event before the response is sent; blocking-strict also rejects requests whose RequestReceived event cannot be written; batch writes asynchronously.",
  webhook:
    "batch sends asynchronously; blocking sends an event, including retries, before the response is sent; blocking-strict also rejects requests whose RequestReceived event cannot be sent.",
};
const batchSizeHelp: Readonly<Record<Part, string>> = {
  log: "Accepted for compatibility with kube-apiserver, where it has no effect either: events are logged one by one.",
  webhook: "Maximum bytes of a batch when truncation is enabled; larger batches are split.",
};

export const auditFlags: readonly Flag[] = [
  {
    term: "--audit-policy-file <file>",
    help: "File with the audit.k8s.io/v1 Policy that selects which requests are recorded, and how. If unset, nothing is recorded.",
    set: (text, { server }: Draft) => {
      server.audit = { ...server.audit, policyFile: text === "" ? undefined : text };
    },
  },
  logFlag("path <file>", same, (path) => ({ path: path === "" ? undefined : path }), {
    help: "File to which audit events are appended; - is standard output.",
  }),
  logFlag("format <format>", same, (format) => ({ format }), {
    help: "json, or legacy: one line of text per event.",
    shown: "json",
  }),
  logFlag("maxage <days>", integer, (maxAgeDays) => ({ maxAgeDays }), {
    help: "Days for which rotated files are kept; 0 is no limit.",
    shown: "366",
  }),
  logFlag("maxbackup <int>", integer, (maxBackups) => ({ maxBackups }), {
    help: "Number of rotated files that are kept; 0 is no limit.",
    shown: "100",
  }),
  logFlag("maxsize <MiB>", integer, (maxSizeMib) => ({ maxSizeMib }), {
    help: "Size at which the file is rotated; 0 disables rotation.",
    shown: "100",
  }),
  logFlag("compress [bool]", boolValue, (compress) => ({ compress }), {
    help: "Compresses rotated files with gzip.",
    shown: "false",
  }),
  ...backendFlags("log"),
  webhookFlag("config-file <file>", same, (file) => ({ configFile: file === "" ? undefined : file }), {
    help: "Kubeconfig with the URL and credentials of the server to which audit events are sent.",
  }),
  webhookFlag("initial-backoff <duration>", durationMs, (initialBackoffMs) => ({ initialBackoffMs }), {
    help: "How long to wait before a failed request is retried; the wait grows by half each time.",
    shown: "10s",
  }),
  webhookFlag("batch-initial-backoff <duration>", durationMs, (initialBackoffMs) => ({ initialBackoffMs }), {
    help: "Same as --audit-webhook-initial-backoff.",
    shown: "10s",
    deprecated: "Deprecated, use --audit-webhook-initial-backoff instead.",
  }),
  ...backendFlags("webhook"),
];
