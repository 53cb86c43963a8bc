/**
 * Converts plain discovery to the form of aggregated discovery. Source:
 * `ConvertGroupVersionIntoToDiscovery` of `k8s.io/apiserver@v0.36.0/pkg/endpoints/installer.go`.
 */

/** An APIResource in its wire form. */
export interface LegacyResource {
  readonly name: string;
  readonly singularName: string;
  readonly namespaced: boolean;
  readonly group?: string;
  readonly version?: string;
  readonly kind: string;
  readonly verbs: readonly string[] | null;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
}

/** An APIResourceDiscovery in its wire form. */
interface DiscoveredResource {
  readonly resource: string;
  readonly responseKind: object;
  readonly scope: "Namespaced" | "Cluster";
  readonly singularResource: string;
  readonly verbs: readonly string[] | null;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  subresources?: object[];
}

/** A subresource has another scope than its resource. */
class ScopeMismatch extends Error {
  constructor(parent: string, parentScope: string, name: string, scope: string) {
    super(
      `Error: Parent ${parent} (scope: ${parentScope}) and subresource ${name} (scope: ${scope}) scope do not match`,
    );
    this.name = "ScopeMismatch";
  }
}

/** @throws ScopeMismatch */
export function resourcesFromList(list: readonly LegacyResource[]): object[] {
  const found = new Map<string, DiscoveredResource>();
  const all: DiscoveredResource[] = [];
  const add = (resource: DiscoveredResource): DiscoveredResource => {
    all.push(resource);
    found.set(resource.resource, resource);
    return resource;
  };
  for (const one of list) if (!one.name.includes("/")) add(resourceOf(one));
  for (const one of list) {
    const slash = one.name.indexOf("/");
    if (slash === -1) continue;
    const [parentName, name] = [one.name.slice(0, slash), one.name.slice(slash + 1)];
    const scope = scopeOf(one);
    const parent = found.get(parentName) ?? add(emptyParent(parentName, scope));
    if (parent.scope !== scope) throw new ScopeMismatch(parentName, parent.scope, name, scope);
    parent.subresources ??= [];
    parent.subresources.push({
      subresource: name,
      responseKind: one.kind === "" ? noKind : kindOf(one),
      verbs: one.verbs,
    });
  }
  return all;
}

/** The `responseKind` of resources whose server names none. */
export const noKind = { group: "", version: "", kind: "" };

function resourceOf(one: LegacyResource): DiscoveredResource {
  return {
    resource: one.name,
    responseKind: kindOf(one),
    scope: scopeOf(one),
    singularResource: one.singularName,
    verbs: one.verbs,
    ...(one.shortNames && { shortNames: one.shortNames }),
    ...(one.categories && { categories: one.categories }),
  };
}

function emptyParent(resource: string, scope: DiscoveredResource["scope"]): DiscoveredResource {
  return { resource, responseKind: noKind, scope, singularResource: "", verbs: null };
}

function kindOf({ group = "", version = "", kind }: LegacyResource): object {
  return { group, version, kind };
}

function scopeOf({ namespaced }: LegacyResource): DiscoveredResource["scope"] {
  return namespaced ? "Namespaced" : "Cluster";
}
