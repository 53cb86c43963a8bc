/** Expected refusals. Each becomes a `Status` object in respond.ts alone. Source: apimachinery's api/errors, resource-api §7. */
import { joinErrors } from "../lib/json/quote.ts";
import { formatGroupKind, formatGroupResource, type GroupResource } from "./object.ts";

export interface StatusCause {
  reason?: string;
  message?: string;
  field?: string;
}

export interface StatusDetails {
  name?: string;
  group?: string;
  kind?: string;
  uid?: string;
  causes?: StatusCause[];
  retryAfterSeconds?: number;
}

export interface Status {
  code: number;
  reason?: string;
  message: string;
  /** The message without what it quotes of objects, for who may not see those. The details are not for him either. */
  messageWithoutObjects?: string;
  details?: StatusDetails;
  /** A token with which a chunked list can go on all the same. */
  continue?: string;
}

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

const quote = (text: string): string => JSON.stringify(text);

export function badRequest(message: string): ApiError {
  return new ApiError({ code: 400, reason: "BadRequest", message });
}

export function unauthorized(): ApiError {
  return new ApiError({ code: 401, reason: "Unauthorized", message: "Unauthorized" });
}

/** @param why the end of the sentence, such as `unable to create new content in namespace x because it is being terminated` */
export function forbidden(resource: GroupResource, name: string, why: string, causes?: StatusCause[]): ApiError {
  const which =
    resource.resource === ""
      ? ""
      : name === ""
        ? `${formatGroupResource(resource)} `
        : `${formatGroupResource(resource)} ${quote(name)} `;
  const details = resource.resource === "" ? {} : resourceDetails(resource, name);
  return new ApiError({
    code: 403,
    reason: "Forbidden",
    message: `${which}is forbidden: ${why}`.replace(/^is /, ""),
    details: { ...details, ...(causes && { causes }) },
  });
}

export function notFound(resource: GroupResource, name: string): ApiError {
  return new ApiError({
    code: 404,
    reason: "NotFound",
    message: `${formatGroupResource(resource)} ${quote(name)} not found`,
    details: resourceDetails(resource, name),
  });
}

/** The path names a resource or a subresource that this server does not have. */
export function resourceNotServed(details: StatusDetails = {}): ApiError {
  return new ApiError({
    code: 404,
    reason: "NotFound",
    message: "the server could not find the requested resource",
    details,
  });
}

export function methodNotAllowed(
  message = "the server does not allow this method on the requested resource",
): ApiError {
  return new ApiError({ code: 405, reason: "MethodNotAllowed", message, details: {} });
}

export function methodNotSupported(resource: GroupResource, action: string): ApiError {
  return new ApiError({
    code: 405,
    reason: "MethodNotAllowed",
    message: `${action} is not supported on resources of kind ${quote(formatGroupResource(resource))}`,
    details: { ...(resource.group !== "" && { group: resource.group }), kind: resource.resource },
  });
}

export function notAcceptable(accepted: readonly string[]): ApiError {
  return new ApiError({
    code: 406,
    reason: "NotAcceptable",
    message: `only the following media types are accepted: ${accepted.join(", ")}`,
  });
}

export function alreadyExists(resource: GroupResource, name: string): ApiError {
  return new ApiError({
    code: 409,
    reason: "AlreadyExists",
    message: `${formatGroupResource(resource)} ${quote(name)} already exists`,
    details: resourceDetails(resource, name),
  });
}

export function conflict(resource: GroupResource, name: string, why: string): ApiError {
  return new ApiError({
    code: 409,
    reason: "Conflict",
    message: `Operation cannot be fulfilled on ${formatGroupResource(resource)} ${quote(name)}: ${why}`,
    details: resourceDetails(resource, name),
  });
}

/** The text of a failed optimistic lock. */
export const objectModified =
  "the object has been modified; please apply your changes to the latest version and try again";

export function expired(message: string): ApiError {
  return new ApiError({ code: 410, reason: "Expired", message });
}

export function tooLarge(message: string): ApiError {
  return new ApiError({ code: 413, reason: "RequestEntityTooLarge", message: `Request entity too large: ${message}` });
}

export function unsupportedMediaType(accepted: readonly string[]): ApiError {
  return new ApiError({
    code: 415,
    reason: "UnsupportedMediaType",
    message: `the body of the request was in an unknown format - accepted media types include: ${accepted.join(", ")}`,
  });
}

/** Validation failed. @param causes at least one, in upstream's order; the message joins them */
export function invalid(group: string, kind: string, name: string, causes: readonly StatusCause[]): ApiError {
  const joined = joinErrors(causes.map((cause) => `${cause.field}: ${cause.message}`));
  return new ApiError({
    code: 422,
    reason: "Invalid",
    message: `${formatGroupKind(group, kind)} ${quote(name)} is invalid: ${joined}`,
    details: {
      ...(name !== "" && { name }),
      ...(group !== "" && { group }),
      ...(kind !== "" && { kind }),
      causes: [...causes],
    },
  });
}

/** 422 with upstream's generic text. */
export function unprocessable(message = "the server rejected our request due to an error in our request"): ApiError {
  return new ApiError({ code: 422, reason: "Invalid", message, details: {} });
}

/** A generated name was taken, again and again. */
export function generatedNameTaken(resource: GroupResource, name: string): ApiError {
  const text = "already exists, the server was not able to generate a unique name for the object";
  return new ApiError({
    code: 409,
    reason: "AlreadyExists",
    message: `${formatGroupResource(resource)} ${quote(name)} ${text}`,
    details: { ...resourceDetails(resource, name), retryAfterSeconds: 1 },
  });
}

export function tooManyRequests(message: string, retryAfterSeconds: number): ApiError {
  return new ApiError({ code: 429, reason: "TooManyRequests", message, details: { retryAfterSeconds } });
}

export function internalError(message: string): ApiError {
  return new ApiError({
    code: 500,
    reason: "InternalError",
    message: `Internal error occurred: ${message}`,
    details: { causes: [{ message }] },
  });
}

/** A 500 whose text is the error itself, as upstream sends for errors it did not foresee. */
export function plainError(message: string): ApiError {
  return new ApiError({ code: 500, message });
}

export function serviceUnavailable(message: string): ApiError {
  return new ApiError({ code: 503, reason: "ServiceUnavailable", message });
}

export function timeout(message: string, retryAfterSeconds = 0, causes?: StatusCause[]): ApiError {
  return new ApiError({
    code: 504,
    reason: "Timeout",
    message: `Timeout: ${message}`,
    details: { ...(causes && { causes }), ...(retryAfterSeconds > 0 && { retryAfterSeconds }) },
  });
}

/** The client knows a version that this server has not reached. @param wanted as the client sent it */
export function resourceVersionTooLarge(
  wanted: string | number,
  current: number,
  { retryAfterSeconds = 1 } = {},
): ApiError {
  const causes = [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }];
  return timeout(`Too large resource version: ${wanted}, current: ${current}`, retryAfterSeconds, causes);
}
