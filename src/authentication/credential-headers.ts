/**
 * The headers with credentials, which are removed after authentication.
 * Source: k8s.io/apiserver@v0.36.0/pkg/endpoints/filters/authentication.go.
 */
import type { RequestHeaderOptions } from "./contract.ts";

const standardNames = ["authorization", "x-remote-user", "x-remote-uid", "x-remote-group"];
const standardPrefix = "x-remote-extra-";

/**
 * @returns a function that checks whether a lower-case header name is the name of a credential
 *   header
 */
export function isCredentialHeader(options: RequestHeaderOptions): (name: string) => boolean {
  const { usernameHeaders, uidHeaders, groupHeaders, extraHeaderPrefixes } = options;
  const names = new Set([
    ...standardNames,
    ...[...usernameHeaders, ...uidHeaders, ...groupHeaders].map((name) => name.toLowerCase()),
  ]);
  const prefixes = [standardPrefix, ...extraHeaderPrefixes.map((prefix) => prefix.toLowerCase())];
  return (name) => names.has(name) || prefixes.some((prefix) => name.startsWith(prefix));
}
