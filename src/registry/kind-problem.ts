/**
 * Why an object of one kind is not accepted as another, with the messages of upstream's schemes.
 */
import { formatGroupVersion } from "../apimachinery/object.ts";
import { builtinSchema, definitionOf } from "../catalog/builtin-schemas.ts";
import type { Catalog } from "../catalog/contract.ts";
import { quoteGo } from "../lib/json/quote.ts";
import type { ExpectedKind } from "./body-kind.ts";

/** The kind that a body names. */
export interface NamedKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** The error for a custom object whose apiVersion is null. */
export const nullVersion = ".apiVersion accessor error: <nil> is of the type <nil>, expected string";

/**
 * Whether a problem is reported for a custom object of another kind or group than expected, for
 * which no schema is found.
 */
export const isReportedWithoutSchema = (problem: string): boolean =>
  problem.startsWith("duplicate field") || problem.startsWith('unknown field "metadata.');

/**
 * The scheme's name in messages: the source line of kube-apiserver that creates it. Used for
 * upstream's other schemes, too.
 */
const schemeName = "pkg/api/legacyscheme/scheme.go:30";

/**
 * Groups that upstream serves with separate schemes, which contain only their own kinds and the
 * shared ones.
 */
const ownSchemes: ReadonlySet<string> = new Set(["apiextensions.k8s.io", "apiregistration.k8s.io"]);

interface KindProblem {
  readonly why: string;
  /** Whether the kinds differ only in version. */
  readonly converts: boolean;
  /** Whether upstream has a Go type for the kind, into which it decodes the body first. */
  readonly isKnown: boolean;
}

/** @returns why the named kind is not accepted as the expected one; undefined when it is */
export function kindProblem(named: NamedKind, expected: ExpectedKind, catalog: Catalog): KindProblem | undefined {
  const isVersion = named.version === expected.version || named.version === expected.alsoVersion;
  if (named.kind === expected.kind && isVersion && named.group === expected.group) return undefined;
  const groupVersion = formatGroupVersion(named.group, named.version);
  const expectedVersion = formatGroupVersion(expected.group, expected.version);
  const type = isRegistered(named, expected) ? goTypeOf(named, catalog) : undefined;
  if (type === undefined) {
    return {
      why: `no kind ${quoteGo(named.kind)} is registered for version ${quoteGo(groupVersion)} in scheme ${quoteGo(schemeName)}`,
      converts: false,
      isKnown: false,
    };
  }
  const ours = catalog.findKind(expected.group, expected.version, expected.kind)?.resource.store?.form;
  const theirs = catalog.findKind(named.group, named.version, named.kind)?.resource.store?.form;
  const isEarlier = ownSchemes.has(named.group) && named.group === expected.group && named.kind === expected.kind;
  if (isEarlier || (ours !== undefined && ours.prefix === theirs?.prefix)) {
    return {
      why: `the API version in the data (${groupVersion}) does not match the expected API version (${expectedVersion})`,
      converts: true,
      isKnown: true,
    };
  }
  return {
    why: `converting (${type}) to (${internalPackage(ours?.group ?? expected.group)}.${expected.kind}): unknown conversion`,
    converts: false,
    isKnown: true,
  };
}

/**
 * {@link kindProblem} for a document without a version, which upstream decodes as an internal type.
 */
export function internalKindProblem(named: NamedKind, expected: ExpectedKind, catalog: Catalog): string | undefined {
  if (named.kind === expected.kind) return undefined;
  if (!isRegistered(named, expected) || goTypeOf(named, catalog) === undefined) {
    return `no kind ${quoteGo(named.kind)} is registered for the internal version of group ${quoteGo(named.group)} in scheme ${quoteGo(schemeName)}`;
  }
  const expectedPackage = internalPackage(expected.group);
  return `converting (${internalPackage(named.group)}.${named.kind}) to (${expectedPackage}.${expected.kind}): unknown conversion`;
}

function isRegistered({ group, version, kind }: NamedKind, expected: ExpectedKind): boolean {
  const schemeOf = (name: string): string => (ownSchemes.has(name) ? name : "");
  if (schemeOf(group) === schemeOf(expected.group)) return true;
  return group === "" && definitionOf(group, version, kind)?.startsWith("io.k8s.apimachinery.") === true;
}

/** Kinds of the core group that have no OpenAPI definition. */
const undescribedCore: ReadonlySet<string> = new Set([
  "List",
  "PodStatusResult",
  "RangeAllocation",
  "SerializedReference",
]);

/** For example `v1.Secret`; undefined for an unknown kind. */
function goTypeOf({ group, version, kind }: NamedKind, catalog: Catalog): string | undefined {
  if (group === "" && version === "v1" && undescribedCore.has(kind)) return `v1.${kind}`;
  if (ownSchemes.has(group) && version === "v1beta1" && definitionOf(group, "v1", kind) !== undefined)
    return `v1beta1.${kind}`; // Registered, but no longer served.
  const definition = definitionOf(group, version, kind);
  if (definition !== undefined) return builtinSchema(definition).goType;
  const found = catalog.findKind(group, version, kind);
  return found?.resource.definition.custom === false ? found.version.schema.goType : undefined;
}

/** Go's package of a group's internal types. */
function internalPackage(group: string): string {
  if (group === "") return "core";
  if (group === "internal.apiserver.k8s.io") return "apiserverinternal";
  return group.split(".")[0] as string;
}
