/** A logger that writes one line for each event, in klog's structured format or as JSON. */
import type { Logger } from "../apimachinery/logger.ts";

interface LoggerOptions {
  readonly format: "text" | "json";
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Receives one line including the newline. */
  readonly write: (line: string) => void;
}

type Severity = "info" | "warn" | "error";
type Values = Readonly<Record<string, unknown>>;
type FormatLine = (severity: Severity, now: number, message: string, values: Values) => string;

/** Creates a logger. */
export function createLogger({ format, now, write }: LoggerOptions): Logger {
  const formatLine: FormatLine = format === "json" ? formatJson : formatText;
  const log =
    (severity: Severity) =>
    (message: string, values: Values = {}): void =>
      write(formatLine(severity, now(), message, values));
  return { info: log("info"), warn: log("warn"), error: log("error") };
}

/** `I0102 15:04:05.000000    1234] "message" key="value"`, in UTC. */
function formatText(severity: Severity, now: number, message: string, values: Values): string {
  const time = new Date(now).toISOString();
  const head = `${severity.charAt(0).toUpperCase()}${time.slice(5, 7)}${time.slice(8, 10)} ${time.slice(11, 23)}000 ${String(process.pid).padStart(7)}]`;
  const pairs = Object.entries(values).map(([key, value]) => ` ${key}=${formatValue(value)}`);
  return `${head} ${JSON.stringify(message)}${pairs.join("")}\n`;
}

/** Adds a field `severity`, because upstream's JSON marks errors only by a field `err`. */
function formatJson(severity: Severity, now: number, message: string, values: Values): string {
  const fields = Object.fromEntries(Object.entries(values).map(([key, value]) => [key, plain(value)]));
  return `${formatValue({ ts: now, severity, msg: message, ...fields })}\n`;
}

function formatValue(value: unknown): string {
  return JSON.stringify(plain(value), (_key, part) => (typeof part === "bigint" ? String(part) : part)) ?? "null";
}

function plain(value: unknown): unknown {
  return value instanceof Error ? (value.stack ?? value.message) : value;
}
