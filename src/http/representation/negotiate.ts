/**
 * Negotiates the form of a response by Accept, as upstream does. Source:
 * k8s.io/apiserver@v0.36.0/pkg/endpoints/handlers/negotiation, goautoneg and go-restful.
 */

import { ApiError, badRequest, notAcceptable } from "../../apimachinery/errors.ts";
import { parseBool } from "../../apimachinery/parse-bool.ts";
import type { SubresourceDefinition } from "../../catalog/contract.ts";
import { quoteGo } from "../../lib/json/quote.ts";
import { acceptedTypes, parseAccept } from "../../lib/media-type/accept.ts";
import type { Exchange } from "../../request/exchange.ts";
import type { Representation, RequestContext, Shape } from "../contract.ts";
import type { Encoding } from "./contract.ts";

const wholeObjects: Shape = { kind: "object" };

/**
 * Negotiates the form of objects of a resource.
 * @param isAction whether the response is that of an action or a review, which has no rows
 * @throws ApiError 406 when no accepted form is supported; 400 for a malformed includeObject
 */
export function negotiate(context: RequestContext, isAction: boolean): Representation {
  const { exchange, info, encodings, resolved } = context;
  const accept = exchange.header("accept") ?? "";
  const custom = resolved?.resource.definition.custom === true;
  const tables = !isAction && subresourceOf(context)?.noTables !== true;
  const chosen = choose(accept, encodings, {
    allows: (encoding, target) =>
      target === undefined
        ? !(custom && encoding.typed)
        : isShape(target) && (target.kind !== "Table" || (tables && encoding.document !== undefined)),
    allowsServerVersion: (version) => version === "v1",
  });
  if (chosen === undefined) throw notAcceptable(namesOf(encodings));
  if (info.verb === "watch" && chosen.encoding.stream === undefined) throw notAcceptable(streamNamesOf(encodings));
  return { shape: shapeOf(chosen.target, info.query), encoding: withPretty(context, chosen) };
}

/**
 * Negotiates the encoding of a response with a single shape: a Status, a discovery document.
 * @returns undefined when none is accepted
 */
export function negotiatePlain(context: Pick<RequestContext, "exchange" | "info" | "encodings">): Encoding | undefined {
  const { exchange, encodings } = context;
  const chosen = choose(exchange.header("accept") ?? "", encodings, {
    allows: (_encoding, target) => target === undefined,
    allowsServerVersion: () => false,
  });
  return chosen && withPretty(context, chosen);
}

/** The context without encodings that apply only to resources of a group and version. */
export function outsideGroups<Context extends Pick<RequestContext, "exchange" | "info" | "encodings">>({
  exchange,
  info,
  encodings,
}: Context) {
  return { exchange, info, encodings: encodings.filter(({ grouped }) => !grouped) };
}

/** The media types that errors list. */
export function namesOf(encodings: readonly Encoding[]): string[] {
  return encodings.filter(({ alias }) => !alias).map(({ mediaType }) => mediaType);
}

function streamNamesOf(encodings: readonly Encoding[]): string[] {
  return encodings.flatMap(({ alias, stream }) => (alias || stream === undefined ? [] : [stream.mediaType]));
}

/**
 * Routes of built-in kinds match Accept before it is parsed: it must contain a supported type, or
 * all types.
 * @throws ApiError 406
 */
export function checkRoute(
  context: Pick<RequestContext, "exchange" | "info" | "encodings"> & Partial<Pick<RequestContext, "resolved">>,
): void {
  const { encodings, info } = context;
  const accept = context.exchange.header("accept") ?? "";
  if (accept === "") return;
  const mayStream = info.verb === "list" || info.verb === "watch";
  const { plainText } = subresourceOf(context) ?? {};
  const isProduced = (type: string): boolean =>
    (plainText === true && type === "text/plain") ||
    encodings.some(({ mediaType, stream }) => mediaType === type || (mayStream && stream?.mediaType === type));
  if (acceptedTypes(accept).some((type) => type === "*/*" || isProduced(type))) return;
  const plain = plainText === true ? ["text/plain"] : [];
  throw notProduced([...plain, ...namesOf(encodings), ...(mayStream ? streamNamesOf(encodings) : [])]);
}

/**
 * As {@link checkRoute}, for a route that produces one media type.
 * @throws ApiError 406
 */
export function checkProduces(exchange: Pick<Exchange, "header">, mediaType: string): void {
  const accept = exchange.header("accept") ?? "";
  if (accept === "" || acceptedTypes(accept).some((type) => type === "*/*" || type === mediaType)) return;
  throw notProduced([mediaType]);
}

