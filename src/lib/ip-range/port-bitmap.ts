/**
 * The ports of a range that are in use, one bit each.
 * Source: the snapshots of k8s.io/kubernetes@v1.36.0/pkg/registry/core/service/allocator/bitmap.go,
 * which are the bytes of a big integer: the bit of the first port is the lowest of the last byte,
 * and leading zeros are left out.
 */
import type { PortRange } from "./port-range.ts";

/** A mutable set of ports. Ports outside of the range are never in it. */
export class PortBitmap {
  readonly range: PortRange;
  /** The lowest bit of the first byte is the first port. */
  readonly #bits: Uint8Array;

  /** @param snapshot the bytes of `snapshot`; bits beyond the range are kept */
  constructor(range: PortRange, snapshot: Uint8Array = new Uint8Array()) {
    this.range = range;
    this.#bits = new Uint8Array(Math.max(snapshot.length, Math.ceil((range.last - range.first + 1) / 8)));
    this.#bits.set(Uint8Array.from(snapshot).reverse());
  }

  has(port: number): boolean {
    if (!this.#contains(port)) return false;
    const at = port - this.range.first;
    return ((this.#bits[at >> 3] as number) & (1 << (at & 7))) !== 0;
  }

  /** @returns false when the port is in the set already, or outside of the range */
  add(port: number): boolean {
    if (!this.#contains(port) || this.has(port)) return false;
    const at = port - this.range.first;
    this.#bits[at >> 3] = (this.#bits[at >> 3] as number) | (1 << (at & 7));
    return true;
  }

  delete(port: number): void {
    if (!this.#contains(port)) return;
    const at = port - this.range.first;
    this.#bits[at >> 3] = (this.#bits[at >> 3] as number) & ~(1 << (at & 7));
  }

  /** The ports in ascending order. */
  *[Symbol.iterator](): IterableIterator<number> {
    for (let port = this.range.first; port <= this.range.last; port++) if (this.has(port)) yield port;
  }

  snapshot(): Buffer {
    let length = this.#bits.length;
    while (length > 0 && this.#bits[length - 1] === 0) length--;
    return Buffer.from(this.#bits.subarray(0, length)).reverse();
  }

  #contains(port: number): boolean {
    return port >= this.range.first && port <= this.range.last;
  }
}

/**
 * The ports in the order in which a free one is searched: low ports are for callers that request
 * one, 1/32 of the range, at least 16 and at most 128, and none of a range of 16 or less.
 * Sources: KEP-3668; k8s.io/kubernetes@v1.36.0/pkg/registry/core/service/portallocator/allocator.go.
 *
 * @param random returns a number from 0 to below its argument
 */
export function* candidatePorts(
  { first, last }: PortRange,
  random: (below: number) => number,
): IterableIterator<number> {
  const size = last - first + 1;
  const kept = size <= 16 ? 0 : Math.min(Math.max(16, Math.floor(size / 32)), 128);
  yield* from(first + kept, last, random);
  yield* from(first, first + kept - 1, random);
}

function* from(first: number, last: number, random: (below: number) => number): IterableIterator<number> {
  if (last < first) return;
  const start = first + random(last - first + 1);
  for (let port = start; port <= last; port++) yield port;
  for (let port = first; port < start; port++) yield port;
}
