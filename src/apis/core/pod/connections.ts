/**
 * Checks of requests to a pod's containers (`log`, `exec`, `attach`) that need no kubelet.
 * Sources:
 * `k8s.io/kubernetes@v1.36.0/pkg/registry/core/pod/strategy.go`,
 * `k8s.io/kubernetes@v1.36.0/pkg/apis/core/validation/validation.go`.
 */
import { badRequest, invalid } from "../../../apimachinery/errors.ts";
import { FieldErrors } from "../../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../../apimachinery/object.ts";
import { quoteGo } from "../../../lib/json/quote.ts";
import { canonicalizeTime, TimeError } from "../../../lib/schema/time.ts";
import { items, type Part } from "../../fields.ts";

/**
 * @param container empty if the request names none
 * @throws ApiError 400 if the container does not exist, or is not named and the pod has several
 */
export function checkContainer({ metadata, spec }: KubeObject, container: string): void {
  const all = [spec?.initContainers, spec?.containers, spec?.ephemeralContainers].flatMap((list) =>
    items(list).map(({ name }: Part) => name),
  );
  if (container !== "") {
    if (!all.includes(container)) throw badRequest(`container ${container} is not valid for pod ${metadata.name}`);
  } else if (items(spec?.containers).length !== 1) {
    throw badRequest(`a container name must be specified for pod ${metadata.name}, choose one of: [${all.join(" ")}]`);
  }
}

/**
 * Checks the parameters of `log`, before the pod is read.
 *
 * @throws ApiError 400 if a parameter cannot be parsed, 422 if one is invalid
 */
export function checkLogOptions(query: URLSearchParams, name: string): void {
  const [tailLines, limitBytes, sinceSeconds] = ["tailLines", "limitBytes", "sinceSeconds"].map((parameter) =>
    readInteger(query.get(parameter)),
  );
  const sinceTime = query.get("sinceTime") ?? "";
  if (sinceTime !== "") checkTime(sinceTime);
  const errors = new FieldErrors();
  if (tailLines !== undefined && tailLines < 0n)
    errors.invalid("tailLines", tailLines, "must be greater than or equal to 0");
  if (limitBytes !== undefined && limitBytes < 1n) errors.invalid("limitBytes", limitBytes, "must be greater than 0");
  if (sinceSeconds !== undefined && query.has("sinceTime")) {
    errors.forbidden("[]", "at most one of `sinceTime` or `sinceSeconds` may be specified");
  } else if (sinceSeconds !== undefined && sinceSeconds < 1n)
    errors.invalid("sinceSeconds", sinceSeconds, "must be greater than 0");
  if (query.has("stream")) errors.forbidden("stream", "may not be specified");
  if (!errors.empty) throw invalid("", "PodLogOptions", name, errors.causes);
}

function readInteger(text: string | null): bigint | undefined {
  if (text === null) return undefined;
  if (!/^[+-]?[0-9]{1,40}$/.test(text)) throw badRequest(`strconv.ParseInt: parsing ${quoteGo(text)}: invalid syntax`);
  const value = BigInt(text.replace("+", ""));
  if (BigInt.asIntN(64, value) !== value)
    throw badRequest(`strconv.ParseInt: parsing ${quoteGo(text)}: value out of range`);
  return value;
}

function checkTime(text: string): void {
  try {
    canonicalizeTime(text);
  } catch (error) {
    if (error instanceof TimeError) throw badRequest(error.message);
    throw error;
  }
}
