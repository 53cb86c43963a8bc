/** Rules about which fields of a struct, or items of a list, go together. Source: apimachinery's api/validate union.go, zeroorone.go, discriminator.go. */
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

/** A field of a struct, or an item of a list, that a union is about. */
export interface UnionMember {
  /** The field, or `conditions[{"type": "Approved"}]`. */
  readonly name: string;
  /** Of the discriminator, for this member. */
  readonly value: string;
  /** @param holder the struct or the list; undefined where there is none */
  isSet(holder: unknown): boolean;
}

/** Members that go together; collected while markers are read. */
export interface Union {
  readonly members: UnionMember[];
  discriminator: { readonly name: string; readonly target: Target } | undefined;
  level: RuleLevel;
}

/** Exactly one member, or at most one; of updates only where members came or went. */
export function unionCheck({ members, level }: Union, empty: "refused" | "allowed"): Check {
  const names = members.map(({ name }) => `\`${name}\``).join(", ");
  const mark = { origin: empty === "refused" ? "union" : "zeroOrOneOf", level };
  const several = `must specify ${empty === "refused" ? "exactly" : "at most"} one of: ${names}`;
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

/** The member that the discriminator names, and no other; of updates only where either changed. */
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

export interface DiscriminatedMember {
  readonly name: string;
  readonly target: Target;
  /** In the order in which they run, by the discriminator's value. */
  readonly rules: ReadonlyMap<string, readonly Rule[]>;
  /** For all other values. */
  readonly otherwise: readonly Rule[];
}

/** What a field must be depends on another one; of updates only where either changed. */
export function discriminatedMemberCheck(
  discriminator: { readonly name: string; readonly target: Target },
  of: DiscriminatedMember,
): Check {
  const valueIn = (holder: unknown): string =>
    String(presentValue(member(holder, discriminator.name), discriminator.target));
  return (operation, path, holder, old) => {
    const value = member(holder, of.name);
    const before = member(old, of.name);
    const given = valueIn(holder);
    if (operation.update && !isUnset(old) && given === valueIn(old) && equalTargets(value, before, of.target))
      return false;
    return runRules(
      of.rules.get(given) ?? of.otherwise,
      operation,
      path === "" ? of.name : `${path}.${of.name}`,
      value,
      before,
    );
  };
}
