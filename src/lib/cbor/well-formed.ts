/**
 * Checks data before it is decoded, without recursion: it is one item, its lengths are correct, and
 * it contains nothing that upstream rejects in any place.
 * Source: RFC 8949, appendix C; fxamacker/cbor as upstream configures it.
 */
import { halfValue } from "./half-float.ts";
import { breakByte, CborError, info, major, majorNames, tag } from "./wire.ts";

const nestedLevelsMax = 10_000;
const mapPairsMax = 2_097_152;
const arrayElementsMax = 2 ** 31 - 1;

/**
 * Checks that the data is one well-formed item.
 * @throws CborError
 */
export function checkWellFormed(bytes: Buffer): void {
  if (bytes.length === 0) throw new CborError("EOF");
  const end = new Scan(bytes).item();
  if (end === bytes.length) return;
  throw new CborError(`cbor: ${bytes.length - end} bytes of extraneous data starting at index ${end}`);
}

/** An array or a map whose items are being scanned. */
interface Open {
  readonly type: number;
  /** The number of arrays, maps and tags around its items. */
  readonly depth: number;
  /** The number of items, counting keys and values; undefined when the length is indefinite. */
  readonly items: number | undefined;
  seen: number;
}

class Scan {
  readonly #bytes: Buffer;
  readonly #view: DataView;
  readonly #open: Open[] = [];
  #at = 0;
  #type = 0;
  #info = 0;
  /** The argument; not exact beyond 2^53. */
  #value = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  /** Scans one item. @returns the offset of its end */
  item(): number {
    this.#begin(0);
    for (let top = this.#open.at(-1); top !== undefined; top = this.#open.at(-1)) {
      if (this.#ends(top)) this.#open.pop();
      else {
        top.seen++;
        if (top.items === undefined) this.#checkCount(top.type, top.seen);
        this.#begin(top.depth);
      }
    }
    return this.#at;
  }

  #ends({ type, items, seen }: Open): boolean {
    if (items !== undefined) return seen === items;
    if (this.#at === this.#bytes.length) throw unexpectedEnd();
    if (this.#bytes[this.#at] !== breakByte) return false;
    this.#at++;
    if (type === major.map && seen % 2 === 1) throw unexpectedBreak();
    return true;
  }

  #checkCount(type: number, seen: number): void {
    if (type === major.map && seen / 2 > mapPairsMax) throw tooManyPairs();
  }

  /** Scans one item, or the head of an array or map. */
  #begin(outerDepth: number): void {
    this.#head();
    const depth = this.#type === major.tag ? this.#tags(outerDepth) : outerDepth;
    if (this.#type === major.bytes || this.#type === major.text) this.#string();
    else if (this.#type === major.array || this.#type === major.map) this.#openContainer(depth + 1);
  }

  #string(): void {
    if (this.#info === info.indefinite) return this.#chunks(this.#type);
    if (this.#value >= 2 ** 63)
      throw new CborError(
        `cbor: ${majorNames[this.#type]} length ${this.#exact()} is too large, causing integer overflow`,
      );
    if (this.#bytes.length - this.#at < this.#value) throw unexpectedEnd();
    this.#at += this.#value;
  }

  #chunks(type: number): void {
    for (;;) {
      const first = this.#bytes[this.#at];
      if (first === undefined) throw unexpectedEnd();
      if (first === breakByte) break;
      const name = majorNames[type];
      if (first >>> 5 !== type)
        throw new CborError(`cbor: wrong element type ${majorNames[first >>> 5]} for indefinite-length ${name}`);
      if ((first & 0x1f) === info.indefinite)
        throw new CborError(`cbor: indefinite-length ${name} chunk is not definite-length`);
      this.#head();
      this.#string();
    }
    this.#at++;
  }

  #openContainer(depth: number): void {
    if (depth > nestedLevelsMax) throw tooDeep();
    const type = this.#type;
    if (this.#info === info.indefinite) {
      this.#open.push({ type, depth, items: undefined, seen: 0 });
      return;
    }
    const name = majorNames[type];
    if (this.#value >= 2 ** 63)
      throw new CborError(`cbor: ${name} length ${this.#exact()} is too large, it would cause integer overflow`);
    if (type === major.array && this.#value > arrayElementsMax)
      throw new CborError(`cbor: exceeded max number of elements ${arrayElementsMax} for CBOR array`);
    if (type === major.map && this.#value > mapPairsMax) throw tooManyPairs();
    this.#open.push({ type, depth, items: type === major.map ? this.#value * 2 : this.#value, seen: 0 });
  }

  /** Scans tags and the head of the item after them. @returns the depth of that item */
  #tags(outerDepth: number): number {
    let depth = outerDepth;
    for (;;) {
      const next = this.#bytes[this.#at];
      if (next === undefined) throw unexpectedEnd();
      if (this.#value === tag.positiveBignum || this.#value === tag.negativeBignum)
        throw new CborError("cbor: data item of cbor type tag is not accepted by protocol: bignum");
      this.#head();
      if (next >>> 5 !== major.tag) return depth;
      depth++;
      if (depth > nestedLevelsMax) throw tooDeep();
    }
  }

  #head(): void {
    const first = this.#bytes[this.#at];
    if (first === undefined) throw unexpectedEnd();
    this.#at++;
    this.#type = first >>> 5;
    this.#info = first & 0x1f;
    this.#value = this.#info;
    if (this.#info >= info.byte) this.#argument();
  }

  #argument(): void {
    const at = this.#at;
    const size = this.#info <= info.double ? 1 << (this.#info - info.byte) : 0;
    if (this.#bytes.length - at < size) throw unexpectedEnd();
    this.#at += size;
    switch (this.#info) {
      case info.byte:
        this.#value = this.#view.getUint8(at);
        if (this.#type === major.simple && this.#value < 32)
          throw new CborError(`cbor: invalid simple value ${this.#value} for type ${majorNames[this.#type]}`);
        return;
      case info.half:
        this.#value = this.#view.getUint16(at);
        if (this.#type === major.simple) checkFinite(halfValue(this.#value));
        return;
      case info.single:
        this.#value = this.#view.getUint32(at);
        if (this.#type === major.simple) checkFinite(this.#view.getFloat32(at));
        return;
      case info.double:
        this.#value = this.#view.getUint32(at) * 2 ** 32 + this.#view.getUint32(at + 4);
        if (this.#type === major.simple) checkFinite(this.#view.getFloat64(at));
        return;
      case info.indefinite:
        if (this.#type === major.simple) throw unexpectedBreak();
        if (this.#type >= major.bytes && this.#type <= major.map) return;
    }
    throw new CborError(`cbor: invalid additional information ${this.#info} for type ${majorNames[this.#type]}`);
  }

  /** The exact value of the last argument, which has eight bytes. */
  #exact(): bigint {
    return this.#view.getBigUint64(this.#at - 8);
  }
}

function checkFinite(value: number): void {
  if (Number.isFinite(value)) return;
  const what = Number.isNaN(value) ? "floating-point NaN" : "floating-point infinity";
  throw new CborError(`cbor: data item of cbor type primitives is not accepted by protocol: ${what}`);
}

function unexpectedEnd(): CborError {
  return new CborError("unexpected EOF");
}

function unexpectedBreak(): CborError {
  return new CborError('cbor: unexpected "break" code');
}

function tooDeep(): CborError {
  return new CborError(`cbor: exceeded max nested level ${nestedLevelsMax}`);
}

function tooManyPairs(): CborError {
  return new CborError(`cbor: exceeded max number of key-value pairs ${mapPairsMax} for CBOR map`);
}
