/**
 * Errors of etcd's API as those of the storage contract.
 * Source: `go.etcd.io/etcd/api/v3@v3.6.8/v3rpc/rpctypes/error.go`.
 */
import { type ServiceError, status } from "@grpc/grpc-js";
import { ProtobufError } from "../../../lib/protobuf/reader.ts";
import { RevisionCompacted, RevisionInFuture, SharedStoreError, ValueTooLarge } from "../../contract.ts";

/** Whether another member may answer the call. */
export function isFailedMember(error: unknown): boolean {
  return isServiceError(error) && (error.code === status.UNAVAILABLE || error.code === status.DEADLINE_EXCEEDED);
}

/** Whether the member did not answer in time. */
export function isTimeout(error: unknown): boolean {
  return isServiceError(error) && error.code === status.DEADLINE_EXCEEDED;
}

/** Whether the call did not reach a member. */
export function isUnsent(error: unknown): boolean {
  return (
    isServiceError(error) &&
    error.code === status.UNAVAILABLE &&
    detailsOf(error).startsWith("No connection established")
  );
}

/**
 * Converts an error of a call. The revisions of RevisionCompacted and RevisionInFuture, and the
 * sizes of ValueTooLarge, are not in etcd's answers; the caller sets them.
 */
export function answerOf(error: unknown): Error {
  if (error instanceof ProtobufError)
    return new SharedStoreError(`etcd answered no message: ${error.message}`, { isTimeout: false, cause: error });
  if (!isServiceError(error)) return error as Error;
  const { code } = error;
  const details = detailsOf(error);
  if (code === status.OUT_OF_RANGE && details.includes("required revision has been compacted"))
    return new RevisionCompacted(0);
  if (code === status.OUT_OF_RANGE && details.includes("required revision is a future revision"))
    return new RevisionInFuture(0);
  if (code === status.INVALID_ARGUMENT && details.includes("request is too large")) return new ValueTooLarge(0, 0);
  return new SharedStoreError(messageOf(error), { isTimeout: code === status.DEADLINE_EXCEEDED, cause: error });
}

/** The text that etcd's own client has for the error. */
function messageOf(error: ServiceError): string {
  const { code } = error;
  const details = detailsOf(error);
  if (details.startsWith("etcdserver:")) return details;
  if (code === status.DEADLINE_EXCEEDED) return "context deadline exceeded";
  const [, reason = "", address] = /connect (ECONN[A-Z]+) (\S*\d)/.exec(details) ?? [];
  const desc =
    address === undefined
      ? details.replace(/\. Resolution note: $/, "")
      : `connection error: desc = "transport: Error while dialing: dial tcp ${address}: connect: ${goErrors[reason]}"`;
  return `rpc error: code = ${goName(code)} desc = ${desc}`;
}

/** As Go's package syscall names them. */
const goErrors: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ECONNRESET: "connection reset by peer",
  ECONNABORTED: "software caused connection abort",
};

/** UNAVAILABLE is `Unavailable`, DEADLINE_EXCEEDED `DeadlineExceeded`. */
function goName(code: number): string {
  const name = Object.entries(status).find(([, number]) => number === code)?.[0] ?? String(code);
  return name
    .split("_")
    .map((word) => word.charAt(0) + word.slice(1).toLowerCase())
    .join("");
}

/** The details of a stream that was reset can be undefined. */
function detailsOf({ details = "" }: { readonly details?: string }): string {
  return details;
}

function isServiceError(error: unknown): error is ServiceError {
  return error instanceof Error && "code" in error && "details" in error;
}
