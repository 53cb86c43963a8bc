/**
 * The container and the parameters of requests to a pod's containers (`log`, `exec`, `attach`).
 * Sources:
 * `k8s.io/kubernetes@v1.36.0/pkg/registry/core/pod/strategy.go`,
 * `k8s.io/kubernetes@v1.36.0/pkg/apis/core/validation/validation.go`.
 */

import { badRequest, invalid } from "../../../apimachinery/errors.ts";
import { FieldErrors, plainText } from "../../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../../apimachinery/object.ts";
import { parseQueryBool } from "../../../apimachinery/parse-bool.ts";
import type { QueryParameters } from "../../../lib/go-net/go-query.ts";
import { quoteGo } from "../../../lib/json/quote.ts";
import { canonicalizeTime, TimeError } from "../../../lib/schema/time.ts";
import { items, type Part } from "../../fields.ts";

/**
 * @param container empty if the request names none
 * @returns the container's name
 * @throws ApiError 400 if the container does not exist, or is not named and the pod has several
 */
export function validContainer({ metadata, spec }: KubeObject, container: string): string {
  const all = [spec?.initContainers, spec?.containers, spec?.ephemeralContainers].flatMap((list) =>
    items(list).map(({ name }: Part) => name),
  );
  if (container !== "") {
    if (!all.includes(container)) throw badRequest(`container ${container} is not valid for pod ${metadata.name}`);
    return container;
  }
  const [only, ...others] = items(spec?.containers);
  if (only !== undefined && others.length === 0) return only.name as string;
  throw badRequest(`a container name must be specified for pod ${metadata.name}, choose one of: [${all.join(" ")}]`);
}

/** The parameters of `log`. */
export interface LogOptions {
  /** Empty if none is named. */
  readonly container: string;
  readonly follow: boolean;
  readonly previous: boolean;
  readonly timestamps: boolean;
  readonly insecureSkipTlsVerifyBackend: boolean;
  readonly sinceSeconds: bigint | undefined;
  /** RFC 3339 in UTC with whole seconds. */
  readonly sinceTime: string | undefined;
  readonly tailLines: bigint | undefined;
  readonly limitBytes: bigint | undefined;
  /** Undefined unless the gate PodLogsQuerySplitStreams is on. */
  readonly stream: string | undefined;
}

const logStreams: readonly string[] = ["All", "Stderr", "Stdout"];

/**
 * Reads the parameters of `log`, before the pod is read.
 *
 * @param gate `splitStreams` is PodLogsQuerySplitStreams
 * @throws ApiError 400 if a parameter cannot be parsed, 422 if one is invalid
 */
export function readLogOptions(
  query: URLSearchParams,
  name: string,
  { splitStreams }: { readonly splitStreams: boolean },
): LogOptions {
  const sinceTime = query.get("sinceTime");
  const options: LogOptions = {
    container: query.get("container") ?? "",
    follow: parseQueryBool(query.get("follow")) === true,
    previous: parseQueryBool(query.get("previous")) === true,
    timestamps: parseQueryBool(query.get("timestamps")) === true,
    insecureSkipTlsVerifyBackend: parseQueryBool(query.get("insecureSkipTLSVerifyBackend")) === true,
    tailLines: readInteger(query.get("tailLines")),
    limitBytes: readInteger(query.get("limitBytes")),
    sinceSeconds: readInteger(query.get("sinceSeconds")),
    sinceTime: sinceTime === null ? undefined : readTime(sinceTime),
    stream: splitStreams ? (query.get("stream") ?? "All") : undefined,
  };
  checkLogOptions(options, query, name);
  return options;
}

/** @throws ApiError 422 */
function checkLogOptions(options: LogOptions, query: URLSearchParams, name: string): void {
  const { tailLines, limitBytes, sinceSeconds, sinceTime, stream } = options;
  const errors = new FieldErrors();
  if (tailLines !== undefined && tailLines < 0n)
    errors.invalid("tailLines", tailLines, "must be greater than or equal to 0");
  if (limitBytes !== undefined && limitBytes < 1n) errors.invalid("limitBytes", limitBytes, "must be greater than 0");
  if (sinceSeconds !== undefined && sinceTime !== undefined) {
    errors.forbidden("[]", "at most one of `sinceTime` or `sinceSeconds` may be specified");
  } else if (sinceSeconds !== undefined && sinceSeconds < 1n)
    errors.invalid("sinceSeconds", sinceSeconds, "must be greater than 0");
  if (stream === undefined) {
    if (query.has("stream")) errors.forbidden("stream", "may not be specified");
  } else {
    if (!logStreams.includes(stream)) errors.notSupported("stream", plainText(stream), logStreams);
    if (stream !== "All" && tailLines !== undefined)
      errors.forbidden("[]", "`tailLines` and specific `stream` are mutually exclusive for now");
  }
  if (!errors.empty) throw invalid("", "PodLogOptions", name, errors.causes);
}

/** The parameters that the kubelet receives. */
export function logParameters(options: LogOptions): QueryParameters {
  const { sinceSeconds, sinceTime, tailLines, limitBytes, stream } = options;
  const flags = (["follow", "previous", "timestamps"] as const).filter((name) => options[name]);
  const values = { sinceSeconds, sinceTime, tailLines, limitBytes, stream };
  return [
    ...flags.map((name) => [name, "true"] as const),
    ...Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)] as const])),
  ];
}

function readInteger(text: string | null): bigint | undefined {
  if (text === null) return undefined;
  if (!/^[+-]?[0-9]{1,40}$/.test(text)) throw badRequest(`strconv.ParseInt: parsing ${quoteGo(text)}: invalid syntax`);
  const value = BigInt(text.replace("+", ""));
  if (BigInt.asIntN(64, value) !== value)
    throw badRequest(`strconv.ParseInt: parsing ${quoteGo(text)}: value out of range`);
  return value;
}

/** Go's zero time for an empty text. */
function readTime(text: string): string {
  const zero = "0001-01-01T00:00:00Z";
  try {
    return text === "" ? zero : (canonicalizeTime(text) ?? zero);
  } catch (error) {
    if (error instanceof TimeError) throw badRequest(error.message);
    throw error;
  }
}
