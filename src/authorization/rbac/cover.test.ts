import assert from "node:assert/strict";
import { test } from "node:test";
import { seededRandom } from "../../../test/support/seeded-random.ts";
import { pathMatches } from "../../apimachinery/path-pattern.ts";
import type { PolicyRule } from "../contract.ts";
import { type CoverLimits, findUncovered } from "./cover.ts";
import { describePieces } from "./describe-pieces.ts";

const pods: PolicyRule = { verbs: ["get", "list"], apiGroups: [""], resources: ["pods", "pods/log"] };

const rows: [what: string, owned: PolicyRule[], requested: PolicyRule[], missing: string[]][] = [
  ["equal rules", [pods], [pods], []],
  ["wildcards for verbs, groups and resources", [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }], [pods], []],
  [
    "no rules",
    [],
    [pods],
    [
      '{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}',
      '{APIGroups:[""], Resources:["pods/log"], Verbs:["get" "list"]}',
    ],
  ],
  [
    "a rule without one verb",
    [{ ...pods, verbs: ["get"] }],
    [{ ...pods, resources: ["pods"] }],
    ['{APIGroups:[""], Resources:["pods"], Verbs:["list"]}'],
  ],
  [
    "several rules for different verbs",
    [
      { ...pods, verbs: ["get"] },
      { ...pods, verbs: ["list"] },
    ],
    [pods],
    [],
  ],
  ["a subresource of every resource", [{ ...pods, resources: ["*/log"] }], [{ ...pods, resources: ["pods/log"] }], []],
  [
    "only named objects, of every object",
    [{ ...pods, resourceNames: ["a"] }],
    [{ verbs: ["get"], apiGroups: [""], resources: ["pods"] }],
    ['{APIGroups:[""], Resources:["pods"], Verbs:["get"]}'],
  ],
  [
    "one of two names",
    [{ ...pods, resourceNames: ["a"] }],
    [{ verbs: ["get"], apiGroups: [""], resources: ["pods"], resourceNames: ["a", "b"] }],
    ['{APIGroups:[""], Resources:["pods"], ResourceNames:["b"], Verbs:["get"]}'],
  ],
  ["every name", [pods], [{ ...pods, resourceNames: ["a", "b"] }], []],
  [
    "a path with a wildcard",
    [{ verbs: ["get"], nonResourceURLs: ["/a/*"] }],
    [{ verbs: ["get"], nonResourceURLs: ["/a/b", "/a/*"] }],
    [],
  ],
  [
    "a different path",
    [{ verbs: ["get"], nonResourceURLs: ["/a"] }],
    [{ verbs: ["get", "put"], nonResourceURLs: ["/a", "/b"] }],
    [
      '{NonResourceURLs:["/a"], Verbs:["put"]}',
      '{NonResourceURLs:["/b"], Verbs:["get"]}',
      '{NonResourceURLs:["/b"], Verbs:["put"]}',
    ],
  ],
];

for (const [what, owned, requested, missing] of rows) {
  test(`${what}: ${missing.length === 0 ? "covers the request" : `lacks ${missing.join()}`}`, () => {
    assert.deepEqual(describePieces(findUncovered(owned, requested).pieces), missing);
  });
}

const letters = (count: number, first = "a"): string[] =>
  Array.from({ length: count }, (_, index) => String.fromCodePoint((first.codePointAt(0) as number) + index));
const limits: CoverLimits = { piecesMax: 1_000, charactersMax: 100_000, stepsMax: 100_000 };
/** A rule of about two kilobytes with 100 million combinations. */
const product: PolicyRule = {
  verbs: letters(100),
  apiGroups: letters(100),
  resources: letters(100),
  resourceNames: letters(100),
};
const each = (list: "verbs" | "apiGroups" | "resources" | "resourceNames"): PolicyRule[] =>
  (product[list] ?? []).map((value) => ({ ...product, [list]: [value] }));

const products: [what: string, owned: PolicyRule[], isCovered: boolean][] = [
  ["no rules", [], false],
  ["the same rule", [product], true],
  ["a rule of everything", [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }], true],
  ["a rule for each verb", each("verbs"), true],
  ["a rule for each group", each("apiGroups"), true],
  ["a rule for each resource", each("resources"), true],
  ["a rule for each name", each("resourceNames"), true],
  ["rules of other groups", [{ ...product, apiGroups: ["none"] }], false],
  ["rules without the last name", each("resourceNames").slice(0, -1), false],
];

