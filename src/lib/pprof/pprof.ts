/**
 * Encodes profiles for `go tool pprof`: protocol buffers, to be compressed with gzip.
 * Source: github.com/google/pprof, proto/profile.proto.
 */
import { encodeMessage, type Message } from "../grpc/codec.ts";

/** A function on a stack. */
export interface Frame {
  /** Empty for an anonymous one. */
  readonly name: string;
  readonly file: string;
  /** From 1; 0: unknown. */
  readonly line: number;
}

/** What was observed with one stack. */
export interface ProfileSample {
  /** The innermost function first. */
  readonly stack: readonly Frame[];
  /** One for each of the types. */
  readonly values: readonly number[];
}

export interface ProfileInput {
  /** Such as `cpu` in `nanoseconds`. */
  readonly types: readonly (readonly [type: string, unit: string])[];
  readonly samples: readonly ProfileSample[];
  /** Between two samples, in the unit of the last type. */
  readonly period: number;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly durationMs: number;
}

const valueType: Message = {
  name: "ValueType",
  fields: { type: { id: 1, type: "int64" }, unit: { id: 2, type: "int64" } },
};
const line: Message = {
  name: "Line",
  fields: { functionId: { id: 1, type: "int64" }, line: { id: 2, type: "int64" } },
};
/** The message `Profile`. */
export const pprofMessage: Message = {
  name: "Profile",
  fields: {
    sampleType: { id: 1, type: valueType, repeated: true },
    sample: {
      id: 2,
      repeated: true,
      type: {
        name: "Sample",
        fields: {
          locationId: { id: 1, type: "int64", repeated: true },
          value: { id: 2, type: "int64", repeated: true },
        },
      },
    },
    location: {
      id: 4,
      repeated: true,
      type: { name: "Location", fields: { id: { id: 1, type: "int64" }, line: { id: 4, type: line, repeated: true } } },
    },
    function: {
      id: 5,
      repeated: true,
      type: {
        name: "Function",
        fields: {
          id: { id: 1, type: "int64" },
          name: { id: 2, type: "int64" },
          systemName: { id: 3, type: "int64" },
          filename: { id: 4, type: "int64" },
          startLine: { id: 5, type: "int64" },
        },
      },
    },
    stringTable: { id: 6, type: "string", repeated: true },
    timeNanos: { id: 9, type: "id" },
    durationNanos: { id: 10, type: "id" },
    periodType: { id: 11, type: valueType },
    period: { id: 12, type: "int64" },
  },
};

/** @returns the bytes before compression */
export function encodePprof({ types, samples, period, startedAt, durationMs }: ProfileInput): Buffer {
  const texts = new Table<string>((text) => text);
  texts.idOf(""); // The first one is always empty.
  const frames = new Table<Frame>(({ name, file, line: at }) => `${at} ${name}\0${file}`);
  const typed = types.map(([type, unit]) => ({ type: texts.idOf(type), unit: texts.idOf(unit) }));
  const sample = samples.map(({ stack, values }) => ({
    locationId: stack.map((frame) => frames.idOf(frame) + 1), // 0 is no location.
    value: values,
  }));
  const functions = frames.values.map(({ name, file, line: startLine }, index) => {
    const text = texts.idOf(name === "" ? "(anonymous)" : name);
    return { id: index + 1, name: text, systemName: text, filename: texts.idOf(file), startLine };
  });
  return encodeMessage(pprofMessage, {
    sampleType: typed,
    sample,
    // A sample names functions, not lines within them.
    location: functions.map(({ id, startLine }) => ({ id, line: [{ functionId: id, line: startLine }] })),
    function: functions,
    stringTable: texts.values,
    timeNanos: BigInt(Math.round(startedAt)) * 1_000_000n,
    durationNanos: BigInt(Math.round(durationMs * 1e6)),
    periodType: typed.at(-1),
    period,
  });
}

/** Values by their number, each once. */
class Table<Value> {
  readonly values: Value[] = [];
  readonly #ids = new Map<string, number>();
  readonly #keyOf: (value: Value) => string;

  constructor(keyOf: (value: Value) => string) {
    this.#keyOf = keyOf;
  }

  idOf(value: Value): number {
    const key = this.#keyOf(value);
    const known = this.#ids.get(key);
    if (known !== undefined) return known;
    this.#ids.set(key, this.values.length);
    return this.values.push(value) - 1;
  }
}
