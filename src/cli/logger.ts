/** A logger that writes one line for each event, in klog's structured format or as JSON. */
import type { Logger } from "../apimachinery/logger.ts";

interface LoggerOptions {
  readonly format: "text" | "json";
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Receives one line including the newline. */
  readonly write: (line: string, severity: Severity) => void;
}

/** How important a line is. */
export type Severity = "info" | "warn" | "error";
type Values = Readonly<Record<string, unknown>>;

interface Line {
  readonly severity: Severity;
  readonly level: number;
  readonly now: number;
  readonly message: string;
  readonly values: Values;
}

/** Creates a logger. */
export function createLogger({ format, now, write }: LoggerOptions): Logger {
  const formatLine = format === "json" ? formatJson : formatText;
  const log = (severity: Severity, level: number, message: string, values: Values = {}): void => {
    const named = severity === "error" ? namedAsInKlog(values) : values;
    write(formatLine({ severity, level, now: now(), message, values: named }), severity);
  };
  return {
    info: (message, values) => log("info", 0, message, values),
    warn: (message, values) => log("warn", 0, message, values),
    error: (message, values) => log("error", 0, message, values),
    detail: (level, message, values) => log("info", level, message, values),
  };
}

/** The error of a line is `err` there. */
function namedAsInKlog({ error, ...values }: Values): Values {
  return error === undefined ? values : { err: error, ...values };
}

/**
 * `I0102 15:04:05.000000    1234] "message" key="value"`, in UTC. A message of several lines is a text of its own, as in
 * klog, with a newline at its end.
 */
function formatText({ severity, now, message, values }: Line): string {
  const time = new Date(now).toISOString();
  const head = `${severity.charAt(0).toUpperCase()}${time.slice(5, 7)}${time.slice(8, 10)} ${time.slice(11, 23)}000 ${String(process.pid).padStart(7)}]`;
  if (message.endsWith("\n")) return `${head} ${message}`;
  const pairs = Object.entries(values).map(([key, value]) => ` ${key}=${formatValue(value)}`);
  return `${head} ${JSON.stringify(message)}${pairs.join("")}\n`;
}

/**
 * The fields of klog: `ts`, `caller`, `msg`, and `v` of lines that report no error. Adds a field `severity`, because errors
 * have no other mark than `err`.
 */
function formatJson({ severity, level, now, message, values }: Line): string {
  const fields = Object.fromEntries(Object.entries(values).map(([key, value]) => [key, plain(value)]));
  const verbosity = severity === "error" ? undefined : level;
  const line = { ts: now, caller: callerOfLogger(), severity, msg: message, v: verbosity, ...fields };
  return `${formatValue(line)}\n`;
}

/** The file and line that called the logger; undefined where the stack does not show it. */
function callerOfLogger(): string | undefined {
  const lines = new Error().stack?.split("\n") ?? [];
  const place = lines[5] ?? ""; // `    at name (file:///folder/file.ts:12:34)`
  const file = place.slice(Math.max(place.lastIndexOf("/"), place.lastIndexOf("\\")) + 1);
  const end = file.lastIndexOf(":");
  return end < 0 ? undefined : file.slice(0, end);
}

function formatValue(value: unknown): string {
  return JSON.stringify(plain(value), (_key, part) => (typeof part === "bigint" ? String(part) : part)) ?? "null";
}

function plain(value: unknown): unknown {
  return value instanceof Error ? (value.stack ?? value.message) : value;
}
