/**
 * The most requests at once within the last full second, by kind.
 * Source: k8s.io/apiserver@v0.36.0/pkg/server/filters/maxinflight.go (`requestWatermark`).
 */
import type { RequestKind } from "../flow-control/contract.ts";

const kinds: readonly RequestKind[] = ["mutating", "readOnly"];
const windowMs = 1_000;

interface Watermark {
  current: number;
  /** Since the window began. */
  most: number;
  /** Of the window before. */
  mostBefore: number;
  window: number;
}

/** Counts requests of one phase. */
export class InFlightWatermarks {
  readonly #now: () => number;
  readonly #marks: Readonly<Record<RequestKind, Watermark>>;

  /** @param now milliseconds since any fixed time */
  constructor(now: () => number) {
    this.#now = now;
    const mark = (): Watermark => ({ current: 0, most: 0, mostBefore: 0, window: 0 });
    this.#marks = { mutating: mark(), readOnly: mark() };
  }

  /** @param at the current time @returns the requests now */
  change(kind: RequestKind, by: 1 | -1, at: number): number {
    const mark = this.#at(kind, at);
    mark.current += by;
    if (mark.current > mark.most) mark.most = mark.current;
    return mark.current;
  }

  /** The most requests of each kind in the window before. */
  values(): (readonly [labels: readonly [kind: RequestKind], requests: number])[] {
    const now = this.#now();
    return kinds.map((kind) => [[kind], this.#at(kind, now).mostBefore]);
  }

  /** Begins a new window if the last one has ended. */
  #at(kind: RequestKind, now: number): Watermark {
    const mark = this.#marks[kind];
    const window = Math.floor(now / windowMs);
    if (window === mark.window) return mark;
    mark.mostBefore = window === mark.window + 1 ? mark.most : mark.current;
    mark.most = mark.current;
    mark.window = window;
    return mark;
  }
}
