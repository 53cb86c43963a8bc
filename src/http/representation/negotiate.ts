/** Chooses the form of an answer. Source: resource-api §4.4; the order of preference is upstream's: quality first, then the more specific, then as written. */
import { ApiError, badRequest, notAcceptable } from "../../api/errors.ts";
import { isProtobuf } from "../../lib/protobuf/media-types.ts";
import { yamlType } from "../../lib/yaml/media-type.ts";
import type { Representation, RequestContext } from "../contract.ts";

/** As refusals name them. */
export const mediaTypes: readonly string[] = ["application/json", yamlType, "application/vnd.kubernetes.protobuf"];
/** What custom resources are served as: they have no messages. */
const textTypes: readonly string[] = ["application/json", yamlType];
const jsonRanges: readonly string[] = ["application/json", "application/*", "*/*"];

interface Clause {
  readonly type: string;
  readonly quality: number;
  readonly parameters: ReadonlyMap<string, string>;
}

/** Clauses of one Accept header that are looked at; more are ignored. */
const clausesMax = 32;
const plainJson: Representation = { kind: "json", pretty: false };
const plainYaml: Representation = { kind: "yaml", pretty: false };

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
    const yaml = clause.type === yamlType;
    if (!yaml && !jsonRanges.includes(clause.type)) continue;
    if (form !== undefined && !isTable(clause)) continue;
    if (yaml && context.info.verb === "watch") throw notAcceptable(served.filter((type) => type !== yamlType).map((type) => `${type};stream=watch`));
    if (form === undefined) return yaml ? plainYaml : { kind: "json", pretty: pretty || isTrue(clause.parameters.get("pretty")) };
    const version = clause.parameters.get("v") === "v1" ? "v1" : "v1beta1";
    return { kind: "table", pretty: pretty && !yaml, yaml, version, includeObject: includeObject(context.info.query.get("includeObject")) };
  }
  throw notAcceptable(served);
}

function isTable({ parameters }: Clause): boolean {
  const version = parameters.get("v");
  return parameters.get("as") === "Table" && parameters.get("g") === "meta.k8s.io" && (version === "v1" || version === "v1beta1");
}

function hasMessages({ resolved }: Pick<RequestContext, "resolved">): boolean {
  return resolved === undefined || resolved.version.schema.protobufName !== undefined;
}

/** @returns YAML, or the name by which protobuf is asked for, when that is preferred to JSON where no resource is concerned: for a Status */
export function preferredForm(accept: string | undefined): string | undefined {
  if (accept === undefined || !(accept.includes("protobuf") || accept.includes("yaml"))) return undefined;
  const isOther = (type: string): boolean => isProtobuf(type) || type === yamlType;
  const preferred = parseAccept(accept).find(({ type, parameters }) => !parameters.has("as") && (isOther(type) || jsonRanges.includes(type)));
  return preferred !== undefined && isOther(preferred.type) ? preferred.type : undefined;
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
