/**
 * Values at run time. Each type has one representation, so that a `typeof` or an `instanceof` tells it:
 *
 * | type | representation |
 * |---|---|
 * | int | `number` while it is a safe integer, `bigint` beyond (see `int.ts`); never a safe integer as bigint |
 * | uint, double | `CelUint`, `CelDouble` |
 * | string, bool, null | as in JavaScript; strings count by code points |
 * | bytes | `Uint8Array` |
 * | list, map, object | subclasses of `CelList`, `CelMap`, `CelObject`, so that data is read where it lies |
 * | type | `CelTypeValue` |
 * | abstract types of libraries | subclasses of `CelOpaque` |
 */
import type { CelType } from "../types.ts";
import type { CelFailure } from "./failure.ts";

export type CelInt = number | bigint;

export type CelValue =
  | null
  | boolean
  | string
  | CelInt
  | CelUint
  | CelDouble
  | Uint8Array
  | CelTimestamp
  | CelDuration
  | CelList
  | CelMap
  | CelObject
  | CelOptional
  | CelOpaque
  | CelTypeValue;

/** What an expression yields: a failure is passed along as a value, for `||` and `&&` may absorb it. */
export type Result = CelValue | CelFailure;

export class CelUint {
  readonly value: bigint;
  /** @param value 0 to 2^64 - 1 */
  constructor(value: bigint) {
    this.value = value;
  }
}

export class CelDouble {
  readonly value: number;
  constructor(value: number) {
    this.value = value;
  }
}

export class CelTimestamp {
  /** Nanoseconds since 1970, from year 1 to year 9999. */
  readonly nanoseconds: bigint;
  constructor(nanoseconds: bigint) {
    this.nanoseconds = nanoseconds;
  }
}

export class CelDuration {
  /** An int64. */
  readonly nanoseconds: bigint;
  constructor(nanoseconds: bigint) {
    this.nanoseconds = nanoseconds;
  }
}

/** A type as a value: what `type(x)` gives, and what the identifiers `int`, `string` and so on stand for. */
export class CelTypeValue {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

export class CelOptional {
  /** Undefined: there is none. */
  readonly value: CelValue | undefined;
  constructor(value: CelValue | undefined) {
    this.value = value;
  }
}

export const optionalNone = new CelOptional(undefined);

export abstract class CelList {
  abstract readonly size: number;
  /** @param index 0 to size - 1 */
  abstract at(index: number): CelValue;

  /** A list with its own equality (a set, a map of objects) answers here; undefined: element by element. */
  equals(_other: CelList): boolean | undefined {
    return undefined;
  }

  /** A list with its own concatenation answers here; undefined: one after the other. */
  concat(_other: CelList): CelList | undefined {
    return undefined;
  }
}

export abstract class CelMap {
  abstract readonly size: number;
  /** Numbers that are equal find the same entry, whatever their type. */
  abstract find(key: CelValue): CelValue | undefined;
  /** Whether there is an entry: what `has()` and `in` ask, without making its value. */
  has(key: CelValue): boolean {
    return this.find(key) !== undefined;
  }

  /** In the order in which comprehensions see them. */
  abstract keys(): readonly CelValue[];

  /** A map with its own equality (an object of a schema) answers here; undefined: entry by entry. */
  equals(_other: CelMap): boolean | undefined {
    return undefined;
  }
}

/** A message: fields by name. */
export abstract class CelObject {
  abstract readonly typeName: string;
  /** Undefined when it is not set: selecting it fails with `no such key`. */
  abstract field(name: string): CelValue | undefined;
  /** What `has()` says; a failure when the field is there and cannot be made. */
  abstract has(name: string): boolean | CelFailure;
  abstract equals(other: CelObject): boolean;
}

/** A value of an abstract type of a library. */
export abstract class CelOpaque {
  abstract readonly type: CelType;
  abstract equals(other: CelOpaque): boolean;
  /** As costs count it. */
  get size(): number {
    return 1;
  }
  /** For messages and for people. */
  abstract toString(): string;
}
