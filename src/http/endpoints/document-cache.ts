/**
 * A cache of encoded documents. Only the compressed form is kept: a tenth of the size, and what
 * nearly every client accepts.
 */
import { promisify } from "node:util";
import { gzip } from "node:zlib";

/** A compressed document. */
export interface Document {
  readonly gzipped: Buffer;
  /** Milliseconds since 1970. */
  readonly madeAt: number;
}

/** A cache with a limit on its size. */
interface DocumentCache {
  /** @param make called once per key while its result is kept; failures are not kept */
  get(key: string, make: () => Promise<Buffer>): Promise<Document>;
  /** Whether the document is kept, or being encoded. */
  has(key: string): boolean;
}

interface Slot {
  readonly document: Promise<Document>;
  /** 0 until it is encoded. */
  bytes: number;
}

const compress = promisify(gzip);

/**
 * @param bytesMax of all compressed documents together; above it, the least recently used ones are
 *   dropped
 */
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
      const existing = slots.get(key);
      if (existing !== undefined) {
        slots.delete(key);
        slots.set(key, existing);
        return existing.document;
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
