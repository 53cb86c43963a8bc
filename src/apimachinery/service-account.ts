/**
 * The users of service accounts. Source:
 * k8s.io/apiserver@v0.36.0/pkg/authentication/serviceaccount/util.go.
 */
import { dnsLabelProblems, dnsSubdomainProblems } from "../lib/names/names.ts";

/** The names of the users of service accounts start with it. */
export const serviceAccountPrefix = "system:serviceaccount:";

/** @returns undefined if the user is not a service account */
export function serviceAccountOf(userName: string): { readonly namespace: string; readonly name: string } | undefined {
  if (!userName.startsWith(serviceAccountPrefix)) return undefined;
  const [namespace = "", name = "", ...rest] = userName.slice(serviceAccountPrefix.length).split(":");
  if (rest.length > 0 || dnsLabelProblems(namespace).length > 0 || dnsSubdomainProblems(name).length > 0)
    return undefined;
  return { namespace, name };
}

/** @returns the user name of a service account */
export function serviceAccountUser(namespace: string, name: string): string {
  return `${serviceAccountPrefix}${namespace}:${name}`;
}

/** @returns the group of all service accounts and that of the namespace */
export function serviceAccountGroups(namespace: string): string[] {
  return ["system:serviceaccounts", `system:serviceaccounts:${namespace}`];
}
