/**
 * Compares values, errors, estimates and costs of thousands of expressions over all libraries with
 * recorded results of cel-go and the libraries of Kubernetes.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import type { SizeHints } from "../declarations.ts";
import { bytesType, CelError, CelSyntaxError, dynType, intType, jsonValue, listType, stringType } from "../index.ts";
import { kubernetesEnvironment } from "../kubernetes-environment.ts";
import type { Program } from "../program.ts";
import { ArrayList } from "../values/containers.ts";
import { formatTimestamp } from "../values/time.ts";
import { typeNameOf } from "../values/type-names.ts";
import {
  CelDouble,
  CelDuration,
  CelList,
  CelMap,
  CelObject,
  type CelOpaque,
  CelOptional,
  CelTimestamp,
  CelTypeValue,
  CelUint,
  type CelValue,
} from "../values/value.ts";
import { type AuthorizationCheck, authorizerType, CelAuthorizer } from "./kubernetes/authorizer.ts";
import { jsonPatchKeys } from "./kubernetes/json-patch.ts";

/** Recorded by `npm run golden cel`. */
const golden = new URL("../testdata/functions.jsonl", import.meta.url);
const dispatchGolden = new URL("../testdata/dispatch.jsonl.gz", import.meta.url);

type Row = readonly [expression: string, outcome: string, min?: number | string, max?: number | string, cost?: number];

const variables = [
  { name: "s", type: stringType },
  { name: "b", type: bytesType },
  { name: "l", type: listType(stringType) },
  { name: "n", type: listType(intType) },
  { name: "d", type: dynType },
  { name: "authorizer", type: authorizerType },
];

/** Allows `get`, fails for `fail`, and returns the attributes of the check as the reason. */
function decide({ verb, serviceAccount, path = "", resource }: AuthorizationCheck) {
  const user =
    serviceAccount === undefined ? "me" : `system:serviceaccount:${serviceAccount.namespace}:${serviceAccount.name}`;
  const attributes = [
    resource?.group,
    resource?.resource,
    resource?.subresource,
    resource?.namespace,
    resource?.name,
  ].map((part) => part ?? "");
  return {
    allowed: verb === "get",
    reason: [user, verb, path, ...attributes].join("|"),
    ...(verb === "fail" ? { error: "broken" } : {}),
  };
}

const bindings = new Map<string, CelValue>([
  ["s", "The quick brown fox jumps over the lazy dog"],
  ["b", new TextEncoder().encode("some bytes")],
  ["l", jsonValue(["one", "two", "three"])],
  ["n", jsonValue([3, 1, 2])],
  ["d", jsonValue(["a", 1])],
  ["authorizer", new CelAuthorizer(decide)],
]);

const sizes = new Map([
  ["s", 100n],
  ["b", 64n],
  ["l", 10n],
  ["l.@items", 20n],
  ["n", 12n],
]);

const hints: SizeHints = {
  estimateSize: ({ path }) => {
    const max = path === undefined ? undefined : sizes.get(path.join("."));
    return max === undefined ? undefined : { min: 0n, max };
  },
};

const environment = kubernetesEnvironment([1, 36]).extend(jsonPatchKeys, { variables });

function canonical(value: CelValue): string {
  if (typeof value === "string")
    return JSON.stringify(value).replace(/[\u007f\u2028\u2029]/g, (character) => escapes.get(character) ?? character);
  if (value === null || typeof value !== "object") return String(value);
  if (value instanceof Uint8Array) return `b${Buffer.from(value).toString("hex")}`;
  if (value instanceof CelUint) return `${value.value}u`;
  if (value instanceof CelDouble) return Number.isNaN(value.value) ? "NaN" : `d${doubleBits(value.value)}`;
  if (value instanceof CelDuration) return `duration(${value.nanoseconds})`;
  if (value instanceof CelTimestamp) return formatTimestamp(value);
  if (value instanceof CelOptional) return value.value === undefined ? "none" : `of(${canonical(value.value)})`;
  if (value instanceof CelTypeValue) return `type(${value.name})`;
  if (value instanceof CelList)
    return `[${Array.from({ length: value.size }, (_, at) => canonical(value.at(at))).join(",")}]`;
  if (value instanceof CelMap) return `{${entriesOf(value).sort().join(",")}}`;
  if (value instanceof CelObject) return value.typeName;
  return opaque(value);
}

