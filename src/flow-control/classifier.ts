/**
 * Finds the flow schema of a request: of those that match, the one with the lowest precedence, then
 * the first name. Its cost depends on the rules for the user's name and groups, not on the number of
 * flow schemas.
 * Source: Kubernetes docs, "API Priority and Fairness", heading "FlowSchema".
 */
import { serviceAccountPrefix, serviceAccountUser } from "../apimachinery/service-account.ts";
import { items, type Part } from "../apis/fields.ts";
import type { RequestDigest } from "./contract.ts";
import type { FlowSchema } from "./flow-schema.ts";
import { compileRule, type RuleMatcher } from "./match-rule.ts";

/** @returns undefined when no flow schema matches */
export type Classifier<T extends FlowSchema> = (request: RequestDigest) => T | undefined;

/** A rule of the flow schema at a position of the order. */
interface Candidate {
  readonly position: number;
  readonly matches: RuleMatcher;
}

/** Candidates by a property of the user, each list in the order of the flow schemas. */
type Index = Map<string, Candidate[]>;

/** Sorts flow schemas as classification tries them. */
export function inMatchingOrder<T extends FlowSchema>(schemas: Iterable<T>): T[] {
  return [...schemas].sort((a, b) => a.precedence - b.precedence || (a.name < b.name ? -1 : 1));
}

/**
 * Compiles flow schemas.
 * @param schemas in the order of {@link inMatchingOrder}
 */
export function compileClassifier<T extends FlowSchema>(schemas: readonly T[]): Classifier<T> {
  const everyone: Candidate[] = [];
  const byUser: Index = new Map();
  const byGroup: Index = new Map();
  /** Rules for all service accounts of a namespace. */
  const byAccountNamespace: Index = new Map();
  for (const [position, { rules }] of schemas.entries()) {
    for (const rule of rules) {
      const candidate = { position, matches: compileRule(rule) };
      for (const subject of items(rule.subjects)) listOf(subject)?.push(candidate);
    }
  }

  function listOf({ kind, user, group, serviceAccount: account }: Part): Candidate[] | undefined {
    if (kind === "User" && user) return user.name === "*" ? everyone : listIn(byUser, user.name);
    if (kind === "Group" && group) return group.name === "*" ? everyone : listIn(byGroup, group.name);
    if (kind !== "ServiceAccount" || !account) return undefined;
    if (account.name === "*") return listIn(byAccountNamespace, account.namespace);
    return listIn(byUser, serviceAccountUser(account.namespace, account.name));
  }

  return ({ user, info }) => {
    let first = schemas.length;
    const narrow = (candidates: readonly Candidate[] | undefined): void => {
      if (candidates === undefined) return;
      for (const { position, matches } of candidates) {
        if (position >= first) return;
        if (!matches(info)) continue;
        first = position;
        return;
      }
    };
    narrow(everyone);
    narrow(byUser.get(user.name));
    if (byAccountNamespace.size > 0) narrow(byAccountNamespace.get(accountNamespace(user.name)));
    for (const group of user.groups) narrow(byGroup.get(group));
    return schemas[first];
  };
}

function listIn(index: Index, key: string): Candidate[] {
  const list = index.get(key) ?? [];
  index.set(key, list);
  return list;
}

/** The namespace of a service account; empty for other users. */
function accountNamespace(name: string): string {
  if (!name.startsWith(serviceAccountPrefix)) return "";
  const end = name.indexOf(":", serviceAccountPrefix.length);
  return end < 0 ? "" : name.slice(serviceAccountPrefix.length, end);
}
