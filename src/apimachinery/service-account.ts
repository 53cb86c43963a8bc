/** Service accounts as users. Source: access-control §5.2. */
import { dnsLabelProblems, dnsSubdomainProblems } from "../lib/names/names.ts";

const prefix = "system:serviceaccount:";

/** @returns undefined when the user is none */
export function serviceAccountOf(userName: string): { readonly namespace: string; readonly name: string } | undefined {
  if (!userName.startsWith(prefix)) return undefined;
  const [namespace = "", name = "", ...rest] = userName.slice(prefix.length).split(":");
  if (rest.length > 0 || dnsLabelProblems(namespace).length > 0 || dnsSubdomainProblems(name).length > 0)
    return undefined;
  return { namespace, name };
}

export function serviceAccountUser(namespace: string, name: string): string {
  return `${prefix}${namespace}:${name}`;
}

/** All accounts', and those of its namespace. */
export function serviceAccountGroups(namespace: string): string[] {
  return ["system:serviceaccounts", `system:serviceaccounts:${namespace}`];
}
