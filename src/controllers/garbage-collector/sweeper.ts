/** Enqueues objects of the graph whose events may have been missed, or whose owners' kinds changed. */
import { type Clock, realClock } from "../../apimachinery/clock.ts";
import { parseGroupVersion } from "../../apimachinery/object.ts";
import type { Graph, Node } from "./graph.ts";

interface SweeperOptions {
  readonly graph: Graph;
  readonly clock: Clock;
  /** Adds a key to the queue. @returns false when the queue is full or stopped */
  add(key: string): boolean;
}

/** Interval of checks for space in the queue. */
const retryMs = 1_000;
/** Objects that a sweep checks before the event loop serves others. */
const pieceMax = 1_000;

/** All objects, because events may have been missed. */
export const everything = "everything";
/** Objects with owners of unknown kinds, because the served kinds have changed. */
export const parked = "parked";
/** Objects with an owner of the kind. */
export const ownedBy = ({ group, kind }: { readonly group: string | undefined; readonly kind: string }): string =>
  `${group}/${kind}`;

/** Sweeps the graph on request, one sweep at a time. The first one enqueues all objects. */
export class Sweeper {
  readonly #options: SweeperOptions;
  /** Parts of the graph that the next sweep enqueues. */
  #requested = new Set([everything]);
  #sweeping = false;
  #stopped = false;

  constructor(options: SweeperOptions) {
    this.#options = options;
  }

  /**
   * Requests that the next sweep enqueues a part of the graph.
   * @param part {@link everything}, {@link parked}, or {@link ownedBy} a kind
   */
  request(part: string): void {
    this.#requested.add(part);
  }

  /** Starts a sweep if one is requested and none runs. */
  startIfRequested(): void {
    const requested = this.#requested;
    if (requested.size === 0 || this.#sweeping) return;
    this.#requested = new Set();
    this.#sweeping = true;
    void this.#sweep(requested).finally(() => {
      this.#sweeping = false;
    });
  }

  /** Ends a running sweep before its next object. */
  stop(): void {
    this.#stopped = true;
  }

  async #sweep(parts: ReadonlySet<string>): Promise<void> {
    const { graph, clock, add } = this.#options;
    let checked = 0;
    for (const node of graph.nodes()) {
      const { key } = node;
      if (++checked % pieceMax === 0) await new Promise(setImmediate);
      if (!isIn(parts, node)) continue;
      while (!this.#stopped && !add(key))
        await new Promise<void>((resolve) => realClock(clock).after(retryMs, resolve));
      if (this.#stopped) return;
    }
  }
}

function isIn(parts: ReadonlySet<string>, node: Node): boolean {
  if (parts.has(everything) || (node.parked && parts.has(parked))) return true;
  return node.meta.owners.some(({ apiVersion, kind }) =>
    parts.has(ownedBy({ group: parseGroupVersion(apiVersion)?.group, kind })),
  );
}
