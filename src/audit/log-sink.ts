/** The log backend: events as lines, at once or in batches. Source: upstream's plugin/pkg/audit/log. */
import { backendSink, type SinkNeeds } from "./backend-sink.ts";
import type { AuditLogOptions, AuditSink } from "./contract.ts";
import { formatJsonEvent, formatLegacyEvent } from "./format-event.ts";

/** Where lines go. */
export interface LineWriter {
  /** @throws Error as the system tells it */
  writeNow(text: string): void;
  /** One at a time. @throws Error as the system tells it */
  write(text: string): Promise<void>;
  close(): Promise<void>;
}

/** Lines are handed to the system together, up to so many characters at a time. */
const writeCharacters = 1 << 20;

export function logSink(writer: LineWriter, options: AuditLogOptions, needs: SinkNeeds): AuditSink {
  return backendSink(
    {
      plugin: "log",
      atOnceMax: 1,
      batchCharactersMax: writeCharacters,
      joinsBatches: true,
      format: options.format === "legacy" ? formatLegacyEvent : formatJsonEvent,
      deliver: (lines) => writer.write(lines.join("")),
      deliverNow: (line) => writer.writeNow(line),
      close: () => writer.close(),
    },
    options,
    needs,
  );
}
