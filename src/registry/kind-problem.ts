/** Why an object of one kind cannot stand for one of another, in the words of upstream's schemes. */
import { formatGroupVersion } from "../apimachinery/object.ts";
import { builtinSchema, definitionOf } from "../catalog/builtin-schemas.ts";
import type { Catalog } from "../catalog/contract.ts";
import { quoteGo } from "../lib/json/quote.ts";
import type { ExpectedKind } from "./decode-body.ts";

export interface NamedKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** Of an object of a custom kind whose version is null. */
export const nullVersion = ".apiVersion accessor error: <nil> is of the type <nil>, expected string";

/** Whether a problem with a custom object is told where it says that it is of another kind or group: no schema is found for it then. */
export const isToldOfAny = (problem: string): boolean =>
  problem.startsWith("duplicate field") || problem.startsWith('unknown field "metadata.');

/** How kube-apiserver's scheme is called in messages: by the line that makes it. Upstream's other schemes are called so here too. */
const schemeName = "pkg/api/legacyscheme/scheme.go:30";

/** Groups that upstream serves by a scheme of their own, where no other kinds are registered but those of all groups. */
const ownSchemes: ReadonlySet<string> = new Set(["apiextensions.k8s.io", "apiregistration.k8s.io"]);

export interface KindProblem {
  readonly why: string;
  /** Whether it is only another version of the kind. */
  readonly converts: boolean;
  /** Whether upstream has a type for it, into which it reads a body before it looks further. */
  readonly isKnown: boolean;
}

/** @returns why one kind is not the other */
export function kindProblem(given: NamedKind, expected: ExpectedKind, catalog: Catalog): KindProblem | undefined {
  const isVersion = given.version === expected.version || given.version === expected.alsoVersion;
  if (given.kind === expected.kind && isVersion && given.group === expected.group) return undefined;
  const groupVersion = formatGroupVersion(given.group, given.version);
  const wanted = formatGroupVersion(expected.group, expected.version);
  const type = isRegistered(given, expected) ? goTypeOf(given, catalog) : undefined;
  if (type === undefined) {
    return {
      why: `no kind ${quoteGo(given.kind)} is registered for version ${quoteGo(groupVersion)} in scheme ${quoteGo(schemeName)}`,
      converts: false,
      isKnown: false,
    };
  }
  const ours = catalog.findKind(expected.group, expected.version, expected.kind)?.resource.store?.form;
  const theirs = catalog.findKind(given.group, given.version, given.kind)?.resource.store?.form;
  const isEarlier = ownSchemes.has(given.group) && given.group === expected.group && given.kind === expected.kind;
  if (isEarlier || (ours !== undefined && ours.prefix === theirs?.prefix)) {
    return {
      why: `the API version in the data (${groupVersion}) does not match the expected API version (${wanted})`,
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

/** The same of a document without a version, which upstream takes for one of its internal types. */
export function internalKindProblem(given: NamedKind, expected: ExpectedKind, catalog: Catalog): string | undefined {
  if (given.kind === expected.kind) return undefined;
  if (!isRegistered(given, expected) || goTypeOf(given, catalog) === undefined) {
    return `no kind ${quoteGo(given.kind)} is registered for the internal version of group ${quoteGo(given.group)} in scheme ${quoteGo(schemeName)}`;
  }
  const wanted = internalPackage(expected.group);
  return `converting (${internalPackage(given.group)}.${given.kind}) to (${wanted}.${expected.kind}): unknown conversion`;
}

function isRegistered({ group, version, kind }: NamedKind, expected: ExpectedKind): boolean {
  const schemeOf = (name: string): string => (ownSchemes.has(name) ? name : "");
  if (schemeOf(group) === schemeOf(expected.group)) return true;
  return group === "" && definitionOf(group, version, kind)?.startsWith("io.k8s.apimachinery.") === true;
}

/** Kinds of the core group that no document describes. */
const undescribedCore: ReadonlySet<string> = new Set([
  "List",
  "PodStatusResult",
  "RangeAllocation",
  "SerializedReference",
]);

/** `v1.Secret`; undefined for a kind that is not known. */
function goTypeOf({ group, version, kind }: NamedKind, catalog: Catalog): string | undefined {
  if (group === "" && version === "v1" && undescribedCore.has(kind)) return `v1.${kind}`;
  if (ownSchemes.has(group) && version === "v1beta1" && definitionOf(group, "v1", kind) !== undefined)
    return `v1beta1.${kind}`; // Not served any more.
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
