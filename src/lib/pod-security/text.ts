/**
 * The texts of violations. Source: k8s.io/pod-security-admission@v0.36.0/policy/helpers.go.
 */
import { sortKeys } from "../json/encode-any.ts";
import type { Holder, ViolatingField } from "./contract.ts";

/** Quotes each text, without escapes as upstream. */
export function joinQuoted(texts: readonly string[]): string {
  return texts.map((text) => `"${text}"`).join(", ");
}

/** Quotes each distinct text, sorted. */
export function joinSorted(texts: Iterable<string>): string {
  return joinQuoted(sortedSet(texts));
}

/** Returns the distinct texts in the order of their bytes. */
export function sortedSet(texts: Iterable<string>): string[] {
  return sortKeys([...new Set(texts)]);
}

/** Returns the form of a word for a number of things. */
export function plural(count: number, one: string, many = `${one}s`): string {
  return count === 1 ? one : many;
}

/** Names things, such as `containers "a", "b"`. */
export function named(word: string, things: readonly { readonly name: string }[]): string {
  return `${plural(things.length, word)} ${joinQuoted(things.map(({ name }) => name))}`;
}

/** Names the pod and containers, such as `pod and containers "a", "b"`. */
export function setters(holders: readonly Holder[]): string {
  const containers = holders.filter((holder): holder is Holder & { name: string } => holder.name !== undefined);
  return [
    ...(containers.length < holders.length ? ["pod"] : []),
    ...(containers.length > 0 ? [named("container", containers)] : []),
  ].join(" and ");
}

/**
 * Describes a field of a security context.
 *
 * @param field below the security context, such as `seccompProfile.type`
 */
export function securityField({ path, securityContext }: Holder, field: string, allowed: string): ViolatingField {
  const value = field
    .split(".")
    .reduce<unknown>((object, key) => (object as Record<string, unknown> | undefined)?.[key], securityContext);
  return { path: `${path()}.securityContext.${field}`, value, allowed };
}
