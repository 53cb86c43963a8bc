/** Names of upstream's registries of kinds ("schemes") and of its packages, as error messages print them. */
import { formatGroupVersion, type GroupVersionKind } from "../apimachinery/object.ts";
import { quoteGo } from "../lib/json/quote.ts";

/**
 * The scheme's name in messages: the source line of kube-apiserver that creates it. Used for
 * upstream's other schemes, too.
 */
const schemeName = "pkg/api/legacyscheme/scheme.go:30";

/** The message for a kind that upstream does not know. */
export function notRegistered({ group, version, kind }: GroupVersionKind): string {
  const apiVersion = formatGroupVersion(group, version);
  return `no kind ${quoteGo(kind)} is registered for version ${quoteGo(apiVersion)} in scheme ${quoteGo(schemeName)}`;
}

/** The message for a kind that upstream does not know in any version of the group. */
export function notRegisteredInternally({ group, kind }: Pick<GroupVersionKind, "group" | "kind">): string {
  return `no kind ${quoteGo(kind)} is registered for the internal version of group ${quoteGo(group)} in scheme ${quoteGo(schemeName)}`;
}

/** The message for an object of one Go type where another one is expected. */
export function unknownConversion(from: string, to: string): string {
  return `converting (${from}) to (${to}): unknown conversion`;
}

/**
 * Groups that upstream serves with separate schemes, which contain only their own kinds and the
 * shared ones.
 */
export const ownSchemes: ReadonlySet<string> = new Set(["apiextensions.k8s.io", "apiregistration.k8s.io"]);

/** Go's package of a group's internal types. */
export function internalPackage(group: string): string {
  if (group === "") return "core";
  if (group === "internal.apiserver.k8s.io") return "apiserverinternal";
  return group.split(".")[0] as string;
}
