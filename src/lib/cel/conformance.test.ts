/** The conformance tests of cel-spec: values and types. Failing cases are listed with a reason. */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
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
  kubernetesEnvironment,
  listType,
  mapType,
  nullType,
  opaqueType,
  optionalTypes,
  parameterType,
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

const testdata = "@bufbuild/cel-spec/testdata/conformance.js"; // Its types require the protobuf library.
const { tests } = (await import(testdata)) as { tests: Suite };

/**
 * Failing cases by reason. UPDATE_GOLDEN=1 rewrites the list and keeps its reasons; new cases get
 * the reason "?", which must be edited.
 */
const listFile = join(import.meta.dirname, "testdata/conformance-failing.json");
const listed = JSON.parse(readFileSync(listFile, "utf8")) as Record<string, string[]>;

/**
 * A case passes in either environment: some have literals of mixed types, which Kubernetes rejects.
 */
const environments = [
  kubernetesEnvironment([1, 36]),
  standardEnvironment().extend(optionalTypes, twoVariableComprehensions, {
    features: { crossTypeNumericComparisons: true },
  }),
];

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
        ((value as { entries?: { key: Tagged; value: Tagged }[] }).entries ?? []).map((entry) => [
          untagged(entry.key),
          untagged(entry.value),
        ]),
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
  if (message["@type"].endsWith("Duration"))
    return new CelDuration(BigInt(Math.round(Number.parseFloat(message.value as string) * 1e9)));
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
    return mapType(
      typeFrom((value as { keyType: Described }).keyType),
      typeFrom((value as { valueType: Described }).valueType),
    );
  if (kind === "wellKnown" && value !== "ANY") return value === "TIMESTAMP" ? timestampType : durationType;
  if (kind === "type") return typeOf(typeFrom(value));
  if (kind === "messageType" && value === durationType.name) return durationType;
  if (kind === "typeParam") return parameterType(value);
  if (kind === "abstractType") {
    const { name, parameterTypes = [] } = value as { name: string; parameterTypes?: Described[] };
    return opaqueType(name, ...parameterTypes.map(typeFrom));
  }
  throw new Unsupported(kind);
}

/** Stricter than `==` for numbers: 1 differs from 1u. NaN equals NaN. */
function same(left: CelValue, right: CelValue): boolean {
  if (left instanceof CelDouble && right instanceof CelDouble && Number.isNaN(left.value))
    return Number.isNaN(right.value);
  if (left instanceof CelOptional) return right instanceof CelOptional && equal(left, right) === true;
  if (left instanceof CelList)
    return (
      right instanceof CelList &&
      left.size === right.size &&
      [...Array(left.size).keys()].every((at) => same(left.at(at), right.at(at)))
    );
  return (
    equal(left, right) === true &&
    (left instanceof CelMap || left?.constructor === right?.constructor || typeof left === typeof right)
  );
}

/** @returns the failures in all environments, or undefined for a case that passes */
function failureOf(one: Case): string | undefined {
  const failures = environments.map((environment) => run(environment, one));
  return failures.includes(undefined) ? undefined : failures.join(" | ");
}

function run(environment: Environment, { original, error }: Case): string | undefined {
  const expectsError = original.evalError !== undefined;
  try {
    const bindings = new Map(
      Object.entries(original.bindings ?? {}).map(([name, { value }]) => [name, untagged(value as Tagged)]),
    );
    const variables = (original.typeEnv ?? [])
      .filter((row) => row.ident !== undefined)
      .map((row) => ({ name: row.name, type: typeFrom(row.ident?.type as Described) }));
    if (original.typeEnv?.some((row) => row.ident === undefined) === true)
      throw new Unsupported("functions of the test");
    const extended = environment.extend({ variables });
    const checked =
      original.disableCheck === true
        ? extended.unchecked(extended.parse(original.expr))
        : extended.compile(original.expr);
    const deduced = original.typedResult?.deducedType;
    if (deduced !== undefined && formatType(typeFrom(deduced as Described)) !== formatType(checked.type))
      return `type ${formatType(checked.type)}`;
    if (original.typedResult !== undefined && original.typedResult.result === undefined) return undefined;
    const { value } = extended.plan(checked).evaluate(bindings);
    if (expectsError) return `no error but ${describe(value)}`;
    const expected = original.value ?? original.typedResult?.result ?? { boolValue: true };
    return same(untagged(expected), value) ? undefined : `got ${describe(value)}`;
  } catch (thrown) {
    if (thrown instanceof Unsupported) return thrown.message;
    assert.ok(
      thrown instanceof CelError || thrown instanceof CelSyntaxError,
      `${original.expr}: ${(thrown as Error).stack}`,
    );
    if (!expectsError && error?.startsWith("ERROR") !== true) return thrown.message;
    const missing = unsupportedNames.exec(original.expr)?.[0];
    return missing === undefined ? undefined : `an error, but because ${missing} is not supported`;
  }
}

/** Names whose absence causes an error other than the one that the case expects. */
const unsupportedNames =
  /TestAllTypes|TestRequired|GlobalEnum|NestedEnum|google\.protobuf\.(?!Timestamp\b|Duration\b)\w+|\b(?:proto|math|base64|cel)\.\w+/;

function describe(value: CelValue): string {
  if (value instanceof CelTimestamp || value instanceof CelDuration) return String(value.nanoseconds);
  if (value instanceof CelList)
    return `[${[...Array(value.size).keys()].map((at) => describe(value.at(at))).join(", ")}]`;
  return typeof value === "object"
    ? `${value?.constructor.name} ${(value as { value?: unknown })?.value}`
    : JSON.stringify(String(value));
}

function* casesOf(suite: Suite, path: string): Generator<[path: string, Case]> {
  for (const one of suite.tests ?? []) yield [`${path}/${one.original.name}`, one];
  for (const within of suite.suites ?? []) yield* casesOf(within, `${path}/${within.name}`);
}

const reasonOf = new Map(
  Object.entries(listed).flatMap(([reason, paths]) => paths.map((path) => [path, reason] as const)),
);
const failing = new Map<string, string[]>();

for (const suite of tests.suites ?? []) {
  test(`conformance: ${suite.name}`, () => {
    const wrong: string[] = [];
    for (const [path, one] of casesOf(suite, suite.name)) {
      const failure = failureOf(one);
      const reason = reasonOf.get(path);
      if (failure !== undefined) failing.set(reason ?? "?", [...(failing.get(reason ?? "?") ?? []), path]);
      if (failure !== undefined && reason === undefined) wrong.push(`${path}: ${one.original.expr}\n    ${failure}`);
      if (failure === undefined && reason !== undefined) wrong.push(`${path} passes: remove it from the list`);
    }
    if (process.env.UPDATE_GOLDEN !== "1") assert.deepEqual(wrong, []);
  });
}

test("lists only existing cases, each once", () => {
  const existing = new Set(
    (tests.suites ?? []).flatMap((suite) => [...casesOf(suite, suite.name)].map(([path]) => path)),
  );
  const paths = Object.values(listed).flat();
  assert.deepEqual(
    paths.filter((path, at) => !existing.has(path) || paths.indexOf(path) !== at),
    [],
  );
});

after(() => {
  if (process.env.UPDATE_GOLDEN === "1")
    writeFileSync(
      listFile,
      `${JSON.stringify(Object.fromEntries([...failing].map(([reason, paths]) => [reason, [...new Set(paths)]])), null, 1)}\n`,
    );
});
