/** Lists and maps created by expressions, and sizes of values. */
import { isNumber, rawNumber } from "./equality.ts";
import { type CelFailure, fail } from "./failure.ts";
import { goTypeNameOf } from "./type-names.ts";
import { CelList, CelMap, CelOpaque, CelOptional, CelUint, type CelValue, type Equality } from "./value.ts";

/** A list over an array, which the caller must not change afterwards. */
export class ArrayList extends CelList {
  readonly items: readonly CelValue[];
  constructor(items: readonly CelValue[]) {
    super();
    this.items = items;
  }
  get size(): number {
    return this.items.length;
  }
  at(index: number): CelValue {
    return this.items[index] as CelValue;
  }
}

/** A list of texts that a function returns. cel-go holds it as Go strings, not as values. */
export class TextList extends ArrayList {}

/**
 * Concatenates two lists. Long lists are not copied: `l + l` costs one unit, so repeated doubling
 * of a list must not use memory for its elements.
 */
export function concatLists(left: CelList, right: CelList): CelList {
  const own = left.concat(right);
  if (own !== undefined) return own;
  if (right.size === 0) return left;
  if (left.size === 0) return right;
  return right.size > copiedMax || (left.size > copiedMax && !(left instanceof GrowingList))
    ? new JoinedList(left, right)
    : new GrowingList(left, right);
}

/** Lists up to this size are copied. */
const copiedMax = 100;

/** A view of two lists. Views nest no deeper than expressions do. */
class JoinedList extends CelList {
  readonly size: number;
  readonly #left: CelList;
  readonly #right: CelList;

  constructor(left: CelList, right: CelList) {
    super();
    this.size = left.size + right.size;
    if (!Number.isSafeInteger(this.size)) throw new RangeError("a list has more elements than can be counted");
    this.#left = left;
    this.#right = right;
  }

  at(index: number): CelValue {
    return index < this.#left.size ? this.#left.at(index) : this.#right.at(index - this.#left.size);
  }
}

/**
 * The copied result of `list + list`. Lists that grow by one element share one array, of which each
 * uses its own first elements, so that building a list of n elements makes n copies and not n².
 */
class GrowingList extends CelList {
  readonly size: number;
  readonly #shared: CelValue[];

  constructor(left: CelList, right: CelList) {
    super();
    if (left instanceof GrowingList && left.#shared.length === left.size) this.#shared = left.#shared;
    else this.#shared = Array.from({ length: left.size }, (_, index) => left.at(index));
    for (let at = 0; at < right.size; at++) this.#shared.push(right.at(at));
    this.size = left.size + right.size;
  }

  at(index: number): CelValue {
    return this.#shared[index] as CelValue;
  }
}

/** Returns the same key for equal numbers of different types. */
function keyOf(key: CelValue): unknown {
  if (typeof key === "string" || !isNumber(key)) return key;
  const raw = rawNumber(key);
  if (typeof raw === "bigint" && raw >= Number.MIN_SAFE_INTEGER && raw <= Number.MAX_SAFE_INTEGER) return Number(raw);
  if (typeof raw === "number" && !Number.isSafeInteger(raw) && Number.isInteger(raw)) return BigInt(raw);
  return raw;
}

type Entries = Map<unknown, readonly [key: CelValue, value: CelValue, position: number]>;

/** A map over the first entries of a hash table. Maps that grow by one entry share the table. */
export class HashMap extends CelMap {
  readonly #entries: Entries;
  readonly size: number;

  private constructor(entries: Entries) {
    super();
    this.#entries = entries;
    this.size = entries.size;
  }

  /** For a duplicate key, the last value applies, as in cel-go. */
  static of(pairs: Iterable<readonly [key: CelValue, value: CelValue, ...rest: unknown[]]>): HashMap {
    const entries: Entries = new Map();
    for (const [key, value] of pairs) {
      const hash = keyOf(key);
      entries.set(hash, [key, value, entries.get(hash)?.[2] ?? entries.size]);
    }
    return new HashMap(entries);
  }

  /** @returns a map with one more entry; undefined if the key exists */
  with(key: CelValue, value: CelValue): HashMap | undefined {
    if (this.find(key) !== undefined) return undefined;
    if (this.#entries.size > this.size) return HashMap.of([...this.#pairs(), [key, value]]);
    this.#entries.set(keyOf(key), [key, value, this.size]);
    return new HashMap(this.#entries);
  }

  find(key: CelValue): CelValue | undefined {
    const entry = this.#entries.get(keyOf(key));
    return entry !== undefined && entry[2] < this.size ? entry[1] : undefined;
  }

  override has(key: CelValue): Equality {
    return key instanceof Uint8Array ? noHash(key) : super.has(key);
  }

  keys(): readonly CelValue[] {
    return this.#pairs().map(([key]) => key);
  }

  #pairs(): (readonly [CelValue, CelValue, number])[] {
    return [...this.#entries.values()].slice(0, this.size);
  }
}

/** The failure of a map whose key is bytes. Source: cel-go, whose maps are Go's */
export function noHash(key: Uint8Array): CelFailure {
  return fail(`internal error: runtime error: hash of unhashable type ${goTypeNameOf(key)}`);
}

/** Whether a value can be a key of a map literal. */
export function isMapKey(value: CelValue): boolean {
  return (
    typeof value === "string" ||
    typeof value === "boolean" ||
    typeof value === "number" ||
    typeof value === "bigint" ||
    value instanceof CelUint
  );
}

/** Most texts have no such pair, and V8 tests texts of one byte per character without reading them. */
const surrogatePair = /[\ud800-\udbff][\udc00-\udfff]/;

/** Counts the code points of a string. */
export function codePoints(text: string): number {
  if (!surrogatePair.test(text)) return text.length;
  let count = text.length;
  for (let at = 0; at < text.length - 1; at++) {
    if ((text.charCodeAt(at) & 0xfc00) === 0xd800 && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00) {
      count--;
      at++;
    }
  }
  return count;
}

/**
 * Returns the size for costs: code points, bytes, elements or entries, also of the value of an
 * optional; 1 for other values.
 */
export function sizeOf(value: unknown): number {
  if (typeof value === "string") return codePoints(value);
  if (value instanceof CelList || value instanceof CelMap || value instanceof CelOpaque) return value.size;
  if (value instanceof CelOptional && value.value !== undefined) return sizeOf(value.value);
  return value instanceof Uint8Array ? value.length : 1;
}
