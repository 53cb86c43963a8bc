/**
 * The common part of the log and webhook backends: modes, truncation, and the count of lost events.
 * Source: k8s.io/apiserver@v0.36.0/pkg/server/options/audit.go and
 * plugin/pkg/audit/truncate/truncate.go.
 */
import type { Clock } from "../apimachinery/clock.ts";
import type { Logger } from "../apimachinery/logger.ts";
import { batchQueue, type Delivery, messageOf } from "./batch-queue.ts";
import type { AuditBackendOptions, AuditCounts, AuditEvent, AuditSink } from "./contract.ts";
import { formatJsonEvent } from "./format-event.ts";
import { truncatedAnnotation } from "./request-record.ts";

/** Formats and delivers events. */
interface Backend extends Delivery {
  format(event: AuditEvent): string;
  /**
   * Delivers one event while its request waits.
   *
   * @throws Error, synchronously or by rejection, when the event is lost
   */
  deliverNow(text: string): void | Promise<void>;
  close(): Promise<void>;
}

/** The dependencies that all sinks share. */
export interface SinkOptions {
  readonly counts: AuditCounts;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The minimum interval between log lines about lost events. A metric counts all of them. */
const lossLogIntervalMs = 10_000;

/** @returns a sink that delivers events in the mode of the options: blocking or in batches */
export function backendSink(
  backend: Backend,
  options: AuditBackendOptions,
  { counts, clock, logger }: SinkOptions,
): AuditSink {
  let loggedAt = Number.NEGATIVE_INFINITY;
  const lost = (plugin: string, reason: string, events: number): void => {
    counts.errors.set(plugin, (counts.errors.get(plugin) ?? 0) + events);
    if (clock.now() - loggedAt < lossLogIntervalMs) return;
    loggedAt = clock.now();
    logger.error("Lost audit events", { plugin, error: reason, events });
  };
  const failed = (error: unknown): boolean => {
    lost(backend.plugin, messageOf(error), 1);
    return options.mode !== "blocking-strict";
  };
  const deliverNow = (text: string): boolean | Promise<boolean> => {
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
      const text = formatTruncated(event, backend, options, lost);
      if (text === undefined) return true;
      if (queue === undefined) return deliverNow(text);
      queue.add(text);
      return true;
    },
    async close() {
      await queue?.close();
      await backend.close();
    },
  };
}

/** @returns a sink that passes every event to all sinks */
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

/**
 * Formats an event. Drops the objects of an event above the limit, then the event itself if it is
 * still above it.
 */
function formatTruncated(
  event: AuditEvent,
  { format }: Backend,
  { truncate }: AuditBackendOptions,
  lost: (plugin: string, reason: string, events: number) => void,
): string | undefined {
  const text = format(event);
  if (!truncate.enabled) return text;
  const isTooLong = (one: AuditEvent): boolean => Buffer.byteLength(formatJsonEvent(one)) > truncate.maxEventBytes;
  if (!isTooLong(event)) return text;
  const hasObjects = event.level === "Request" || event.level === "RequestResponse";
  const annotations = new Map(event.annotations).set(truncatedAnnotation, "true");
  const truncated = { ...event, requestObject: undefined, responseObject: undefined, annotations };
  if (hasObjects && !isTooLong(truncated)) return format(truncated);
  lost("truncate", "event is too large even after truncating", 1);
  return undefined;
}