const escapes = new Map([
  ["\u2028", "\\u2028"],
  ["\u2029", "\\u2029"],
]);

function doubleBits(value: number): string {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  return view.getBigUint64(0).toString(16).padStart(16, "0");
}

function entriesOf(map: CelMap): string[] {
  return map.keys().map((key) => `${canonical(key)}:${canonical(map.find(key) as CelValue)}`);
}

/** Abstract types whose text is compared, with the name that the recorded results use. */
const shown = new Map([
  ["kubernetes.URL", "URL"],
  ["net.IP", "IP"],
  ["net.CIDR", "CIDR"],
  ["kubernetes.Semver", "Semver"],
  ["kubernetes.NamedFormat", "NamedFormat"],
]);

function opaque(value: CelOpaque): string {
  const name = shown.get(value.type.name);
  return name === undefined ? value.type.name : `${name}(${value})`;
}

function exact(number: bigint): number | string {
  return number < 2n ** 53n ? Number(number) : String(number);
}

function outcomeOf(expression: string): Row {
  try {
    const checked = environment.compile(expression);
    const { min, max } = environment.estimateCost(checked, hints);
    const estimated = [expression, "", exact(min), exact(max)] as const;
    try {
      const { value, cost } = environment.plan(checked).evaluate(bindings, { costLimit: 10_000_000 });
      return [expression, canonical(value), estimated[2], estimated[3], cost];
    } catch (error) {
      if (error instanceof CelSyntaxError) return [expression, `plan: ${error.message}`, estimated[2], estimated[3]];
      if (error instanceof CelError)
        return [expression, `error: ${error.message}`, estimated[2], estimated[3], error.cost];
      throw error;
    }
  } catch (error) {
    if (!(error instanceof CelSyntaxError)) throw error;
    return [
      expression,
      error.message
        .split("\n")
        .filter((line) => !line.startsWith(" | "))
        .join("\n"),
    ];
  }
}

/**
 * Expressions with a different result, and the reason. A row without a difference fails the test.
 */
const differing: readonly [expression: RegExp, reason: string][] = [
  [
    /^quantity\("(?:1\.5Gi|9223372036854775807|1Ei|10Ei)"\)\.(?:isInteger|asInteger)\(\)$/,
    "as documented: an error only if the quantity is not an int64",
  ],
  [/^quantity\("1Ei"\)\.add\(1\)\.sub/, "Kubernetes does not return the nearest double"],
  [/^dyn\((?:semver\('1\.0\.0'\)|format\.uri\(\))\) in \[1\]$/, "Go cannot use the value as a key, and panics"],
];

test("evaluates every recorded expression as Kubernetes does", () => {
  const rows = readFileSync(golden, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Row);
  const wrong: string[] = [];
  for (const row of rows) {
    const ours = outcomeOf(row[0]);
    const isSame = JSON.stringify(ours) === JSON.stringify(row);
    if (isSame === differing.some(([expression]) => expression.test(row[0])))
      wrong.push(`${JSON.stringify(row)}\n      ${JSON.stringify(ours.slice(1))}`);
  }
  assert.deepEqual(wrong, []);
  assert.ok(rows.length > 4000);
});

/**
 * The outcomes of a call for all combinations of values. `forms` has a letter for each argument.
 * `rest` is the outcome of the combinations that `others` does not list. An outcome ends with the
 * cost.
 */
interface DispatchRow {
  readonly call: string;
  readonly forms: string;
  readonly rest: string;
  readonly others?: Readonly<Record<string, readonly string[]>>;
}

/**
 * A typed variable, a dyn one, an element whose type the checker leaves free, and a list of such
 * elements.
 */
const argumentForms: Readonly<Record<string, (argument: string, value: string) => string>> = {
  s: (_, value) => `${value}_typed`,
  d: (argument) => `${argument}_value`,
  f: (argument) => `${argument}_list.reverse()[0]`,
  l: (argument) => `${argument}_value.reverse()`,
};

const [dispatchValues, ...dispatchRows] = gunzipSync(readFileSync(dispatchGolden))
  .toString()
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line)) as [[name: string, expression: string][], ...DispatchRow[]];

const dispatched = new Map(
  dispatchValues.map(([name, expression]) => {
    const checked = environment.compile(expression);
    const type = name === "empty" ? listType(intType) : checked.type;
    return [name, { value: environment.plan(checked).evaluate(bindings).value, type }] as const;
  }),
);