function notProduced(available: readonly string[]): ApiError {
  const message = `406: Not Acceptable\n\nAvailable representations: ${available.join(", ")}`;
  return new ApiError({ code: 406, reason: "NotAcceptable", message, details: {} });
}

function subresourceOf({
  info: { subresource },
  resolved,
}: Pick<RequestContext, "info"> & Partial<Pick<RequestContext, "resolved">>): SubresourceDefinition | undefined {
  return subresource === "" ? undefined : resolved?.version.subresources.find(({ name }) => name === subresource);
}

/** The kind that objects are converted to. */
interface Target {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

interface Restrictions {
  /** @param target undefined for objects without conversion */
  allows(encoding: Encoding, target: Target | undefined): boolean;
  allowsServerVersion(version: string): boolean;
}

/** The first form of `Accept` that is supported. */
export interface Chosen {
  readonly encoding: Encoding;
  readonly target: Target | undefined;
  /** `nopeer` excludes from discovery what only other servers over the same store serve. */
  readonly profile?: string | undefined;
  readonly pretty: boolean;
}

export function choose(accept: string, encodings: readonly Encoding[], restrictions: Restrictions): Chosen | undefined {
  if (accept === "") return { encoding: encodings[0] as Encoding, target: undefined, pretty: false };
  for (const { type, parameters } of parseAccept(accept)) {
    for (const encoding of encodings) {
      if (!matches(type, encoding.mediaType) || !fits(encoding, parameters, restrictions)) continue;
      const profile = parameters.get("profile");
      return { encoding, target: targetOf(parameters), profile, pretty: parameters.get("pretty") === "1" };
    }
  }
  return undefined;
}

function matches(range: string, mediaType: string): boolean {
  return range === mediaType || range === "*/*" || (range.endsWith("/*") && mediaType.startsWith(range.slice(0, -1)));
}

function fits(
  encoding: Encoding,
  parameters: ReadonlyMap<string, string>,
  { allows, allowsServerVersion }: Restrictions,
): boolean {
  const stream = parameters.get("stream");
  if (stream !== undefined && (encoding.stream === undefined || stream !== "watch")) return false;
  const serverVersion = parameters.get("sv");
  if (serverVersion !== undefined && !allowsServerVersion(serverVersion)) return false;
  return allows(encoding, targetOf(parameters));
}

function targetOf(parameters: ReadonlyMap<string, string>): Target | undefined {
  const [group, version, kind] = [parameters.get("g"), parameters.get("v"), parameters.get("as")];
  if (group === undefined && version === undefined && kind === undefined) return undefined;
  return { group: group ?? "", version: version ?? "", kind: kind ?? "" };
}

const shapeKinds: readonly string[] = ["Table", "PartialObjectMetadata", "PartialObjectMetadataList"];

function isShape({ group, version, kind }: Target): boolean {
  return group === "meta.k8s.io" && (version === "v1" || version === "v1beta1") && shapeKinds.includes(kind);
}

function shapeOf(target: Target | undefined, query: URLSearchParams): Shape {
  if (target === undefined) return wholeObjects;
  const version = target.version === "v1" ? "v1" : "v1beta1";
  if (target.kind !== "Table") return { kind: "metadata", version, list: target.kind === "PartialObjectMetadataList" };
  return { kind: "table", version, includeObject: includeObject(query.get("includeObject")) };
}

function includeObject(value: string | null): "None" | "Metadata" | "Object" {
  if (value === null || value === "") return "Metadata";
  if (value === "None" || value === "Metadata" || value === "Object") return value;
  throw badRequest(
    `Unable to convert to Table as requested: includeObject: Invalid value: ${quoteGo(value)}: must be 'Metadata', 'Object', 'None', or empty`,
  );
}

/** Browsers, curl and wget receive indented text, unless `pretty` is set. */
export function withPretty(
  { exchange, info }: Pick<RequestContext, "exchange" | "info">,
  { encoding, pretty }: Chosen,
): Encoding {
  if (encoding.pretty === undefined) return encoding;
  const parameter = info.query.get("pretty") ?? "";
  if (pretty || (parameter === "" ? isHumanClient(exchange.header("user-agent") ?? "") : parseBool(parameter) === true))
    return encoding.pretty;
  return encoding;
}

function isHumanClient(userAgent: string): boolean {
  return userAgent.startsWith("curl") || userAgent.startsWith("Wget") || userAgent.startsWith("Mozilla/5.0");
}
