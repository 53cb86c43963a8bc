/** Which resource a key belongs to, by the key alone. Source: the prefixes of kube-apiserver's storage factory. */
import { readResourcesTable } from "./resources-table.ts";

/**
 * @returns a function that names the resource of a key, such as `secrets` or `deployments.apps`. Resources that are not
 *   built in have their group and name in the key.
 */
export function resourcesOfKeys(): (key: string) => string {
  const names = new Map<string, string>();
  for (const { group, resource, storage } of readResourcesTable().resources) {
    if (storage === undefined) continue;
    // Two groups can share the objects: their name is that of the group in which they are stored.
    if (!names.has(storage.prefix) || group === storage.group)
      names.set(storage.prefix, group === "" ? resource : `${resource}.${group}`);
  }
  return (key) => {
    for (let slash = key.indexOf("/", 1); slash > 0; slash = key.indexOf("/", slash + 1)) {
      const name = names.get(key.slice(0, slash + 1));
      if (name !== undefined) return name;
    }
    const [, , first = "", second = "", third] = key.split("/");
    return first.includes(".") && third !== undefined ? `${second}.${first}` : first;
  };
}