/** The values of calls with three arguments. */
const fewValues = ["null", "int", "uint", "string", "ints", "strings", "map", "some"];

const dispatching = environment.extend({
  variables: [
    ...[...dispatched].map(([name, { type }]) => ({ name: `${name}_typed`, type })),
    ...["x_value", "y_value", "z_value", "x_list", "y_list", "z_list"].map((name) => ({ name, type: dynType })),
  ],
});

function givenValue(name: string): CelValue {
  return dispatched.get(name)?.value as CelValue;
}

function combinationsOf(forms: string): string[][] {
  const names = forms.length === 3 ? fewValues : [...dispatched.keys()];
  const lists = names.filter((name) => givenValue(name) instanceof CelList);
  return [...forms].reduce<string[][]>(
    (before, form) => before.flatMap((begun) => (form === "l" ? lists : names).map((name) => [...begun, name])),
    [[]],
  );
}

/** @returns undefined for an expression that does not compile */
function compiledOrNone(expression: string): Program | undefined {
  try {
    return dispatching.plan(dispatching.compile(expression));
  } catch (error) {
    if (error instanceof CelSyntaxError) return undefined;
    throw error;
  }
}

function dispatchOutcome(program: Program, names: readonly string[]): string {
  const activation = new Map<string, CelValue>();
  for (const [at, name] of names.entries()) {
    activation.set(`${"xyz"[at]}_value`, givenValue(name));
    activation.set(`${"xyz"[at]}_list`, new ArrayList([givenValue(name)]));
    activation.set(`${name}_typed`, givenValue(name));
  }
  try {
    const { value, cost } = program.evaluate(activation, { costLimit: 10_000_000 });
    return `${canonical(value)} @${cost}`;
  } catch (error) {
    if (!(error instanceof CelError)) throw error;
    const types = `(${names.map((name) => typeNameOf(givenValue(name))).join(", ")})`;
    return `error: ${error.message.replaceAll(types, "(types)")} @${error.cost}`;
  }
}

/** Calls with another outcome, and the reason. */
const differingCalls: readonly [call: RegExp, values: RegExp, reason: string][] = [
  [
    /^x in (?:y|\[1, 2\]|\['ab', 'b'\]) |^\{x: 1\}/,
    /^(?:semver|format)\b/,
    "Go cannot use the value as a key, and panics",
  ],
  [/^\{x: 1\}/, /^nan$/, "Go never finds the key NaN"],
];

/** Returns the combinations of values with another outcome than the recorded one. */
function wrongOutcomes({ call, forms, rest, others = {} }: DispatchRow): string[] {
  const expected = new Map(Object.entries(others).flatMap(([outcome, all]) => all.map((names) => [names, outcome])));
  const programs = new Map<string, Program | undefined>();
  const differing = differingCalls.filter(([pattern]) => pattern.test(`${call} ${forms}`));
  const wrong: string[] = [];
  for (const names of combinationsOf(forms)) {
    const expression = call.replace(/\b[xyz]\b/g, (argument) => {
      const at = "xyz".indexOf(argument);
      return (argumentForms[forms[at] as string] as (typeof argumentForms)[string])(argument, names[at] as string);
    });
    if (!programs.has(expression)) programs.set(expression, compiledOrNone(expression));
    const program = programs.get(expression);
    const values = names.join(" ");
    if (program === undefined && forms.includes("s") && !expected.has(values)) continue; // cel-go does not compile it either.
    const actual = program === undefined ? "does not compile" : dispatchOutcome(program, names);
    const recorded = expected.get(values) ?? rest;
    const isSame = recorded === actual || (recorded.startsWith("panic") && actual.startsWith("error"));
    if (!isSame && !differing.some(([, pattern]) => pattern.test(values)))
      wrong.push(`${call} ${forms}, ${values}: ${recorded}, actual: ${actual}`);
  }
  return wrong;
}

test("dispatches each call by the types that cel-go dispatches it by", () => {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0; // Most calls fail, and stack traces take most of the time.
  const wrong = dispatchRows.flatMap(wrongOutcomes);
  Error.stackTraceLimit = stackTraceLimit;
  assert.deepEqual(wrong, []);
  assert.ok(dispatchRows.length > 700);
});
