/**
 * Compares two sets of rules. Upstream splits each requested rule into all combinations of its
 * values. This search visits only combinations that some owned rules cover and others do not.
 * Source: k8s.io/component-helpers@v0.36.0/auth/rbac/validation/policy_comparator.go.
 */
import type { PolicyRule } from "../contract.ts";
import { everySubresource, hasResource, hasUrl, hasValue, type OwnedRule, ownedRuleOf } from "./owned-rule.ts";

/** Where a search ends early. */
export interface CoverLimits {
  /** Found pieces. */
  readonly piecesMax: number;
  /** The characters of the found pieces; a piece that exceeds them is the last one. */
  readonly charactersMax: number;
  /** Comparisons of an owned rule with a value. */
  readonly stepsMax: number;
}

/** The result of a search. */
export interface Uncovered {
  /** Rules with one verb, and with one resource and name or one URL, in upstream's order. */
  readonly pieces: PolicyRule[];
  /** The limit at which the search ended; undefined if the pieces are complete. */
  readonly limit: "pieces" | "steps" | undefined;
}

/** For rules that do not come from a client. */
const unlimited: CoverLimits = {
  piecesMax: Number.POSITIVE_INFINITY,
  charactersMax: Number.POSITIVE_INFINITY,
  stepsMax: Number.POSITIVE_INFINITY,
};

/** Finds the pieces of the requested rules that no owned rule covers. */
export function findUncovered(
  owned: readonly PolicyRule[],
  requested: readonly PolicyRule[],
  limits: CoverLimits = unlimited,
): Uncovered {
  const search: Search = { limits, steps: 0, characters: 0, pieces: [], limit: undefined };
  const candidates = candidatesOf(owned);
  for (const rule of requested) {
    for (const box of boxesOf(rule)) {
      if (box.dimensions.some(({ values }) => values.length === 0)) continue;
      searchBox(search, box, box.candidates(candidates, search));
      if (search.limit !== undefined) return search;
    }
  }
  return search;
}

interface Search {
  readonly limits: CoverLimits;
  steps: number;
  characters: number;
  readonly pieces: PolicyRule[];
  limit: Uncovered["limit"];
}

/** The owned rules, indexed so that few of them are compared with a requested one. */
interface Candidates {
  /** Rules with the resource in their list; those of `*` have the key `*`. */
  readonly byResource: ReadonlyMap<string, readonly OwnedRule[]>;
  /** Rules with URLs and without resource names. */
  readonly ofUrls: readonly OwnedRule[];
}

function candidatesOf(owned: readonly PolicyRule[]): Candidates {
  const byResource = new Map<string, OwnedRule[]>();
  const ofUrls: OwnedRule[] = [];
  for (const rule of owned) {
    const one = ownedRuleOf(rule);
    if (one.urls.exact.size > 0 && one.resourceNames === undefined) ofUrls.push(one);
    for (const resource of one.resources ?? ["*"]) {
      const others = byResource.get(resource);
      if (others === undefined) byResource.set(resource, [one]);
      else others.push(one);
    }
  }
  return { byResource, ofUrls };
}

/** One list of a requested rule. */
interface Dimension {
  readonly values: readonly string[];
  covers(rule: OwnedRule, value: string): boolean;
}

/** A requested rule as the product of its lists. */
interface Box {
  readonly dimensions: readonly Dimension[];
  candidates(all: Candidates, search: Search): readonly OwnedRule[];
  /** @param values one of each dimension */
  piece(values: readonly string[]): PolicyRule;
}

function boxesOf(rule: PolicyRule): Box[] {
  const { verbs = [], apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule;
  const ofVerbs: Dimension = { values: verbs, covers: (owned, verb) => hasValue(owned.verbs, verb) };
  const ofGroups: Dimension = { values: apiGroups, covers: (owned, group) => hasValue(owned.apiGroups, group) };
  const ofNames: Dimension = { values: resourceNames, covers: (owned, name) => hasValue(owned.resourceNames, name) };
  const isNamed = resourceNames.length > 0;
  return [
    {
      dimensions: [ofGroups, { values: resources, covers: hasResource }, ofVerbs, ...(isNamed ? [ofNames] : [])],
      candidates({ byResource }, search) {
        const keys = new Set(["*", ...resources, ...resources.map((resource) => everySubresource(resource) ?? "*")]);
        const found = new Set<OwnedRule>();
        for (const key of keys) {
          const rules = byResource.get(key) ?? [];
          step(search, rules.length + 1);
          if (search.limit !== undefined) return [];
          // A rule of some names does not cover a piece of every name.
          for (const each of rules) if (isNamed || each.resourceNames === undefined) found.add(each);
        }
        return [...found];
      },
      piece: ([group = "", resource = "", verb = "", name]) => ({
        apiGroups: [group],
        resources: [resource],
        verbs: [verb],
        ...(name !== undefined && { resourceNames: [name] }),
      }),
    },
    {
      dimensions: [{ values: nonResourceURLs, covers: hasUrl }, ofVerbs],
      candidates({ ofUrls }, search) {
        step(search, ofUrls.length);
        return ofUrls;
      },
      piece: ([url = "", verb = ""]) => ({ nonResourceURLs: [url], verbs: [verb] }),
    },
  ];
}

/** An owned rule in the search of one box. */
interface Candidate {
  readonly id: number;
  readonly rule: OwnedRule;
  /** From this dimension on, the rule covers every value of every dimension. */
  readonly coversFrom: number;
}

function searchBox(search: Search, box: Box, owned: readonly OwnedRule[]): void {
  if (search.limit !== undefined) return;
  const covered = new Set<string>();
  const candidates = owned.map((rule, id) => ({ id, rule, coversFrom: coversFrom(search, box, rule) }));
  const chosen: string[] = [];
  visit(0, candidates);

  /**
   * Visits the values of a dimension and those after it.
   *
   * @param rules those that cover the chosen values of the dimensions before it
   * @returns whether the rules cover everything
   */
  function visit(level: number, rules: readonly Candidate[]): boolean {
    if (rules.some((each) => each.coversFrom <= level)) return true;
    const dimension = box.dimensions[level];
    if (dimension === undefined) {
      addPiece(search, box, chosen);
      return false;
    }
    // Different values that the same rules cover have the same answer.
    const key = rules.length === 0 ? "" : `${level} ${rules.map(({ id }) => id).join()}`;
    if (covered.has(key)) return true;
    let all = true;
    for (const value of dimension.values) {
      step(search, rules.length + 1);
      if (search.limit !== undefined) return false;
      const kept = rules.filter(({ rule }) => dimension.covers(rule, value));
      chosen[level] = value;
      all = visit(level + 1, kept) && all;
      if (search.limit !== undefined) return false;
    }
    if (all) covered.add(key);
    return all;
  }
}

function coversFrom(search: Search, { dimensions }: Box, rule: OwnedRule): number {
  let from = dimensions.length;
  while (from > 0) {
    const { values, covers } = dimensions[from - 1] as Dimension;
    step(search, 1);
    if (!values.every((value) => covers(rule, value))) return from;
    step(search, values.length);
    from--;
  }
  return from;
}

function addPiece(search: Search, box: Box, values: readonly string[]): void {
  const { pieces, limits } = search;
  pieces.push(box.piece(values));
  for (const value of values) search.characters += value.length;
  if (pieces.length >= limits.piecesMax || search.characters >= limits.charactersMax) search.limit = "pieces";
}

function step(search: Search, by: number): void {
  search.steps += by;
  if (search.steps > search.limits.stepsMax) search.limit ??= "steps";
}
