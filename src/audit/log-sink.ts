/** The log backend. Source: k8s.io/apiserver@v0.36.0/plugin/pkg/audit/log/backend.go. */
import { backendSink, type SinkOptions } from "./backend-sink.ts";
import type { AuditLogOptions, AuditSink } from "./contract.ts";
import { formatJsonEvent, formatLegacyEvent } from "./format-event.ts";

/** Writes lines to a file or stream. */
export interface LineWriter {
  /** Writes synchronously. @throws Error from the system call */
  writeNow(text: string): void;
  /**
   * Writes without blocking. Callers make one call at a time.
   *
   * @throws Error from the system call
   */
  write(text: string): Promise<void>;
  /** Closes the file. */
  close(): Promise<void>;
}

/** The maximum number of characters in one write, which contains several lines. */
const writeCharacters = 1 << 20;

/** @returns the sink of the audit log */
export function logSink(writer: LineWriter, options: AuditLogOptions, shared: SinkOptions): AuditSink {
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
    shared,
  );
}
