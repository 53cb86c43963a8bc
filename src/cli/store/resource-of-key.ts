/** Which resource a key belongs to, by the key alone. */

/** The prefixes of a key that end with a slash, longest first. */
export function parentPrefixes(key: string): string[] {
  const prefixes: string[] = [];
  for (let at = key.lastIndexOf("/"); at > 0; at = key.lastIndexOf("/", at - 1)) prefixes.push(key.slice(0, at + 1));
  return prefixes;
}

/** Names of resources whose prefix does not name them. */
const specialPrefixes: readonly [prefix: string, resource: string][] = [
  ["/registry/services/specs/", "services"],
  ["/registry/services/endpoints/", "endpoints"],
];

/**
 * Names the resource of a key as `things.example.com`; for resources of early groups, whose keys have
 * no group, as `deployments`.
 */
export function resourceOfKey(key: string): string {
  const special = specialPrefixes.find(([prefix]) => key.startsWith(prefix));
  if (special !== undefined) return special[1];
  const [, , first = "", second = "", third] = key.split("/");
  return first.includes(".") && third !== undefined ? `${second}.${first}` : first;
}
