/** Encoded documents, made when first asked for. Only the compressed form is kept: a tenth of the size, and what nearly every client asks for. */
import { promisify } from "node:util";
import { gzip } from "node:zlib";

export interface Document {
  readonly gzipped: Buffer;
  /** Milliseconds since 1970. */
  readonly madeAt: number;
}

export interface DocumentCache {
  /** @param make called once for a key while what it made is kept; a failure is not kept */
  get(key: string, make: () => Promise<Buffer>): Promise<Document>;
  /** Whether it is kept, or being made. */
  has(key: string): boolean;
}

interface Slot {
  readonly document: Promise<Document>;
  /** Unknown until it is made. */
  bytes: number;
}

const compress = promisify(gzip);

/** @param bytesMax of all compressed documents together; past it those that were not asked for the longest are made again when needed */
export function createDocumentCache(bytesMax: number): DocumentCache {
  const slots = new Map<string, Slot>();
  let total = 0;

  const drop = (key: string, slot: Slot): void => {
    if (slots.get(key) !== slot) return;
    slots.delete(key);
    total -= slot.bytes;
  };
  const settle = (key: string, slot: Slot, bytes: number): void => {
    if (slots.get(key) !== slot) return;
    slot.bytes = bytes;
    total += bytes;
    for (const [oldest, other] of slots) {
      if (total <= bytesMax || other === slot) return;
      drop(oldest, other);
    }
  };
  return {
    has: (key) => slots.has(key),
    get(key, make) {
      const known = slots.get(key);
      if (known !== undefined) {
        slots.delete(key);
        slots.set(key, known);
        return known.document;
      }
      const slot: Slot = { document: make().then(pack), bytes: 0 };
      slots.set(key, slot);
      slot.document.then(
        ({ gzipped }) => settle(key, slot, gzipped.length),
        () => drop(key, slot),
      );
      return slot.document;
    },
  };
}

async function pack(bytes: Buffer): Promise<Document> {
  return { gzipped: await compress(bytes), madeAt: Date.now() };
}
