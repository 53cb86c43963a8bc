/**
 * Constructors of the expected errors. http/errors.ts converts them to `Status` objects.
 * Source: k8s.io/apimachinery@v0.36.0/pkg/api/errors/errors.go; Kubernetes API conventions, heading
 * "Response Status Kind".
 */
import { joinErrors, quoteGo } from "../lib/json/quote.ts";
import { formatGroupKind, formatGroupResource, type GroupResource } from "./object.ts";

/** One entry of `details.causes` of a Status. */
export interface StatusCause {
  reason?: string;
  message?: string;
  field?: string;
}

/** The `details` of a Status. */
interface StatusDetails {
  name?: string;
  group?: string;
  kind?: string;
  uid?: string;
  causes?: StatusCause[];
  retryAfterSeconds?: number;
}

/** A failure as the Status object on the wire describes it. */
export interface Status {
  code: number;
  reason?: string;
  message: string;
  /**
   * The message without quoted content of objects, for audit levels that exclude that content. They
   * exclude the details, too.
   */
  messageWithoutObjects?: string;
  details?: StatusDetails;
  /** A token with which the client can continue an expired chunked list. */
  continue?: string;
  /** The field `status`, if a webhook sets another text than `Failure`. */
  status?: string;
  /** The field `metadata`, if a webhook sets it. */
  metadata?: Readonly<Record<string, unknown>>;
}

/** An expected failure of a request. */
export class ApiError extends Error {
  readonly status: Status;
  constructor(status: Status) {
    super(status.message);
    this.name = "ApiError";
    this.status = status;
  }
}

function resourceDetails({ group, resource }: GroupResource, name: string): StatusDetails {
  return { ...(name !== "" && { name }), ...(group !== "" && { group }), kind: resource };
}

/** 400 */
export function badRequest(message: string): ApiError {
  return new ApiError({ code: 400, reason: "BadRequest", message });
}

/** 401 */
export function unauthorized(): ApiError {
  return new ApiError({ code: 401, reason: "Unauthorized", message: "Unauthorized" });
}

/**
 * 403
 *
 * @param resource with an empty name for requests without a resource
 * @param name empty if the request names no object
 * @param why the end of the message, such as `unable to create new content in namespace x because
 *   it is being terminated`
 */
export function forbidden(resource: GroupResource, name: string, why: string, causes?: StatusCause[]): ApiError {
  const which =
    resource.resource === ""
      ? ""
      : name === ""
        ? `${formatGroupResource(resource)} `
        : `${formatGroupResource(resource)} ${quoteGo(name)} `;
  const details = resource.resource === "" ? {} : resourceDetails(resource, name);
  return new ApiError({
    code: 403,
    reason: "Forbidden",
    message: `${which}is forbidden: ${why}`.replace(/^is /, ""),
    details: { ...details, ...(causes && { causes }) },
  });
}

/** 404 for an object. */
export function notFound(resource: GroupResource, name: string): ApiError {
  return new ApiError({
    code: 404,
    reason: "NotFound",
    message: `${formatGroupResource(resource)} ${quoteGo(name)} not found`,
    details: resourceDetails(resource, name),
  });
}

/** 404 for a resource or subresource that this server does not serve. */
export function resourceNotServed(details: StatusDetails = {}): ApiError {
  return new ApiError({
    code: 404,
    reason: "NotFound",
    message: "the server could not find the requested resource",
    details,
  });
}

/** 405 */
export function methodNotAllowed(
  message = "the server does not allow this method on the requested resource",
): ApiError {
  return new ApiError({ code: 405, reason: "MethodNotAllowed", message, details: {} });
}

/** 405 for an action that the resource does not support. */
export function methodNotSupported(resource: GroupResource, action: string): ApiError {
  return new ApiError({
    code: 405,
    reason: "MethodNotAllowed",
    message: `${action} is not supported on resources of kind ${quoteGo(formatGroupResource(resource))}`,
    details: { ...(resource.group !== "" && { group: resource.group }), kind: resource.resource },
  });
}

/** 406 with the media types that the server can produce. */
export function notAcceptable(accepted: readonly string[]): ApiError {
  return new ApiError({
    code: 406,
    reason: "NotAcceptable",
    message: `only the following media types are accepted: ${accepted.join(", ")}`,
  });
}

/** 409 for a create. */
export function alreadyExists(resource: GroupResource, name: string): ApiError {
  return new ApiError({
    code: 409,
    reason: "AlreadyExists",
    message: `${formatGroupResource(resource)} ${quoteGo(name)} already exists`,
    details: resourceDetails(resource, name),
  });
}

