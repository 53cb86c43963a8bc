/** The spans of one request that are open, the innermost last. */
import type { Span, SpanAttributes, SpanScope } from "../../apimachinery/spans.ts";

interface OpenSpan {
  readonly span: Span;
  /** As of {@link Span.end}. */
  readonly logMs: number | undefined;
}

/** The scope of a request. */
export class RequestSpans implements SpanScope {
  readonly #open: OpenSpan[] = [];
  /** Called in order before the spans end with the request. */
  readonly atEnd: (() => void)[] = [];

  get current(): Span | undefined {
    return this.#open.at(-1)?.span;
  }

  /** Adds a span, which is the innermost now. */
  push<S extends Span>(span: S, logMs?: number): S {
    this.#open.push({ span, logMs });
    return span;
  }

  /** Starts a part of the innermost span; does nothing without one. */
  start(name: string, attributes?: SpanAttributes, logMs?: number): Span | undefined {
    const span = this.current?.start(name, attributes);
    return span && this.push(span, logMs);
  }

  /** Ends a span and those in it. */
  end(span: Span): void {
    const at = this.#open.findLastIndex((one) => one.span === span);
    if (at >= 0) this.#endFrom(at);
  }

  endAll(): void {
    for (const run of this.atEnd) run();
    this.#endFrom(0);
  }

  #endFrom(at: number): void {
    for (const { span, logMs } of this.#open.splice(at).reverse()) span.end(logMs);
  }

  /** Removes a span and those in it, which no collector receives. */
  forget(span: Span): void {
    const at = this.#open.findLastIndex((one) => one.span === span);
    if (at >= 0) this.#open.splice(at);
  }
}
