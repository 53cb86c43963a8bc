/**
 * Spans whose slow ones are in the log: the text has the steps that took more than their share.
 * Source: k8s.io/utils/trace/trace.go, which kube-apiserver 1.36.0 uses.
 */
import { randomInt } from "node:crypto";
import type { Clock } from "../../apimachinery/clock.ts";
import type { Span, SpanAttributes } from "../../apimachinery/spans.ts";
import { formatDuration } from "../../lib/duration/duration.ts";

export interface LogSpanParts {
  readonly clock: Clock;
  /** Milliseconds, which never go back. */
  readonly elapsed: () => number;
  /** Whether spans of this level are written: 2 for slow ones, 4 for all steps. */
  readonly isVerbose: (level: number) => boolean;
  readonly write: (text: string) => void;
}

/** Steps and parts of a span; more are left out of the text. */
const itemsMax = 256;
const slowLevel = 2;
const allStepsLevel = 4;

interface Step {
  readonly name: string;
  readonly attributes: SpanAttributes | undefined;
  readonly at: number;
}

/** @returns a span that, when it ends, writes itself or its slow parts */
export function logSpan(parts: LogSpanParts, name: string, attributes?: SpanAttributes): Span {
  return new LogSpan(parts, name, attributes, undefined);
}

class LogSpan implements Span {
  readonly #parts: LogSpanParts;
  readonly #parent: LogSpan | undefined;
  readonly #name: string;
  readonly #startedAt: number;
  readonly #items: (Step | LogSpan)[] = [];
  #attributes: SpanAttributes | undefined;
  #endedAt: number | undefined;
  /** Undefined until it ends: a span that has not ended is not written. */
  #thresholdMs: number | undefined;

  constructor(parts: LogSpanParts, name: string, attributes: SpanAttributes | undefined, parent: LogSpan | undefined) {
    this.#parts = parts;
    this.#parent = parent;
    this.#name = name;
    this.#attributes = attributes;
    this.#startedAt = parts.elapsed();
  }

  addEvent(name: string, attributes?: SpanAttributes): void {
    this.#add({ name, attributes, at: this.#parts.elapsed() });
  }

  setAttributes(attributes: SpanAttributes): void {
    this.#attributes = { ...this.#attributes, ...attributes };
  }

  start(name: string, attributes?: SpanAttributes): Span {
    const span = new LogSpan(this.#parts, name, attributes, this);
    this.#add(span);
    return span;
  }

  fail(): void {}

  headers(): Readonly<Record<string, string>> {
    return {};
  }

  end(logMs = 0): void {
    if (this.#endedAt !== undefined) return;
    this.#endedAt = this.#parts.elapsed();
    this.#thresholdMs = logMs;
    if (this.#parent === undefined && this.#parts.isVerbose(slowLevel)) this.#writeSlow();
  }

  #add(item: Step | LogSpan): void {
    if (this.#items.length < itemsMax) this.#items.push(item);
  }

  get #ms(): number {
    return (this.#endedAt ?? this.#parts.elapsed()) - this.#startedAt;
  }

  get #isSlow(): boolean {
    return this.#endedAt !== undefined && this.#thresholdMs !== undefined && this.#ms >= this.#thresholdMs;
  }

  #writeSlow(): void {
    if (!this.#isSlow) {
      for (const item of this.#items) if (item instanceof LogSpan) item.#writeSlow();
      return;
    }
    const prefix = `Trace[${randomInt(2 ** 31)}]:`;
    const lines = [
      `${prefix} ${JSON.stringify(this.#name)} ${fieldsOf(this.#attributes)}(${this.#dateAt(this.#startedAt)}) (total time: ${Math.trunc(this.#ms)}ms):`,
    ];
    this.#addItems(lines, `${prefix} `, this.#stepThreshold());
    const total = formatDuration(BigInt(Math.round(this.#ms * 1e6)));
    lines.push(`${prefix} [${total}] [${total}] END`);
    this.#parts.write(`${lines.join("\n")}\n`);
  }

  #addItems(lines: string[], indent: string, threshold: number | undefined): void {
    let last = this.#startedAt;
    for (const item of this.#items) {
      if (item instanceof LogSpan) {
        item.#addTo(lines, indent, threshold);
        last = item.#endedAt ?? item.#startedAt;
      } else {
        const ms = item.at - last;
        if (threshold === undefined || ms >= threshold || this.#parts.isVerbose(allStepsLevel))
          lines.push(`${indent}---${this.#summary(item.name, item.attributes, ms, item.at)}`);
        last = item.at;
      }
    }
  }

  /** Adds the span, or if it was fast only its slow parts. */
  #addTo(lines: string[], indent: string, threshold: number | undefined): void {
    if (!this.#isSlow && !this.#parts.isVerbose(allStepsLevel)) {
      for (const item of this.#items) if (item instanceof LogSpan) item.#addTo(lines, indent, threshold);
      return;
    }
    lines.push(`${indent}[${this.#summary(this.#name, this.#attributes, this.#ms, this.#startedAt)}`);
    this.#addItems(lines, `${indent} `, this.#stepThreshold() ?? threshold);
    lines.push(`${lines.pop()}]`);
  }

  #summary(name: string, attributes: SpanAttributes | undefined, ms: number, at: number): string {
    return `${JSON.stringify(name)} ${fieldsOf(attributes)}${Math.trunc(ms)}ms (${this.#timeAt(at)})`;
  }

  /** The share of a step: the threshold of the span without those of its parts, divided among the rest. */
  #stepThreshold(): number | undefined {
    const whole = this.#thresholdMs;
    if (whole === undefined) return undefined;
    let [left, count] = [whole, this.#items.length + 1];
    for (const item of this.#items) {
      if (!(item instanceof LogSpan) || item.#thresholdMs === undefined) continue;
      left -= item.#thresholdMs;
      count--;
    }
    return left < whole / 4 ? whole / 4 / (this.#items.length + 1) : left / count;
  }

  /** The time of the clock at a time of `elapsed`, in UTC. */
  #isoAt(elapsed: number): string {
    const { clock, elapsed: now } = this.#parts;
    return new Date(clock.now() - (now() - elapsed)).toISOString();
  }

  #timeAt(elapsed: number): string {
    return this.#isoAt(elapsed).slice(11, 23);
  }

  #dateAt(elapsed: number): string {
    const iso = this.#isoAt(elapsed);
    return `${iso.slice(8, 10)}-${months[Number(iso.slice(5, 7)) - 1]}-${iso.slice(0, 4)} ${iso.slice(11, 23)}`;
  }
}

const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** JSON leaves these as they are. */
const separators: Readonly<Record<string, string>> = { "\u2028": "\\u2028", "\u2029": "\\u2029" };

/** `key:value,key:value ` with a space at the end; control characters of clients' values are escaped. */
function fieldsOf(attributes: SpanAttributes = {}): string {
  const fields = Object.entries(attributes).map(([key, value]) => `${key}:${escaped(String(value))}`);
  return fields.length === 0 ? "" : `${fields.join(",")} `;
}

/** Upstream writes line breaks as they are, so that a client can write lines of its own. */
function escaped(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029]/gu, (one) => separators[one] ?? JSON.stringify(one).slice(1, -1));
}
