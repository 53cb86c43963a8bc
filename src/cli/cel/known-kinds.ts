/**
 * The kinds that expressions can be checked against: the built-in ones, and those of definitions in files. Loaded only then, because it loads all
 * schemas.
 */
import type { KubeObject } from "../../apimachinery/object.ts";
import { customDefinition } from "../../apis/apiextensions/custom-definition.ts";
import { builtinDefinitions, builtinVersions } from "../../catalog/builtin-definitions.ts";
import { openCatalog } from "../../catalog/catalog.ts";
import type { Catalog, Conversion, ResourceDefinition } from "../../catalog/contract.ts";
import { readResourcesTable } from "../../catalog/resources-table.ts";
import { parseRuntimeConfig } from "../../catalog/runtime-config.ts";
import { type CheckedKind, type CheckTypes, policyTypeChecker } from "../../cel-environment/policy-type-checker.ts";
import { checkedKinds, namedKind, schemaOfKind } from "../../controllers/policy-status/checked-kinds.ts";
import { isObject } from "../../lib/json/values.ts";
import type { Problem } from "./contract.ts";
import { InputError, type PlainObject } from "./documents.ts";

/** No object is converted. */
const untouched: Conversion = { toStorage: (object) => object, fromStorage: (object) => object };

/** @param definitions CustomResourceDefinitions, which need not be valid */
export function openKinds(definitions: readonly PlainObject[]): Catalog {
  const converted = readResourcesTable().resources.flatMap(({ group, resource, versions }) =>
    versions.filter((one) => one.converted === true).map(({ version }) => `${group}/${resource}/${version}`),
  );
  const conversions = Object.fromEntries(converted.map((key) => [key, untouched]));
  const served = parseRuntimeConfig("", builtinVersions());
  const catalog = openCatalog(builtinDefinitions({ strategies: {}, conversions, served }), (definition) => ({
    definition,
    store: undefined,
  }));
  for (const definition of definitions) {
    const custom = customKind(definition);
    if (custom !== undefined) catalog.add(custom);
  }
  return catalog;
}

/** A server accepts the names of a definition first. */
function customKind(definition: PlainObject): ResourceDefinition | undefined {
  const spec = isObject(definition.spec) ? definition.spec : {};
  const names = isObject(spec.names) ? spec.names : {};
  const acceptedNames = { singular: String(names.kind ?? "").toLowerCase(), ...names };
  const accepted = { metadata: {}, ...definition, spec, status: { acceptedNames } };
  return customDefinition(accepted as unknown as KubeObject, { objectRules: undefined });
}

/** Of `--kind` and `--resource`. */
export interface Selected {
  readonly kind: readonly string[];
  readonly resource: readonly string[];
}

/**
 * Finds kinds by the values of `--kind` (`Deployment`, `apps/v1/Deployment`) and `--resource` (`deployments`, `deployments.apps`).
 *
 * @returns those that were selected, each at one version; undefined if none were
 * @throws InputError for an unknown one
 */
export function selectedKinds(catalog: Catalog, { kind, resource }: Selected): CheckedKind[] | undefined {
  if (kind.length === 0 && resource.length === 0) return undefined;
  return [
    ...kind.flatMap((text) => {
      const [name = "", version = "", group = ""] = text.split("/").reverse();
      const isNamed = (one: ResourceDefinition): boolean =>
        one.kind === name && (!text.includes("/") || one.group === group);
      return found(catalog, isNamed, { what: `--kind ${text}`, version });
    }),
    ...resource.flatMap((text) => {
      const [name = "", ...group] = text.split(".");
      const isNamed = (one: ResourceDefinition): boolean =>
        one.resource === name && (group.length === 0 || one.group === group.join("."));
      return found(catalog, isNamed, { what: `--resource ${text}`, version: "" });
    }),
  ];
}

function found(
  catalog: Catalog,
  isNamed: (definition: ResourceDefinition) => boolean,
  { what, version }: { readonly what: string; readonly version: string },
): CheckedKind[] {
  const kinds = catalog.definitions().flatMap((definition) => {
    const served = definition.versions.find((one) => one.served && (version === "" || one.version === version));
    return isNamed(definition) && served !== undefined ? [namedKind(definition, served)] : [];
  });
  if (kinds.length > 0) return kinds;
  throw new InputError(`${what}: there is no such kind; definitions of custom kinds can be in the files`);
}

/** Checks one expression against kinds. @returns the server's warning; empty if it fits all */
export function checkTypes(kinds: readonly CheckedKind[]): CheckTypes {
  return policyTypeChecker(kinds, { variables: [], params: undefined });
}

/**
 * Checks the expressions of a ValidatingAdmissionPolicy against the kinds that it matches, as the server does for its status.
 *
 * @param selected kinds to check against instead
 * @param known fields whose expression is an error without types, too
 */
export function typeProblems(
  catalog: Catalog,
  policy: PlainObject,
  { selected, known }: { readonly selected: readonly CheckedKind[] | undefined; readonly known: ReadonlySet<string> },
): Problem[] {
  const object = policy as unknown as KubeObject;
  const kinds = selected ?? checkedKinds(catalog, object);
  const { paramKind, variables = [], validations = [] } = object.spec ?? {};
  const params = paramKind && { schema: schemaOfKind(catalog, paramKind) };
  const check = policyTypeChecker(kinds, { variables, params });
  return (validations as PlainObject[]).flatMap((validation, index) =>
    ["expression", "messageExpression"].flatMap((member) => {
      const field = `spec.validations[${index}].${member}`;
      const expression = String(validation?.[member] ?? "");
      const message = expression === "" || known.has(field) ? "" : check(expression).trimEnd();
      return message === "" ? [] : [{ field, message }];
    }),
  );
}
