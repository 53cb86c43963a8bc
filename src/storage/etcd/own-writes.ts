/**
 * The JSON and seals of values that this process wrote, so that their events need not be decoded.
 * A value is recognized by its bytes, which prove that it is the same object.
 */
import type { Seal, Write } from "../contract.ts";

interface OwnWrite {
  readonly stored: Buffer;
  readonly value: Buffer;
  readonly seal: Seal;
}

/** What is kept at most; the oldest is dropped. */
const bytesMax = 32 << 20;

export class OwnWrites {
  /** By key, in the order of writing. */
  readonly #writes = new Map<string, OwnWrite>();
  #bytes = 0;

  /** Remembers a write before it is sent. Without a seal, there is nothing to save. */
  add({ key, value, seal, shared }: Write): void {
    if (value === null || seal === undefined) return;
    this.#delete(key);
    this.#writes.set(key, { stored: shared ?? value, value, seal });
    this.#bytes += bytesOf(value, shared ?? value);
    for (const oldest of this.#writes.keys()) {
      if (this.#bytes <= bytesMax) return;
      this.#delete(oldest);
    }
  }

  /** Returns the JSON and the seal of the stored bytes, or those bytes. */
  restore(key: string, stored: Buffer): { value: Buffer; seal?: Seal } {
    const own = this.#writes.get(key);
    return own?.stored.equals(stored) ? { value: own.value, seal: own.seal } : { value: stored };
  }

  /** Forgets a value whose event was delivered; a later one of the key is kept. */
  delivered(key: string, stored: Buffer): void {
    if (this.#writes.get(key)?.stored.equals(stored)) this.#delete(key);
  }

  #delete(key: string): void {
    const own = this.#writes.get(key);
    if (own === undefined) return;
    this.#writes.delete(key);
    this.#bytes -= bytesOf(own.value, own.stored);
  }
}

/** The stored bytes need memory of their own if they have another encoding. */
function bytesOf(value: Buffer, stored: Buffer): number {
  return value === stored ? value.length : value.length + stored.length;
}
