/**
 * Rules for combinations of fields of a struct or items of a list. Source:
 * k8s.io/apimachinery@v0.36.0/pkg/api/validate/union.go, zeroorone.go and discriminator.go.
 */
import type { RuleLevel } from "../../field-errors.ts";
import {
  type Check,
  equalTargets,
  isUnset,
  member,
  presentValue,
  type Rule,
  runRules,
  type Target,
} from "./contract.ts";

/** A field of a struct, or an item of a list, in a union. */
export interface UnionMember {
  /** The name of the field, or `conditions[{"type": "Approved"}]`. */
  readonly name: string;
  /** The value of the discriminator for this member. */
  readonly value: string;
  /** @param holder the struct or list; undefined if there is none */
  isSet(holder: unknown): boolean;
}

/** The members of one union, collected while markers are read. */
export interface Union {
  readonly members: UnionMember[];
  discriminator: { readonly name: string; readonly target: Target } | undefined;
  level: RuleLevel;
}

/**
 * Requires exactly one or at most one member. Updates are checked only if they set or unset
 * members.
 */
export function unionCheck({ members, level }: Union, empty: "rejected" | "allowed"): Check {
  const names = members.map(({ name }) => `\`${name}\``).join(", ");
  const mark = { origin: empty === "rejected" ? "union" : "zeroOrOneOf", level };
  const several = `must specify ${empty === "rejected" ? "exactly" : "at most"} one of: ${names}`;
  return ({ update, errors }, path, value, old) => {
    let count = 0;
    for (const one of members) if (one.isSet(value)) count++;
    if (count === 1 || (count === 0 && empty === "allowed")) return false;
    if (update && !isUnset(old) && members.every((one) => one.isSet(value) === one.isSet(old))) return false;
    const present = members.filter((one) => one.isSet(value)).map(({ name }) => name);
    if (count > 1) errors.marked(mark).invalid(path, `{${present.join(", ")}}`, several);
    else errors.marked(mark).invalid(path, "", `must specify one of: ${names}`);
    return true;
  };
}

/**
 * Requires the member that the discriminator names, and no other. Updates are checked only if
 * either changed.
 */
export function discriminatedUnionCheck(
  { members, level }: Union,
  { name, target }: NonNullable<Union["discriminator"]>,
): Check {
  const mark = { origin: "union", level };
  const chosen = (holder: unknown): string => String(presentValue(member(holder, name), target) ?? "");
  return ({ update, errors }, path, value, old) => {
    const stays = (one: UnionMember): boolean => one.isSet(value) === one.isSet(old);
    if (update && !isUnset(old) && chosen(value) === chosen(old) && members.every(stays)) return false;
    const wrong = members.filter((one) => one.isSet(value) !== (one.value === chosen(value)));
    for (const one of wrong) {
      const detail = one.isSet(value)
        ? `may only be specified when \`${name}\` is "${one.value}"`
        : `must be specified when \`${name}\` is "${one.value}"`;
      errors.marked(mark).invalid(path === "" ? one.name : `${path}.${one.name}`, "", detail);
    }
    return wrong.length > 0;
  };
}

/** A field whose rules depend on a discriminator. */
interface DiscriminatedMember {
  readonly name: string;
  readonly target: Target;
  /** The rules by the value of the discriminator, in the order in which they run. */
  readonly rules: ReadonlyMap<string, readonly Rule[]>;
  /** The rules for all other values. */
  readonly otherwise: readonly Rule[];
}

/**
 * Runs the rules for the value of the discriminator. Updates are checked only if either field
 * changed.
 */
export function discriminatedMemberCheck(
  discriminator: { readonly name: string; readonly target: Target },
  field: DiscriminatedMember,
): Check {
  const valueIn = (holder: unknown): string =>
    String(presentValue(member(holder, discriminator.name), discriminator.target));
  return (operation, path, holder, old) => {
    const value = member(holder, field.name);
    const before = member(old, field.name);
    const current = valueIn(holder);
    if (operation.update && !isUnset(old) && current === valueIn(old) && equalTargets(value, before, field.target))
      return false;
    return runRules(
      field.rules.get(current) ?? field.otherwise,
      operation,
      path === "" ? field.name : `${path}.${field.name}`,
      value,
      before,
    );
  };
}
