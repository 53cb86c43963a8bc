/**
 * Compares values, errors, estimates and costs of thousands of expressions over all libraries with
 * recorded results of cel-go and the libraries of Kubernetes.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import type { SizeHints } from "../declarations.ts";
import { bytesType, CelError, CelSyntaxError, dynType, intType, jsonValue, listType, stringType } from "../index.ts";
import { kubernetesEnvironment } from "../kubernetes-environment.ts";
import { formatTimestamp } from "../values/time.ts";
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
  if (value instanceof CelDouble) return `d${doubleBits(value.value)}`;
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
  return Number.isNaN(value) ? "7ff8000000000001" : view.getBigUint64(0).toString(16).padStart(16, "0");
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
  [/^authorizer == authorizer$/, "Kubernetes cannot compare authorizers"],
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
