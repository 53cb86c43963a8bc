/**
 * Statuses of gRPC calls. Sources: gRPC, "Status codes and their use in gRPC", "gRPC over HTTP2" and
 * "HTTP to gRPC Status Code Mapping".
 */
import { constants, type IncomingHttpHeaders, type IncomingHttpStatusHeader } from "node:http2";

/** The names of the codes, in their order, as Go's package codes formats them. */
export const codeNames = [
  "OK",
  "Canceled",
  "Unknown",
  "InvalidArgument",
  "DeadlineExceeded",
  "NotFound",
  "AlreadyExists",
  "PermissionDenied",
  "ResourceExhausted",
  "FailedPrecondition",
  "Aborted",
  "OutOfRange",
  "Unimplemented",
  "Internal",
  "Unavailable",
  "DataLoss",
  "Unauthenticated",
] as const;

export type CodeName = (typeof codeNames)[number];

/** A call that did not end with OK. */
export class CallError extends Error {
  /** A name of {@link codeNames}; `Code(17)` for an unknown one. */
  readonly code: string;
  readonly details: string;
  /** Whether no member has received the call. */
  readonly isUnsent: boolean;

  constructor(code: CodeName | `Code(${string})`, details: string, { isUnsent = false } = {}) {
    super(`${code}: ${details}`);
    this.name = "CallError";
    this.code = code;
    this.details = details;
    this.isUnsent = isUnsent;
  }
}

type LastHeaders = IncomingHttpHeaders & IncomingHttpStatusHeader;

/** Whether the headers contain a status: that of gRPC, or that of a server or proxy without gRPC. */
export function hasStatus(headers: LastHeaders): boolean {
  return headers["grpc-status"] !== undefined || (headers[":status"] ?? 200) !== 200;
}

/**
 * Reads the status in the last headers of a response.
 * @returns undefined when it is OK
 */
export function errorIn(headers: LastHeaders): CallError | undefined {
  const status = headers["grpc-status"];
  if (status === "0") return undefined;
  if (status === undefined) return httpError(headers[":status"]);
  const code = codeNames[Number(status)] ?? (`Code(${status})` as const);
  return new CallError(code, decodeDetails(String(headers["grpc-message"] ?? "")));
}

/** The error of a stream that was closed without a status. @param rstCode as in RST_STREAM */
export function errorOfReset(rstCode: number | undefined): CallError {
  if (rstCode === constants.NGHTTP2_REFUSED_STREAM) return new CallError("Unavailable", "Stream refused by server");
  const code = codesOfResets.get(rstCode) ?? "Internal";
  return new CallError(code, `Received RST_STREAM with code ${rstCode} (Call ended without gRPC status)`);
}

const codesOfResets = new Map<number | undefined, CodeName>([
  [constants.NGHTTP2_CANCEL, "Canceled"],
  [constants.NGHTTP2_ENHANCE_YOUR_CALM, "ResourceExhausted"],
  [constants.NGHTTP2_INADEQUATE_SECURITY, "PermissionDenied"],
]);

const codesOfHttp = new Map<number | undefined, CodeName>([
  [400, "Internal"],
  [401, "Unauthenticated"],
  [403, "PermissionDenied"],
  [404, "Unimplemented"],
  [429, "Unavailable"],
  [502, "Unavailable"],
  [503, "Unavailable"],
  [504, "Unavailable"],
]);

function httpError(status: number | undefined): CallError {
  return new CallError(codesOfHttp.get(status) ?? "Unknown", `Received HTTP status code ${status}`);
}

/** Text is percent-encoded; a peer that does not encode it must not hide its message. */
function decodeDetails(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
