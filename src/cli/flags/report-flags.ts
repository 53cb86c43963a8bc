/** Flags of what the server reports: audit events and metrics. Names and defaults are kube-apiserver's. */
import { CsvError, parseCsv } from "../../lib/csv/csv.ts";
import { trimOf } from "../../lib/text/trim.ts";
import { type Flag, type FlagType, FlagValueError } from "./contract.ts";
import { bool, duration, file, float, integer, parsed, text } from "./flag-types.ts";

type Backend = "log" | "webhook";

const modeHelp: Readonly<Record<Backend, string>> = {
  log: "blocking writes an event before the response is sent; blocking-strict also rejects requests whose RequestReceived event cannot be written; batch writes asynchronously.",
  webhook:
    "batch sends asynchronously; blocking sends an event, including retries, before the response is sent; blocking-strict also rejects requests whose RequestReceived event cannot be sent.",
};
const batchSizeHelp: Readonly<Record<Backend, string>> = {
  log: "Accepted for compatibility with kube-apiserver, where it has no effect either: events are logged one by one.",
  webhook: "Maximum bytes of a batch when truncation is enabled; larger batches are split.",
};

/** Flags that both backends have. The server checks their limits, with upstream's error messages. */
function backendFlags(part: Backend): readonly Flag[] {
  return [
    {
      name: `audit-${part}-version`,
      option: `audit.${part}.version`,
      type: text("version"),
      help: "API group and version of the events.",
    },
    {
      name: `audit-${part}-mode`,
      option: `audit.${part}.mode`,
      type: text("mode"),
      help: modeHelp[part],
    },
    ...batchFlags(part),
    ...truncateFlags(part),
  ];
}

function batchFlags(part: Backend): readonly Flag[] {
  return [
    {
      name: `audit-${part}-batch-buffer-size`,
      option: `audit.${part}.batch.bufferSize`,
      type: integer(),
      help: "Size of the event buffer in batch mode; events that exceed it are dropped and counted.",
    },
    {
      name: `audit-${part}-batch-max-size`,
      option: `audit.${part}.batch.maxSize`,
      type: integer(),
      help: "Maximum number of events in a batch.",
    },
    {
      name: `audit-${part}-batch-max-wait`,
      option: `audit.${part}.batch.maxWaitMs`,
      type: duration,
      help: "How long to wait before a batch that is not full is sent.",
    },
    {
      name: `audit-${part}-batch-throttle-enable`,
      option: `audit.${part}.batch.throttleEnable`,
      type: bool,
      help: "Limits the number of batches per second.",
    },
    {
      name: `audit-${part}-batch-throttle-qps`,
      option: `audit.${part}.batch.throttleQps`,
      type: float,
      help: "Maximum average number of batches per second.",
    },
    {
      name: `audit-${part}-batch-throttle-burst`,
      option: `audit.${part}.batch.throttleBurst`,
      type: integer(),
      help: "Maximum number of batches sent at once when the average has not been used up.",
    },
  ];
}

function truncateFlags(part: Backend): readonly Flag[] {
  return [
    {
      name: `audit-${part}-truncate-enabled`,
      option: `audit.${part}.truncate.enabled`,
      type: bool,
      help: "Removes the objects from events that are too large, and drops events that are still too large.",
    },
    {
      name: `audit-${part}-truncate-max-batch-size`,
      option: `audit.${part}.truncate.maxBatchBytes`,
      type: integer({ value: "bytes" }),
      help: batchSizeHelp[part],
    },
    {
      name: `audit-${part}-truncate-max-event-size`,
      option: `audit.${part}.truncate.maxEventBytes`,
      type: integer({ value: "bytes" }),
      help: "Maximum bytes of an event.",
    },
  ];
}

