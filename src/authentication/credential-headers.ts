/** The headers that tell this server who calls, and are nobody else's business. Source: apiserver's filter of authentication. */
import type { RequestHeaderOptions } from "./contract.ts";

const standardNames = ["authorization", "x-remote-user", "x-remote-uid", "x-remote-group"];
const standardPrefix = "x-remote-extra-";

/** @returns whether a header, by its name in lower case, is one of them, wherever it came from */
export function isCredentialHeader(options: RequestHeaderOptions): (name: string) => boolean {
  const { usernameHeaders, uidHeaders, groupHeaders, extraHeaderPrefixes } = options;
  const names = new Set([
    ...standardNames,
    ...[...usernameHeaders, ...uidHeaders, ...groupHeaders].map((name) => name.toLowerCase()),
  ]);
  const prefixes = [standardPrefix, ...extraHeaderPrefixes.map((prefix) => prefix.toLowerCase())];
  return (name) => names.has(name) || prefixes.some((prefix) => name.startsWith(prefix));
}
