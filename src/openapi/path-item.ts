/** Paths, operations and their parts, independent of the version of OpenAPI. */
import type { PublishedSchema } from "../catalog/contract.ts";

/** The HTTP methods of OpenAPI. */
export type HttpMethod = "get" | "put" | "post" | "delete" | "options" | "head" | "patch";

/** A path and its operations. */
export interface PathItem {
  readonly path: string;
  readonly operations: readonly Operation[];
}

/** One method of a path. */
export interface Operation {
  readonly method: HttpMethod;
  /** `x-kubernetes-action`; undefined for discovery. */
  readonly action: string | undefined;
  readonly id: string;
  readonly description: string;
  readonly tags: readonly string[];
  /** `x-kubernetes-group-version-kind` */
  readonly kind: KindName | undefined;
  readonly parameters: readonly Parameter[];
  readonly body: Body | undefined;
  readonly answers: readonly OperationResponse[];
  readonly consumes: readonly string[];
  readonly produces: readonly string[];
}

/** A kind in a group and version. */
export interface KindName {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** Set for custom kinds; definitions of built-in kinds are found by name. */
  readonly custom?: CustomKind;
}

/** The kind of a custom resource, or of its list. */
export interface CustomKind extends KindName {
  /** The kind of the items of a list. */
  readonly itemKind?: string;
  readonly plural: string;
  readonly published: PublishedSchema;
}

/** A query or path parameter. */
export interface Parameter {
  readonly in: "query" | "path";
  readonly name: string;
  readonly type: "string" | "integer" | "boolean";
  /** The operation whose descriptions include this parameter, such as `list` or `PodExec`. */
  readonly topic: string;
  /** The description, if it depends on the kind. */
  readonly description?: string;
}

/** A request body. */
export interface Body {
  readonly kind: KindName | "Patch" | "DeleteOptions";
  readonly required: boolean;
}

/** A response. */
export interface OperationResponse {
  readonly code: 200 | 201 | 202;
  /**
   * A kind, the name of a kind of every group (`Status`), the name of a definition without a kind,
   * or `text`.
   */
  readonly content: KindName | string;
}

/** Options of the paths. */
export interface PathOptions {
  readonly commonQuery: CommonQuery;
  /** Whether CBOR is served. */
  readonly cbor: boolean;
}

/** Names of query parameters by operation. */
type CommonQuery = Readonly<Record<string, readonly string[]>>;

/** The group and version of operations. */
export interface Scope {
  readonly group: string;
  readonly version: string;
  /** `/apis/apps/v1` */
  readonly root: string;
  readonly commonQuery: CommonQuery;
  readonly mediaTypes: MediaTypes;
  /** Such as `AppsV1`, in operation ids. */
  readonly title: string;
  /** `apps_v1` */
  readonly tag: string;
}

/** Media types of the built-in resources. */
export interface MediaTypes {
  readonly objects: readonly string[];
  readonly streams: readonly string[];
  readonly patches: readonly string[];
  /** Media types of bodies other than patches. */
  readonly bodies: readonly string[];
}

/** The path parameter `namespace`. */
export const namespaceParameter: Parameter = {
  in: "path",
  name: "namespace",
  type: "string",
  topic: "",
  description: "object name and auth scope, such as for teams and projects",
};

/** The path parameter `name`. */
export function nameParameter(kind: string): Parameter {
  return { in: "path", name: "name", type: "string", topic: "", description: `name of the ${kind}` };
}

const integers = new Set(["gracePeriodSeconds", "limit", "limitBytes", "sinceSeconds", "tailLines", "timeoutSeconds"]);
const booleans = new Set([
  "allowWatchBookmarks",
  "follow",
  "force",
  "ignoreStoreReadErrorWithClusterBreakingPotential",
  "insecureSkipTLSVerifyBackend",
  "orphanDependents",
  "previous",
  "sendInitialEvents",
  "stderr",
  "stdin",
  "stdout",
  "timestamps",
  "tty",
  "watch",
]);

/** Query parameters. @param topic as in {@link Parameter} */
export function queryParameters(names: readonly string[], topic: string): Parameter[] {
  return names.map((name) => ({ in: "query", name, topic, type: parameterType(name) }));
}

function parameterType(name: string): Parameter["type"] {
  if (integers.has(name) || name === "ports") return "integer";
  return booleans.has(name) ? "boolean" : "string";
}

/** Adds an article: `a Pod`, `an Event`; none to words that look like plurals. */
export function withArticle(noun: string): string {
  if (noun.endsWith("s") && !noun.endsWith("ss")) return noun;
  return `${/^[aeiou]/i.test(noun) ? "an" : "a"} ${noun}`;
}

/** Makes the first letter upper case. */
export function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
