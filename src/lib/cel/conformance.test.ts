/** The language's published cases: what they yield, and the types of what they yield. Those that do not apply are named, with the reason. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  ArrayList,
  boolType,
  bytesType,
  CelDouble,
  CelDuration,
  CelError,
  CelList,
  CelMap,
  CelOptional,
  CelSyntaxError,
  CelTimestamp,
  type CelType,
  CelTypeValue,
  CelUint,
  type CelValue,
  doubleType,
  durationType,
  dynType,
  type Environment,
  equal,
  formatType,
  HashMap,
  intOf,
  intType,
  listType,
  mapType,
  nullType,
  optionalTypes,
  parseTimestamp,
  standardEnvironment,
  stringType,
  timestampType,
  twoVariableComprehensions,
  typeOf,
  uintType,
} from "./index.ts";

interface Case {
  original: {
    name: string;
    expr: string;
    value?: Tagged;
    evalError?: unknown;
    typedResult?: { result?: Tagged; deducedType?: unknown };
    typeEnv?: { name: string; ident?: { type: Described } }[];
    bindings?: Record<string, { value?: Tagged }>;
    disableCheck?: boolean;
    disableMacros?: boolean;
    container?: string;
  };
  type?: string;
  error?: string;
}
interface Suite {
  name: string;
  suites?: Suite[];
  tests?: Case[];
}
type Tagged = Record<string, unknown>;
type Described = Record<string, unknown>;

const testdata = "@bufbuild/cel-spec/testdata/conformance.js"; // Its own types want the protobuf library.
const { tests } = (await import(testdata)) as { tests: Suite };

/** What Kubernetes' environment has not. */
const skippedSuites = new Map([
  ["bindings_ext", "cel.bind is off"],
  ["block_ext", "cel.block is off"],
  ["encoders_ext", "base64 is off"],
  ["math_ext", "math is off"],
  ["proto2_ext", "protobuf messages"],
  ["dynamic", "protobuf messages"],
  ["enums", "protobuf enums"],
  ["proto2", "protobuf messages"],
  ["proto3", "protobuf messages"],
  ["wrappers", "protobuf messages"],
  ["namespace", "containers"],
  ["string_ext", "extended strings are a library of their own"],
]);

const skippedCases = new Map([
  ["type_deductions/legacy_nullable_types", "protobuf messages"],
  ["fields/quoted_map_fields", "quoted fields are off"],
  ["fields/qualified_identifier_resolution/map_value_repeat_key", "the last one counts, as upstream has it"],
  ["fields/qualified_identifier_resolution/map_value_repeat_key_heterogeneous", "the last one counts, as upstream has it"],
]);

/** Of each suite: its cases, and how many of them need protobuf messages or functions of the test. */
const counts = new Map<string, [all: number, unsupported: number]>([
  ["basic", [43, 0]],
  ["comparisons", [406, 72]],
  ["conversions", [109, 0]],
  ["fields", [60, 0]],
  ["fp_math", [30, 0]],
  ["integer_math", [64, 0]],
  ["lists", [39, 0]],
  ["logic", [30, 0]],
  ["macros", [44, 0]],
  ["macros2", [46, 0]],
  ["optionals", [70, 11]],
  ["parse", [219, 26]],
  ["plumbing", [5, 0]],
  ["string", [51, 0]],
  ["timestamps", [76, 1]],
  ["type_deductions", [47, 32]],
  ["unknowns", [0, 0]],
]);

const environment = standardEnvironment().extend(optionalTypes, twoVariableComprehensions, { features: { crossTypeNumericComparisons: true } });

function untagged(tagged: Tagged): CelValue {
  const [kind, value] = Object.entries(tagged)[0] as [string, never];
  switch (kind) {
    case "nullValue":
      return null;
    case "boolValue":
    case "stringValue":
      return value;
    case "int64Value":
      return intOf(BigInt(value)) as CelValue;
    case "uint64Value":
      return new CelUint(BigInt(value));
    case "doubleValue":
      return new CelDouble(Number(value));
    case "bytesValue":
      return Uint8Array.from(Buffer.from(value, "base64"));
    case "typeValue":
      return new CelTypeValue(value);
    case "listValue":
      return new ArrayList(((value as { values?: Tagged[] }).values ?? []).map(untagged));
    case "mapValue":
      return HashMap.of(
        ((value as { entries?: { key: Tagged; value: Tagged }[] }).entries ?? []).map((entry) => [untagged(entry.key), untagged(entry.value)]),
      );
    case "objectValue":
      return messageOf(value);
    default:
      throw new Unsupported(kind);
  }
}

class Unsupported extends Error {}

function messageOf(message: { "@type": string; value: unknown }): CelValue {
  if (message["@type"].endsWith("Timestamp")) return parseTimestamp(message.value as string) as CelValue;
  if (message["@type"].endsWith("Duration")) return new CelDuration(BigInt(Math.round(Number.parseFloat(message.value as string) * 1e9)));
  throw new Unsupported(message["@type"]);
}

const primitives: Record<string, CelType> = {
  BOOL: boolType,
  INT64: intType,
  UINT64: uintType,
  DOUBLE: doubleType,
  STRING: stringType,
  BYTES: bytesType,
};