/** 409 for an update, such as {@link objectModified}. */
export function conflict(resource: GroupResource, name: string, why: string): ApiError {
  return new ApiError({
    code: 409,
    reason: "Conflict",
    message: `Operation cannot be fulfilled on ${formatGroupResource(resource)} ${quoteGo(name)}: ${why}`,
    details: resourceDetails(resource, name),
  });
}

/** The reason of a conflict of resourceVersions. */
export const objectModified =
  "the object has been modified; please apply your changes to the latest version and try again";

/** 410 */
export function expired(message: string): ApiError {
  return new ApiError({ code: 410, reason: "Expired", message });
}

/** 413 */
export function tooLarge(message: string): ApiError {
  return new ApiError({ code: 413, reason: "RequestEntityTooLarge", message: `Request entity too large: ${message}` });
}

/** 415 with the media types that the server can read. */
export function unsupportedMediaType(accepted: readonly string[]): ApiError {
  return new ApiError({
    code: 415,
    reason: "UnsupportedMediaType",
    message: `the body of the request was in an unknown format - accepted media types include: ${accepted.join(", ")}`,
  });
}

/**
 * 422 for an object that failed validation.
 *
 * @param causes at least one, in upstream's order; the message joins them
 */
export function invalid(group: string, kind: string, name: string, causes: readonly StatusCause[]): ApiError {
  const joined = joinErrors(causes.map((cause) => `${cause.field}: ${cause.message}`));
  return new ApiError({
    code: 422,
    reason: "Invalid",
    message: `${formatGroupKind(group, kind)} ${quoteGo(name)} is invalid: ${joined}`,
    details: {
      ...(name !== "" && { name }),
      ...(group !== "" && { group }),
      ...(kind !== "" && { kind }),
      causes: [...causes],
    },
  });
}

/** 422 with upstream's generic message by default. */
export function unprocessable(message = "the server rejected our request due to an error in our request"): ApiError {
  return new ApiError({ code: 422, reason: "Invalid", message, details: {} });
}

/** 409 after all attempts to generate a unique name failed. */
export function generatedNameTaken(resource: GroupResource, name: string): ApiError {
  const text = "already exists, the server was not able to generate a unique name for the object";
  return new ApiError({
    code: 409,
    reason: "AlreadyExists",
    message: `${formatGroupResource(resource)} ${quoteGo(name)} ${text}`,
    details: { ...resourceDetails(resource, name), retryAfterSeconds: 1 },
  });
}

/** 429 */
export function tooManyRequests(message: string, retryAfterSeconds: number): ApiError {
  return new ApiError({ code: 429, reason: "TooManyRequests", message, details: { retryAfterSeconds } });
}

/** 500 */
export function internalError(message: string): ApiError {
  return new ApiError({
    code: 500,
    reason: "InternalError",
    message: `Internal error occurred: ${message}`,
    details: { causes: [message === "" ? {} : { message }] },
  });
}

/** 500 without a reason, as upstream answers for errors that are not a Status. */
export function plainError(message: string): ApiError {
  return new ApiError({ code: 500, message });
}

/** 503 */
export function serviceUnavailable(message: string): ApiError {
  return new ApiError({ code: 503, reason: "ServiceUnavailable", message });
}

/**
 * 504: the request exceeds its own time limit or that of the server. Its answer is not of the kind Status: see `sendError`.
 * Source: WithTimeoutForNonLongRunningRequests in k8s.io/apiserver@v0.36.0/pkg/server/filters/timeout.go
 */
export class RequestTimeout extends ApiError {
  constructor() {
    super(timeout("request did not complete within the allotted timeout").status);
  }
}

/** 504 */
export function timeout(message: string, retryAfterSeconds = 0, causes?: StatusCause[]): ApiError {
  return new ApiError({
    code: 504,
    reason: "Timeout",
    message: `Timeout: ${message}`,
    details: { ...(causes && { causes }), ...(retryAfterSeconds > 0 && { retryAfterSeconds }) },
  });
}

/**
 * 504 for a resourceVersion that this server has not reached.
 *
 * @param requested the resourceVersion as the client sent it
 */
export function resourceVersionTooLarge(
  requested: string | number,
  current: number,
  { retryAfterSeconds = 1 } = {},
): ApiError {
  const causes = [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }];
  return timeout(`Too large resource version: ${requested}, current: ${current}`, retryAfterSeconds, causes);
}