for (const [what, owned, isCovered] of products) {
  test(`compares a rule of millions of combinations with ${what} in few steps`, () => {
    const found = findUncovered(owned, [product], limits);
    assert.deepEqual([found.pieces.length === 0, found.limit === undefined], [isCovered, isCovered]);
  });
}

test("ends at the limit of steps when each combination is covered by other rules", () => {
  const random = seededRandom(1);
  const half = (list: readonly string[] = []): string[] => list.filter(() => random(2) === 0);
  const owned = Array.from({ length: 400 }, () => ({
    verbs: half(product.verbs),
    apiGroups: half(product.apiGroups),
    resources: half(product.resources),
    resourceNames: half(product.resourceNames),
  }));
  assert.equal(findUncovered(owned, [product], limits).limit, "steps");
});

test("ends at the limit of characters when the values are long", () => {
  const long = "x".repeat(60_000);
  const found = findUncovered([], [{ verbs: letters(50), apiGroups: [long], resources: [long] }], limits);
  assert.deepEqual([found.pieces.length, found.limit], [1, "pieces"]);
});

test("finds the pieces that a comparison of all combinations finds", () => {
  for (let seed = 0; seed < 3_000; seed++) {
    const random = seededRandom(seed);
    const owned = Array.from({ length: random(6) }, () => randomRule(random));
    const requested = Array.from({ length: 1 + random(2) }, () => randomRule(random));
    const found = findUncovered(owned, requested);
    assert.deepEqual(found.pieces, piecesByProduct(owned, requested), `SEED=${seed}`);
    assert.equal(found.limit, undefined);
  }
});

type Random = ReturnType<typeof seededRandom>;

function randomRule(random: Random): PolicyRule {
  const some = (values: readonly string[], min = 0): string[] =>
    Array.from({ length: min + random(4) }, () => values[random(values.length)] as string);
  const verbs = some(["get", "list", "watch", "*"], 1);
  const rule = random(4) === 0 ? {} : { apiGroups: some(["", "apps", "*"]), resources: some(resources) };
  return {
    verbs,
    ...rule,
    ...(random(2) === 0 && { resourceNames: some(["a", "b", "*"]) }),
    ...(random(2) === 0 && { nonResourceURLs: some(["/a", "/a/*", "/a/b", "/a**", "/b", "*", ""]) }),
  };
}

const resources = ["pods", "pods/log", "*/log", "*", "nodes/log", "/"];

/** Compares every combination with every rule, as upstream does. */
function piecesByProduct(owned: readonly PolicyRule[], requested: readonly PolicyRule[]): PolicyRule[] {
  const pieces: PolicyRule[] = [];
  const has = (list: readonly string[] = [], value: string): boolean => list.includes(value);
  const any = (list: readonly string[] = [], value: string): boolean => has(list, "*") || has(list, value);
  for (const { verbs = [], apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } of requested) {
    for (const group of apiGroups)
      for (const resource of resources)
        for (const verb of verbs)
          for (const name of resourceNames.length === 0 ? [undefined] : resourceNames) {
            const covered = owned.some(
              (rule) =>
                any(rule.verbs, verb) &&
                any(rule.apiGroups, group) &&
                (any(rule.resources, resource) ||
                  (resource.includes("/") && has(rule.resources, `*${resource.slice(resource.indexOf("/"))}`))) &&
                ((rule.resourceNames ?? []).length === 0 || (name !== undefined && has(rule.resourceNames, name))),
            );
            const piece = { apiGroups: [group], resources: [resource], verbs: [verb] };
            if (!covered) pieces.push(name === undefined ? piece : { ...piece, resourceNames: [name] });
          }
    for (const url of nonResourceURLs)
      for (const verb of verbs) {
        const covered = owned.some(
          (rule) =>
            any(rule.verbs, verb) &&
            (rule.resourceNames ?? []).length === 0 &&
            (rule.nonResourceURLs ?? []).some((pattern) => pathMatches(pattern, url)),
        );
        if (!covered) pieces.push({ nonResourceURLs: [url], verbs: [verb] });
      }
  }
  return pieces;
}
