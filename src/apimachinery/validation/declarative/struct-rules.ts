/**
 * Rules for several fields of one struct, collected from the markers of each field.
 * Source: k8s.io/code-generator@v0.36.0/cmd/validation-gen/validators/union.go and
 * discriminator.go.
 */
import type { RuleLevel } from "../../field-errors.ts";
import { type Check, inOrder, type Rule, type Target } from "./contract.ts";
import { discriminatedMemberCheck, discriminatedUnionCheck, type Union, unionCheck } from "./unions.ts";
import { rulesNamed } from "./value-checks.ts";

/** The rules of all fields together. The fields of an embedded struct have separate rules. */
export interface StructRules {
  readonly unions: Map<string, Union>;
  readonly zeroOrOneOf: Map<string, Union>;
  /** Fields whose rules depend on the value of another field, by the name of the group. */
  readonly states: Map<string, StateGroup>;
}

/** Fields that depend on one discriminator. */
interface StateGroup {
  discriminator: { readonly name: string; readonly target: Target } | undefined;
  readonly members: Map<string, { readonly target: Target; readonly rules: StateRule[] }>;
}

interface StateRule {
  /** The value of the discriminator. */
  readonly value: string;
  readonly level: RuleLevel;
  readonly rules: readonly Rule[];
}

/** @returns an empty set of rules */
export function noStructRules(): StructRules {
  return { unions: new Map(), zeroOrOneOf: new Map(), states: new Map() };
}

/**
 * @returns the checks of the struct itself, in upstream's order
 * @throws Error for members without a discriminator
 */
export function structChecks({ unions, zeroOrOneOf, states }: StructRules): Check[] {
  return [
    ...byName(states).flatMap(([, group]) => stateChecks(group)),
    ...byName(unions).map(([, union]) =>
      union.discriminator === undefined
        ? unionCheck(union, "rejected")
        : discriminatedUnionCheck(union, union.discriminator),
    ),
    ...byName(zeroOrOneOf).map(([, union]) => unionCheck(union, "allowed")),
  ];
}

function byName<Value>(map: ReadonlyMap<string, Value>): [string, Value][] {
  return [...map].sort(([a], [b]) => (a < b ? -1 : 1));
}

/** A field must not be set if the group has no rules for it and the value of the discriminator. */
function stateChecks({ discriminator, members }: StateGroup): Check[] {
  if (discriminator === undefined) throw new Error("a field depends on a missing discriminator");
  return byName(members).map(([name, { target, rules }]) => {
    const levels = new Set(rules.map(({ level }) => level));
    const [level = "standard"] = levels.size === 1 ? levels : [];
    const otherwise = rulesNamed("forbidden", { target, level }).filter(({ silent }) => silent !== true);
    const byValue = [...Map.groupBy(rules, ({ value }) => value)].map(
      ([value, list]) => [value, inOrder(list.flatMap((one) => one.rules))] as const,
    );
    return discriminatedMemberCheck(discriminator, { name, target, rules: new Map(byValue), otherwise });
  });
}

/** Finds or creates the union of the name. */
export function unionNamed(unions: Map<string, Union>, name: string, level: RuleLevel): Union {
  const union = unions.get(name) ?? { members: [], discriminator: undefined, level };
  union.level = level;
  unions.set(name, union);
  return union;
}

/** Finds or creates the group of the name. */
export function groupNamed({ states }: StructRules, name: string): StateGroup {
  const group = states.get(name) ?? { discriminator: undefined, members: new Map() };
  states.set(name, group);
  return group;
}