function typeFrom(described: Described): CelType {
  const [kind, value] = Object.entries(described)[0] as [string, never];
  if (kind === "primitive") return primitives[value] as CelType;
  if (kind === "dyn") return dynType;
  if (kind === "null") return nullType;
  if (kind === "listType") return listType(typeFrom((value as { elemType: Described }).elemType));
  if (kind === "mapType")
    return mapType(typeFrom((value as { keyType: Described }).keyType), typeFrom((value as { valueType: Described }).valueType));
  if (kind === "wellKnown" && value !== "ANY") return value === "TIMESTAMP" ? timestampType : durationType;
  if (kind === "type") return typeOf(typeFrom(value));
  throw new Unsupported(kind);
}

/** NaN equals NaN here; 1 and 1u do not. */
function same(left: CelValue, right: CelValue): boolean {
  if (left instanceof CelDouble && right instanceof CelDouble && Number.isNaN(left.value)) return Number.isNaN(right.value);
  if (left instanceof CelOptional) return right instanceof CelOptional && equal(left, right);
  if (left instanceof CelList)
    return right instanceof CelList && left.size === right.size && [...Array(left.size).keys()].every((at) => same(left.at(at), right.at(at)));
  return equal(left, right) && (left instanceof CelMap || left?.constructor === right?.constructor || typeof left === typeof right);
}

function run({ original, error }: Case): string | undefined {
  const bindings = new Map(Object.entries(original.bindings ?? {}).map(([name, { value }]) => [name, untagged(value as Tagged)]));
  const variables = (original.typeEnv ?? [])
    .filter((row) => row.ident !== undefined)
    .map((row) => ({ name: row.name, type: typeFrom(row.ident?.type as Described) }));
  if (/\b(?:TestAllTypes|NestedTestAllTypes|GlobalEnum|google\.protobuf\.(?!Timestamp\b|Duration\b))/.test(original.expr))
    throw new Unsupported("protobuf");
  if (original.typeEnv?.some((row) => row.ident === undefined) === true) throw new Unsupported("functions of the test");
  const extended: Environment = environment.extend({ variables });
  const wantsError = original.evalError !== undefined;
  try {
    const checked = original.disableCheck === true ? uncheckedOf(extended, original.expr) : extended.compile(original.expr);
    const deduced = original.typedResult?.deducedType;
    if (deduced !== undefined && formatType(typeFrom(deduced as Described)) !== formatType(checked.type)) return `type ${formatType(checked.type)}`;
    if (original.typedResult !== undefined && original.typedResult.result === undefined) return undefined;
    const { value } = extended.plan(checked).evaluate(bindings);
    if (wantsError) return `no error but ${describe(value)}`;
    const wanted = original.value ?? original.typedResult?.result ?? { boolValue: true };
    return same(untagged(wanted), value) ? undefined : `got ${describe(value)}`;
  } catch (thrown) {
    if (thrown instanceof Unsupported) throw thrown;
    assert.ok(thrown instanceof CelError || thrown instanceof CelSyntaxError, `${original.expr}: ${(thrown as Error).stack}`);
    return wantsError || error?.startsWith("ERROR") === true ? undefined : thrown.message;
  }
}

/** Whatever is not declared is dyn. */
function uncheckedOf(from: Environment, expr: string): ReturnType<Environment["compile"]> {
  const declared = new Set<string>();
  for (let extended = from; ; ) {
    try {
      return extended.compile(expr);
    } catch (thrown) {
      const name = thrown instanceof CelSyntaxError ? /undeclared reference to '(\w+)'/.exec(thrown.message)?.[1] : undefined;
      if (name === undefined || declared.has(name)) throw thrown;
      declared.add(name);
      extended = extended.extend({ variables: [{ name, type: dynType }] });
    }
  }
}

function describe(value: CelValue): string {
  if (value instanceof CelTimestamp || value instanceof CelDuration) return String(value.nanoseconds);
  if (value instanceof CelList) return `[${[...Array(value.size).keys()].map((at) => describe(value.at(at))).join(", ")}]`;
  return typeof value === "object" ? `${value?.constructor.name} ${(value as { value?: unknown })?.value}` : JSON.stringify(String(value));
}

function* casesOf(suite: Suite, path: string): Generator<[path: string, Case]> {
  for (const one of suite.tests ?? []) yield [`${path}/${one.original.name}`, one];
  for (const within of suite.suites ?? []) yield* casesOf(within, `${path}/${within.name}`);
}

for (const suite of tests.suites ?? []) {
  const reason = skippedSuites.get(suite.name);
  if (reason !== undefined) continue;
  test(`conformance: ${suite.name}`, () => {
    const failures: string[] = [];
    let unsupported = 0;
    let all = 0;
    for (const [path, one] of casesOf(suite, suite.name)) {
      all++;
      const skipped = [...skippedCases.keys()].some((prefix) => path.startsWith(prefix));
      try {
        const failure = run(one);
        const exactly = skippedCases.has(path);
        if (failure === undefined && exactly) failures.push(`${path} passes: take it off the list`);
        if (failure !== undefined && !skipped) failures.push(`${path}: ${one.original.expr}\n    ${failure}`);
      } catch (thrown) {
        if (!(thrown instanceof Unsupported)) throw thrown;
        unsupported++;
      }
    }
    assert.deepEqual(failures, []);
    assert.deepEqual([all, unsupported], counts.get(suite.name), "cases, and those of them that need protobuf messages or functions of the test");
  });
}
