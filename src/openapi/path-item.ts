/** Paths, operations and their parts, before either version of OpenAPI gives them a form. */
import type { PublishedSchema } from "../catalog/contract.ts";

export type HttpMethod = "get" | "put" | "post" | "delete" | "options" | "head" | "patch";

export interface PathItem {
  readonly path: string;
  readonly operations: readonly Operation[];
}

export interface Operation {
  readonly method: HttpMethod;
  /** `x-kubernetes-action`; undefined for discovery itself. */
  readonly action: string | undefined;
  readonly id: string;
  readonly description: string;
  readonly tags: readonly string[];
  /** `x-kubernetes-group-version-kind` */
  readonly kind: KindName | undefined;
  readonly parameters: readonly Parameter[];
  readonly body: Body | undefined;
  readonly answers: readonly Answer[];
  readonly consumes: readonly string[];
  readonly produces: readonly string[];
}

export interface KindName {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** Given for custom kinds; the definitions of built-in ones are found by name. */
  readonly custom?: CustomKind;
}

/** A kind of a custom resource, or of its list. */
export interface CustomKind extends KindName {
  /** Of the items, where this is a list. */
  readonly itemKind?: string;
  readonly plural: string;
  readonly published: PublishedSchema;
}

export interface Parameter {
  readonly in: "query" | "path";
  readonly name: string;
  readonly type: "string" | "integer" | "boolean";
  /** Where its description is to be found: the operation it belongs to, such as `list` or `PodExec`. */
  readonly topic: string;
  /** Descriptions that name the kind. */
  readonly description?: string;
}

export interface Body {
  readonly kind: KindName | "Patch" | "DeleteOptions";
  readonly required: boolean;
}

export interface Answer {
  readonly code: 200 | 201 | 202;
  /** A kind, the name of one that belongs to every group (`Status`), the definition of something that is no kind, or `text`. */
  readonly content: KindName | string;
}

export interface PathOptions {
  readonly commonQuery: CommonQuery;
  /** Whether CBOR is served. */
  readonly cbor: boolean;
}

/** Names of query parameters by operation. */
export type CommonQuery = Readonly<Record<string, readonly string[]>>;

export interface Scope {
  readonly group: string;
  readonly version: string;
  /** `/apis/apps/v1` */
  readonly root: string;
  readonly commonQuery: CommonQuery;
  readonly mediaTypes: MediaTypes;
  /** `AppsV1`, in the middle of operation ids. */
  readonly title: string;
  /** `apps_v1` */
  readonly tag: string;
}

/** Media types of the built-in resources. */
export interface MediaTypes {
  readonly objects: readonly string[];
  readonly streams: readonly string[];
  readonly patches: readonly string[];
  /** Of bodies that are no patches. */
  readonly bodies: readonly string[];
}

export const namespaceParameter: Parameter = {
  in: "path",
  name: "namespace",
  type: "string",
  topic: "",
  description: "object name and auth scope, such as for teams and projects",
};

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

export function queryParameters(names: readonly string[], topic: string): Parameter[] {
  return names.map((name) => ({ in: "query", name, topic, type: parameterType(name) }));
}

function parameterType(name: string): Parameter["type"] {
  if (integers.has(name) || name === "ports") return "integer";
  return booleans.has(name) ? "boolean" : "string";
}

/** `a Pod`, `an Event`, and no article before what looks like a plural. */
export function withArticle(noun: string): string {
  if (noun.endsWith("s") && !noun.endsWith("ss")) return noun;
  return `${/^[aeiou]/i.test(noun) ? "an" : "a"} ${noun}`;
}

export function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
