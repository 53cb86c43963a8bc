/**
 * Run-time values. Each type has one representation, which `typeof` or `instanceof` identifies:
 *
 * | type | representation |
 * |---|---|
 * | int | `number` for a safe integer, `bigint` for any other (see `int.ts`) |
 * | uint, double | `CelUint`, `CelDouble` |
 * | string, bool, null | as in JavaScript; the size of a string is in code points |
 * | bytes | `Uint8Array` |
 * | timestamp, duration | `CelTimestamp`, `CelDuration` |
 * | optional | `CelOptional` |
 * | list, map, object | subclasses of `CelList`, `CelMap`, `CelObject`, which need not copy data |
 * | type | `CelTypeValue` |
 * | abstract types of libraries | subclasses of `CelOpaque` |
 * Source: cel-spec, "Values".
 */
import type { CelType } from "../types.ts";
import type { CelFailure } from "./failure.ts";

/** An int: see `int.ts`. */
export type CelInt = number | bigint;

/** A value of any type. */
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

/** The result of an expression. Failures are values, because `||` and `&&` can absorb them. */
export type Result = CelValue | CelFailure;

/** The result of a comparison: a failure for values that cannot be compared. */
export type Equality = boolean | CelFailure;

/** A uint. */
export class CelUint {
  /** 0 to 2^64 - 1. */
  readonly value: bigint;
  /** @param value 0 to 2^64 - 1 */
  constructor(value: bigint) {
    this.value = value;
  }
}

/** A double. */
export class CelDouble {
  readonly value: number;
  constructor(value: number) {
    this.value = value;
  }
}

/** A point in time. */
export class CelTimestamp {
  /** Nanoseconds since 1970, from year 1 to year 9999. */
  readonly nanoseconds: bigint;
  /** The offset from UTC of its text. */
  readonly offsetSeconds: number;
  constructor(nanoseconds: bigint, offsetSeconds = 0) {
    this.nanoseconds = nanoseconds;
    this.offsetSeconds = offsetSeconds;
  }
}

/** A span of time. */
export class CelDuration {
  /** An int64. */
  readonly nanoseconds: bigint;
  constructor(nanoseconds: bigint) {
    this.nanoseconds = nanoseconds;
  }
}

/** A type as a value: the result of `type(x)`, and the value of identifiers such as `int`. */
export class CelTypeValue {
  /** The name of the type at run time, such as `int` or `google.protobuf.Timestamp`. */
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

/** A value of an optional type. */
export class CelOptional {
  /** Undefined for `optional.none()`. */
  readonly value: CelValue | undefined;
  constructor(value: CelValue | undefined) {
    this.value = value;
  }
}

/** `optional.none()`. */
export const optionalNone = new CelOptional(undefined);

/** A list. */
export abstract class CelList {
  abstract readonly size: number;
  /** Whether a uint or a double is an error as an index, even if it is whole. */
  get hasIntIndices(): boolean {
    return false;
  }

  /** @param index 0 to size - 1 */
  abstract at(index: number): CelValue;

  /** Compares with an own equality, such as that of sets; undefined compares all elements. */
  equals(_other: CelValue): Equality | undefined {
    return undefined;
  }

  /** Finds an element with an own equality; undefined compares the value with all elements. */
  contains(_value: CelValue): Equality | undefined {
    return undefined;
  }

  /** Concatenates lists with their own merge rule, such as sets; undefined appends all elements. */
  concat(_other: CelList): CelList | undefined {
    return undefined;
  }
}

/** A map. */
export abstract class CelMap {
  abstract readonly size: number;
  /** Equal numbers of different types find the same entry. */
  abstract find(key: CelValue): CelValue | undefined;
  /** Whether the map has the key; `has()` and `in` call this and need no value. */
  has(key: CelValue): Equality {
    return this.find(key) !== undefined;
  }

  /** In the order of iteration. */
  abstract keys(): readonly CelValue[];

  /**
   * Compares with an own equality, such as that of schema objects; undefined compares all entries.
   */
  equals(_other: CelValue): Equality | undefined {
    return undefined;
  }
}

/** A message with named fields. */
export abstract class CelObject {
  /** The value of `type(x)`. */
  abstract readonly typeName: string;
  /** Returns undefined for a field that is not set: selecting it fails with `no such key`. */
  abstract field(name: string): CelValue | undefined;
  /** The result of `has()`; a failure if the field is set to an invalid value. */
  abstract has(name: string): boolean | CelFailure;
  /** Called for any two objects. */
  abstract equals(other: CelObject): Equality;
}

/** A value of an abstract type, such as a quantity. */
export abstract class CelOpaque {
  abstract readonly type: CelType;
  /** Called for any value but null. */
  abstract equals(other: CelValue): Equality;
  /** The size for costs. */
  get size(): number {
    return 1;
  }
  /** For messages. */
  abstract toString(): string;
}
