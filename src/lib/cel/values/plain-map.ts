/** A map over an object whose values are converted when an expression reads them. */
import { CelList, CelMap, type CelValue } from "./value.ts";

/** Maps in one map that are remembered. */
const rememberedMax = 64;

/**
 * Remembers its keys, and the lists and maps in it: `size()` costs one unit, so an expression that
 * calls it for each of n elements must not count n keys each time.
 */
export abstract class PlainMap extends CelMap {
  #keys: readonly string[] | undefined;
  // Most expressions read one part of a map, for which a `Map` would be large.
  #firstKey: string | undefined;
  #first: CelValue | undefined;
  #others: Map<string, CelValue> | undefined;

  /** Converts a value. @returns undefined if there is none */
  protected abstract read(key: string): CelValue | undefined;
  protected abstract listKeys(): readonly string[];

  get size(): number {
    return this.keys().length;
  }

  keys(): readonly string[] {
    this.#keys ??= this.listKeys();
    return this.#keys;
  }

  find(key: CelValue): CelValue | undefined {
    if (typeof key !== "string") return undefined;
    const known = key === this.#firstKey ? this.#first : this.#others?.get(key);
    if (known !== undefined) return known;
    const value = this.read(key);
    if (value instanceof CelMap || value instanceof CelList) this.#remember(key, value);
    return value;
  }

  #remember(key: string, value: CelValue): void {
    if (this.#firstKey === undefined) {
      this.#firstKey = key;
      this.#first = value;
      return;
    }
    this.#others ??= new Map();
    if (this.#others.size < rememberedMax) this.#others.set(key, value);
  }
}
