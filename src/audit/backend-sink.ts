/** What the backends have in common: modes, truncation, what is lost. Source: upstream's options/audit.go and plugin/pkg/audit/truncate. */
import type { Clock } from "../apimachinery/clock.ts";
import type { Logger } from "../apimachinery/logger.ts";
import { batchQueue, type Delivery, messageOf } from "./batch-queue.ts";
import type { AuditBackendOptions, AuditCounts, AuditEvent, AuditSink } from "./contract.ts";
import { formatJsonEvent } from "./format-event.ts";
import { truncatedAnnotation } from "./request-record.ts";

export interface Backend extends Delivery {
  format(event: AuditEvent): string;
  /** One event, for which a request waits. @throws Error, at once or later: the event is lost */
  deliverNow(text: string): void | Promise<void>;
  close(): Promise<void>;
}

export interface SinkNeeds {
  readonly counts: AuditCounts;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** How often the log of the server tells that events are lost; their number is a metric. */
const complaintMs = 10_000;

export function backendSink(
  backend: Backend,
  options: AuditBackendOptions,
  { counts, clock, logger }: SinkNeeds,
): AuditSink {
  let complainedAt = Number.NEGATIVE_INFINITY;
  const lost = (plugin: string, why: string, events: number): void => {
    counts.errors.set(plugin, (counts.errors.get(plugin) ?? 0) + events);
    if (clock.now() - complainedAt < complaintMs) return;
    complainedAt = clock.now();
    logger.error("audit events are lost", { plugin, error: why, events });
  };
  const failed = (error: unknown): boolean => {
    lost(backend.plugin, messageOf(error), 1);
    return options.mode !== "blocking-strict";
  };
  const now = (text: string): boolean | Promise<boolean> => {
    try {
      const pending = backend.deliverNow(text);
      return pending === undefined ? true : pending.then(() => true, failed);
    } catch (error) {
      return failed(error);
    }
  };
  const queue = options.mode === "batch" ? batchQueue(backend, { ...options.batch, clock, lost }) : undefined;
  return {
    process(event) {
      const text = fitting(event, backend, options, lost);
      if (text === undefined) return true;
      if (queue === undefined) return now(text);
      queue.add(text);
      return true;
    },
    async close() {
      await queue?.close();
      await backend.close();
    },
  };
}

/** All of them get every event. */
export function unionSink(sinks: readonly AuditSink[]): AuditSink {
  const [only, ...others] = sinks;
  if (only !== undefined && others.length === 0) return only;
  return {
    process(event) {
      const results = sinks.map((sink) => sink.process(event));
      if (results.every((result) => typeof result === "boolean")) return results.every(Boolean);
      return Promise.all(results).then((all) => all.every(Boolean));
    },
    async close() {
      await Promise.all(sinks.map((sink) => sink.close()));
    },
  };
}

/** What is too long goes without its objects, and if it still is, not at all. */
function fitting(
  event: AuditEvent,
  { format }: Backend,
  { truncate }: AuditBackendOptions,
  lost: (plugin: string, why: string, events: number) => void,
): string | undefined {
  const text = format(event);
  if (!truncate.enabled) return text;
  const isLong = (one: AuditEvent): boolean => Buffer.byteLength(formatJsonEvent(one)) > truncate.maxEventBytes;
  if (!isLong(event)) return text;
  const hasObjects = event.level === "Request" || event.level === "RequestResponse";
  const annotations = new Map(event.annotations).set(truncatedAnnotation, "true");
  const cut = { ...event, requestObject: undefined, responseObject: undefined, annotations };
  if (hasObjects && !isLong(cut)) return format(cut);
  lost("truncate", "event is too large even after truncating", 1);
  return undefined;
}
