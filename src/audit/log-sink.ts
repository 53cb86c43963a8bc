/** The log backend: events as lines, at once or in batches. Source: upstream's plugin/pkg/audit log, buffered and truncate. */
import type { Clock } from "../api/clock.ts";
import type { Logger } from "../api/logger.ts";
import { batchQueue } from "./batch-queue.ts";
import type { AuditCounts, AuditEvent, AuditLogOptions, AuditSink } from "./contract.ts";
import { formatJsonEvent, formatLegacyEvent } from "./format-event.ts";
import { truncatedAnnotation } from "./request-record.ts";

/** Where lines go. */
export interface LineWriter {
  /** @throws Error as the system tells it */
  writeNow(text: string): void;
  /** One at a time. @throws Error as the system tells it */
  write(text: string): Promise<void>;
  close(): Promise<void>;
}

export interface LogSinkNeeds {
  readonly counts: AuditCounts;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** How often the log of the server tells that events are lost; their number is a metric. */
const complaintMs = 10_000;

export function logSink(writer: LineWriter, options: AuditLogOptions, { counts, clock, logger }: LogSinkNeeds): AuditSink {
  const line = options.format === "legacy" ? formatLegacyEvent : formatJsonEvent;
  let complainedAt = Number.NEGATIVE_INFINITY;
  const lost = (plugin: string, why: string, events: number): void => {
    counts.errors.set(plugin, (counts.errors.get(plugin) ?? 0) + events);
    if (clock.now() - complainedAt < complaintMs) return;
    complainedAt = clock.now();
    logger.error("audit events are lost", { plugin, error: why, events });
  };
  const writeNow = (text: string): boolean => {
    try {
      writer.writeNow(text);
      return true;
    } catch (error) {
      lost("log", String(error), 1);
      return false;
    }
  };
  const queue = options.mode === "batch" ? batchQueue(writer, { ...options.batch, clock, lost }) : undefined;
  return {
    process(event) {
      const text = fitting(event, line, options, lost);
      if (text === undefined) return true;
      if (queue !== undefined) {
        queue.add(text);
        return true;
      }
      return writeNow(text) || options.mode !== "blocking-strict";
    },
    async close() {
      await queue?.close();
      await writer.close();
    },
  };
}

/** What is too long goes without its objects, and if it still is, not at all. */
function fitting(
  event: AuditEvent,
  line: (event: AuditEvent) => string,
  { truncate }: AuditLogOptions,
  lost: (plugin: string, why: string, events: number) => void,
): string | undefined {
  const text = line(event);
  if (!truncate.enabled) return text;
  const isLong = (one: AuditEvent): boolean => Buffer.byteLength(formatJsonEvent(one)) > truncate.maxEventBytes;
  if (!isLong(event)) return text;
  const hasObjects = event.level === "Request" || event.level === "RequestResponse";
  const annotations = new Map(event.annotations).set(truncatedAnnotation, "true");
  const cut = { ...event, requestObject: undefined, responseObject: undefined, annotations };
  if (hasObjects && !isLong(cut)) return line(cut);
  lost("truncate", "event is too large even after truncating", 1);
  return undefined;
}

/** Standard output, which the system takes at once. */
export function standardOutput(): LineWriter {
  const writeNow = (text: string): void => {
    process.stdout.write(text);
  };
  return { writeNow, write: async (text) => writeNow(text), close: async () => {} };
}
