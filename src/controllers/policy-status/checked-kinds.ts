/**
 * The kinds that a policy matches, for checks of its expressions. Source: `typesToCheck` in
 * k8s.io/apiserver@v0.36.0/pkg/admission/plugin/policy/validating/typechecking.go.
 */
import { type KubeObject, parseGroupVersion } from "../../apimachinery/object.ts";
import type { Catalog, ResourceDefinition, ServedVersion } from "../../catalog/contract.ts";
import type { CheckedKind } from "./contract.ts";

const kindsMax = 10;

/** `RuleWithOperations` as JSON. */
interface Rule {
  readonly apiGroups?: readonly string[];
  readonly apiVersions?: readonly string[];
  readonly resources?: readonly string[];
}

/** Finds at most 10 kinds, sorted by group, version and kind. Rules with wildcards name none. */
export function checkedKinds(catalog: Catalog, { spec }: KubeObject): CheckedKind[] {
  const rules: readonly Rule[] = spec?.matchConstraints?.resourceRules ?? [];
  const found = new Map<string, Found>();
  for (const rule of rules) {
    let count = 0;
    for (const kind of kindsOf(catalog, rule)) {
      found.set(nameOf(kind), kind);
      if (++count === kindsMax) return sorted(found);
    }
  }
  return sorted(found);
}

/** Finds the schema of the parameters; undefined for an unknown kind. */
export function schemaOfKind(catalog: Catalog, { apiVersion = "", kind = "" }): CheckedKind["schema"] | undefined {
  const { group, version } = parseGroupVersion(apiVersion) ?? { group: "", version: "" };
  const found = catalog.findKind(group, version, kind);
  return found && schemaOf(found.version);
}

interface Found {
  readonly definition: ResourceDefinition;
  readonly version: ServedVersion;
}

function* kindsOf(catalog: Catalog, { apiGroups = [], apiVersions = [], resources = [] }: Rule): Iterable<Found> {
  if (hasWildcard(apiGroups) || hasWildcard(apiVersions)) return;
  const named = resources.filter((resource) => !/[*/]/.test(resource)).sort();
  for (const group of [...apiGroups].sort())
    for (const version of [...apiVersions].sort())
      for (const resource of named) yield* servedKinds(catalog, { group, version, resource });
}

function hasWildcard(list: readonly string[]): boolean {
  return list.some((item) => item.includes("*"));
}

interface Name {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
}

/** Without a group, upstream's mapper finds the resources of all groups. */
function servedKinds(catalog: Catalog, { group, version, resource }: Name): Found[] {
  return catalog
    .definitions()
    .filter((each) => (group === "" || each.group === group) && [each.resource, each.singular].includes(resource))
    .flatMap((definition) => {
      const served = catalog.findServed(definition.group, version, definition.resource);
      return served === undefined ? [] : [{ definition, version: served.version }];
    });
}

/** Returns the kind of a resource at one version. */
export function namedKind(definition: ResourceDefinition, version: ServedVersion): CheckedKind {
  return { name: nameOf({ definition, version }), schema: schemaOf(version) };
}

function nameOf({ definition, version }: Found): string {
  return `${definition.group}/${version.version}, Kind=${definition.kind}`;
}

function sorted(found: ReadonlyMap<string, Found>): CheckedKind[] {
  const key = ({ definition, version }: Found): string =>
    [definition.group, version.version, definition.kind].join("\0");
  return [...found]
    .sort(([, a], [, b]) => (key(a) < key(b) ? -1 : 1))
    .map(([, { definition, version }]) => namedKind(definition, version));
}

function schemaOf({ openApi, schema }: ServedVersion): CheckedKind["schema"] {
  return openApi === undefined ? { struct: schema } : { custom: openApi.schema };
}
