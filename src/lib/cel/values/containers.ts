/** Lists and maps that expressions make, and the sizes of values. */
import { isNumber, rawNumber } from "./equality.ts";
import { CelList, CelMap, CelOpaque, CelUint, type CelValue } from "./value.ts";

/** A list over an array; the array is not changed afterwards, but by the one comprehension that builds it. */
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

/** Both, one after the other. What is long is not copied: a list that is added to itself again and again must cost no more than upstream charges. */
export function concatLists(left: CelList, right: CelList): CelList {
  const own = left.concat(right);
  if (own !== undefined) return own;
  if (right.size === 0) return left;
  if (left.size === 0) return right;
  return right.size > copiedMax || (left.size > copiedMax && !(left instanceof GrowingList))
    ? new JoinedList(left, right)
    : new GrowingList(left, right);
}

/** Elements that are copied rather than kept in two lists. */
const copiedMax = 100;

/** Two lists that stay what they are. They nest as deep as expressions do. */
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
 * What `list + list` gives. Lists that grow by one share one array: each sees its own first elements of it, so that building a list of n
 * in n steps is not n² copies.
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

/** Numbers that are equal have one key. A whole double is a whole number. */
function keyOf(key: CelValue): unknown {
  if (typeof key === "string" || !isNumber(key)) return key;
  const raw = rawNumber(key);
  if (typeof raw === "bigint" && raw >= Number.MIN_SAFE_INTEGER && raw <= Number.MAX_SAFE_INTEGER) return Number(raw);
  if (typeof raw === "number" && !Number.isSafeInteger(raw) && Number.isInteger(raw)) return BigInt(raw);
  return raw;
}

type Entries = Map<unknown, readonly [key: CelValue, value: CelValue, position: number]>;

/** A map over a hash table, of which it shows the first entries: maps that grow by one share the table. */
export class HashMap extends CelMap {
  readonly #entries: Entries;
  readonly size: number;

  private constructor(entries: Entries) {
    super();
    this.#entries = entries;
    this.size = entries.size;
  }

  /** Of a key that is there twice, the later value counts, as upstream has it. */
  static of(pairs: Iterable<readonly [key: CelValue, value: CelValue, ...rest: unknown[]]>): HashMap {
    const entries: Entries = new Map();
    for (const [key, value] of pairs) {
      const hash = keyOf(key);
      entries.set(hash, [key, value, entries.get(hash)?.[2] ?? entries.size]);
    }
    return new HashMap(entries);
  }

  /** This map and one entry more. @returns undefined when the key is there already */
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

  keys(): readonly CelValue[] {
    return this.#pairs().map(([key]) => key);
  }

  #pairs(): (readonly [CelValue, CelValue, number])[] {
    return [...this.#entries.values()].slice(0, this.size);
  }
}

export function isMapKey(value: CelValue): boolean {
  return (
    typeof value === "string" ||
    typeof value === "boolean" ||
    typeof value === "number" ||
    typeof value === "bigint" ||
    value instanceof CelUint
  );
}

export function codePoints(text: string): number {
  let count = text.length;
  for (let at = 0; at < text.length - 1; at++) {
    if ((text.charCodeAt(at) & 0xfc00) === 0xd800 && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00) {
      count--;
      at++;
    }
  }
  return count;
}

/** As costs count it: code points, bytes, elements, entries; 1 for everything else. */
export function sizeOf(value: unknown): number {
  if (typeof value === "string") return codePoints(value);
  if (value instanceof CelList || value instanceof CelMap || value instanceof CelOpaque) return value.size;
  return value instanceof Uint8Array ? value.length : 1;
}