export const auditFlags: readonly Flag[] = [
  {
    name: "audit-policy-file",
    option: "audit.policyFile",
    type: file,
    help: "File with the audit.k8s.io/v1 Policy that selects which requests are recorded, and how. If unset, nothing is recorded.",
  },
  {
    name: "audit-log-path",
    option: "audit.log.path",
    type: file,
    help: "File to which audit events are appended; - is standard output.",
  },
  {
    name: "audit-log-format",
    option: "audit.log.format",
    type: text("format"),
    help: "json, or legacy: one line of text per event.",
  },
  {
    name: "audit-log-maxage",
    option: "audit.log.maxAgeDays",
    type: integer({ value: "days" }),
    help: "Days for which rotated files are kept; 0 is no limit.",
  },
  {
    name: "audit-log-maxbackup",
    option: "audit.log.maxBackups",
    type: integer(),
    help: "Number of rotated files that are kept; 0 is no limit.",
  },
  {
    name: "audit-log-maxsize",
    option: "audit.log.maxSizeMib",
    type: integer({ value: "MiB" }),
    help: "Size at which the file is rotated; 0 disables rotation.",
  },
  {
    name: "audit-log-compress",
    option: "audit.log.compress",
    type: bool,
    help: "Compresses rotated files with gzip.",
  },
  ...backendFlags("log"),
  {
    name: "audit-webhook-config-file",
    option: "audit.webhook.configFile",
    type: file,
    help: "Kubeconfig with the URL and credentials of the server to which audit events are sent.",
  },
  {
    name: "audit-webhook-initial-backoff",
    option: "audit.webhook.initialBackoffMs",
    type: duration,
    help: "How long to wait before a failed request is retried; the wait grows by half each time.",
  },
  {
    name: "audit-webhook-batch-initial-backoff",
    option: "audit.webhook.initialBackoffMs",
    type: duration,
    help: "Same as --audit-webhook-initial-backoff.",
    deprecated: "Deprecated, use --audit-webhook-initial-backoff instead.",
  },
  ...backendFlags("webhook"),
];

const metricNames: FlagType<readonly string[]> = {
  value: "names",
  read: (text, before = []) => (text === "" ? before : [...before, ...text.split(",")]),
};

/** Pairs as upstream's flag library parses them: one as it is, several as CSV, in which pairs with commas are quoted. */
const labelValues: FlagType<ReadonlyMap<string, string>> = {
  value: "map",
  read(text, before = new Map()) {
    const several = text.split("=").length > 2;
    const pairs = several ? (parsed(() => parseCsv(text), CsvError)[0]?.fields ?? []) : [trimOf(text, '"')];
    return new Map([...before, ...pairs.map(parsePair)]);
  },
  format: () => "",
};

/** @throws FlagValueError */
function parsePair(pair: string): [key: string, values: string] {
  const equals = pair.indexOf("=");
  if (equals < 0) throw new FlagValueError(`${pair} must be formatted as key=value`);
  return [pair.slice(0, equals), pair.slice(equals + 1)];
}

export const metricsFlags: readonly Flag[] = [
  {
    name: "show-hidden-metrics-for-version",
    option: "metrics.showHiddenForVersion",
    type: text("version"),
    help: "Shows metrics that are hidden since this version because they are deprecated. Only the previous minor version is accepted, such as 1.35.",
  },
  {
    name: "disabled-metrics",
    option: "metrics.disabled",
    type: metricNames,
    help: "Comma-separated list of full names of metrics that are never shown; may be repeated.",
  },
  {
    name: "allow-metric-labels",
    option: "metrics.allowLabels",
    type: labelValues,
    help: "Allowed values of metric labels, such as metric1,label1=v1,v2,v3; other values are shown as unexpected. May be repeated; several in one flag are quoted and separated by commas.",
  },
  {
    name: "allow-metric-labels-manifest",
    option: "metrics.allowLabelsManifest",
    type: file,
    help: "YAML file with the allowed values of metric labels: a map from metric1,label1 to v1,v2,v3.",
  },
];
