/** Chooses the form of an answer. Source: resource-api §4.4; the order of preference is upstream's: quality first, then the more specific, then as written. */
import { ApiError, badRequest, notAcceptable } from "../../api/errors.ts";
import { isProtobuf } from "../../lib/protobuf/media-types.ts";
import type { Representation, RequestContext } from "../contract.ts";

/** As refusals name them. */
export const mediaTypes: readonly string[] = ["application/json", "application/vnd.kubernetes.protobuf"];
/** What custom resources are served as: they have no messages. */
const textTypes: readonly string[] = ["application/json"];
const jsonRanges: readonly string[] = ["application/json", "application/*", "*/*"];

interface Clause {
  readonly type: string;
  readonly quality: number;
  readonly parameters: ReadonlyMap<string, string>;
}

/** Clauses of one Accept header that are looked at; more are ignored. */
const clausesMax = 32;
const plainJson: Representation = { kind: "json", pretty: false };

/**
 * @throws ApiError 406 when nothing that was asked for can be served; 400 for a bad includeObject
 */
export function negotiate(context: Pick<RequestContext, "exchange" | "info" | "resolved">): Representation {
  const accept = context.exchange.header("accept");
  const pretty = wantsPretty(context);
  if (accept === undefined || accept === "" || accept === "application/json" || accept === "*/*")
    return pretty ? { kind: "json", pretty } : plainJson;
  const clauses = parseAccept(accept);
  if (!clauses.some(({ type }) => type === "*/*" || mediaTypes.includes(type) || isProtobuf(type))) throw noRepresentation();
  const served = hasMessages(context) ? mediaTypes : textTypes;
  for (const clause of clauses) {
    const form = clause.parameters.get("as");
    if (isProtobuf(clause.type) && form === undefined && served === mediaTypes) return { kind: "protobuf", pretty: false, mediaType: clause.type };
    if (!jsonRanges.includes(clause.type)) continue;
    if (form === undefined) return { kind: "json", pretty: pretty || isTrue(clause.parameters.get("pretty")) };
    const version = clause.parameters.get("v");
    if (form === "Table" && clause.parameters.get("g") === "meta.k8s.io" && (version === "v1" || version === "v1beta1")) {
      return { kind: "table", pretty, version, includeObject: includeObject(context.info.query.get("includeObject")) };
    }
  }
  throw notAcceptable(served);
}

function hasMessages({ resolved }: Pick<RequestContext, "resolved">): boolean {
  return resolved === undefined || resolved.version.schema.protobufName !== undefined;
}

/** @returns the name by which protobuf is asked for, when nothing else that could be served comes before it */
export function preferredProtobuf(accept: string | undefined): string | undefined {
  if (accept?.includes("protobuf") !== true) return undefined;
  const preferred = parseAccept(accept).find(({ type, parameters }) => !parameters.has("as") && (isProtobuf(type) || jsonRanges.includes(type)));
  return preferred !== undefined && isProtobuf(preferred.type) ? preferred.type : undefined;
}

/** A malformed clause asks for nothing. */
export function parseAccept(header: string): Clause[] {
  const clauses: Clause[] = [];
  for (const text of header.split(",", clausesMax)) {
    const [type = "", ...rest] = text.split(";").map((part) => part.trim());
    const parameters = new Map<string, string>();
    for (const parameter of rest) {
      const equals = parameter.indexOf("=");
      if (equals > 0) parameters.set(parameter.slice(0, equals).toLowerCase(), parameter.slice(equals + 1));
    }
    const quality = Number(parameters.get("q") ?? "1");
    if (type.includes("/")) clauses.push({ type: type.toLowerCase(), quality: Number.isFinite(quality) ? quality : 0, parameters });
  }
  const specificity = (type: string): number => (type === "*/*" ? 0 : type.endsWith("/*") ? 1 : 2);
  return clauses.sort((a, b) => b.quality - a.quality || specificity(b.type) - specificity(a.type));
}

function includeObject(value: string | null): "None" | "Metadata" | "Object" {
  if (value === null || value === "") return "Metadata";
  if (value === "None" || value === "Metadata" || value === "Object") return value;
  throw badRequest(
    `Unable to convert to Table as requested: includeObject: Invalid value: ${JSON.stringify(value)}: must be 'Metadata', 'Object', 'None', or empty`,
  );
}

/** `pretty` decides; without it, browsers and command-line tools that a person reads get pretty output. */
function wantsPretty({ exchange, info }: Pick<RequestContext, "exchange" | "info">): boolean {
  const value = info.query.get("pretty");
  if (value !== null) return isTrue(value);
  const agent = exchange.header("user-agent") ?? "";
  return agent.startsWith("curl") || agent.startsWith("Wget") || agent.startsWith("Mozilla/5.0");
}

function isTrue(value: string | undefined): boolean {
  return value === "1" || value === "true" || value === "t" || value === "T" || value === "TRUE" || value === "True";
}

/** No clause names a type of ours at all. */
function noRepresentation(): ApiError {
  return new ApiError({
    code: 406,
    reason: "NotAcceptable",
    message: `406: Not Acceptable\n\nAvailable representations: ${mediaTypes.join(", ")}`,
    details: {},
  });
}
