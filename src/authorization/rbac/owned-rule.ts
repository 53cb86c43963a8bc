/** Rules in the form in which the search for missing permissions compares them. */
import { trimEndOf } from "../../lib/text/trim.ts";
import type { PolicyRule } from "../contract.ts";

/** Values of one list of a rule; undefined if the list has a `*`, which covers each value. */
type Values = ReadonlySet<string> | undefined;

/** A rule that a user has. */
export interface OwnedRule {
  readonly verbs: Values;
  readonly apiGroups: Values;
  readonly resources: Values;
  /** Undefined for a rule of every name. A `*` is a name here. */
  readonly resourceNames: Values;
  readonly urls: OwnedUrls;
}

/** The URLs of a rule. */
interface OwnedUrls {
  readonly exact: ReadonlySet<string>;
  /** Sorted. No prefix begins with another one. */
  readonly prefixes: readonly string[];
}

/** Filled when a rule is compared for the first time; an entry lives as long as its role. */
const ownedRules = new WeakMap<PolicyRule, OwnedRule>();

/** Reads a rule. The time is linear, and the result is kept for the rule. */
export function ownedRuleOf(rule: PolicyRule): OwnedRule {
  const existing = ownedRules.get(rule);
  if (existing !== undefined) return existing;
  const { resourceNames = [] } = rule;
  const owned = {
    verbs: valuesOf(rule.verbs),
    apiGroups: valuesOf(rule.apiGroups),
    resources: valuesOf(rule.resources),
    resourceNames: resourceNames.length === 0 ? undefined : new Set(resourceNames),
    urls: urlsOf(rule.nonResourceURLs),
  };
  ownedRules.set(rule, owned);
  return owned;
}

function valuesOf(list: readonly string[] = []): Values {
  const values = new Set(list);
  return values.has("*") ? undefined : values;
}

const noUrls: OwnedUrls = { exact: new Set(), prefixes: [] };

function urlsOf(patterns: readonly string[] = []): OwnedUrls {
  if (patterns.length === 0) return noUrls;
  const prefixes: string[] = [];
  const patternsOfMany = patterns.filter((pattern) => pattern.endsWith("*"));
  for (const prefix of patternsOfMany.map((pattern) => trimEndOf(pattern, "*")).sort()) {
    const last = prefixes.at(-1);
    if (last === undefined || !prefix.startsWith(last)) prefixes.push(prefix);
  }
  return { exact: new Set(patterns), prefixes };
}

/** Whether a list of a rule has the value. */
export function hasValue(values: Values, value: string): boolean {
  return values === undefined || values.has(value);
}

/** Whether a rule has the resource, or the subresource of every resource. */
export function hasResource({ resources }: OwnedRule, resource: string): boolean {
  if (hasValue(resources, resource)) return true;
  const every = everySubresource(resource);
  return every !== undefined && hasValue(resources, every);
}

/** @returns such as `*` with `/log` for `pods/log`; undefined for a resource */
export function everySubresource(resource: string): string | undefined {
  const slash = resource.indexOf("/");
  return slash < 0 ? undefined : `*${resource.slice(slash)}`;
}

/**
 * Whether a rule has the URL, or a pattern that covers it. Only the greatest prefix that is not
 * greater than the URL can begin it, because no prefix begins another one.
 */
export function hasUrl({ urls: { exact, prefixes } }: OwnedRule, url: string): boolean {
  if (exact.has(url)) return true;
  let low = 0;
  let high = prefixes.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((prefixes[middle] as string) <= url) low = middle + 1;
    else high = middle;
  }
  const prefix = prefixes[low - 1];
  return prefix !== undefined && url.startsWith(prefix);
}
