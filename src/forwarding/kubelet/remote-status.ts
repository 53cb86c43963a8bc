/**
 * The outcome of a command, as the kubelet reports it on the error stream. Source: the decoders of errors in
 * k8s.io/client-go@v0.36.0/tools/remotecommand, and `codeExitToStatusError` in
 * k8s.io/apiserver@v0.36.0/pkg/util/proxy/streamtranslator.go.
 */
import { type ApiError, internalError } from "../../apimachinery/errors.ts";
import { type StatusBody, statusBody } from "../../apimachinery/status-body.ts";
import { JsonSyntaxError, parseJson } from "../../lib/json/parse.ts";
import { quoteGo } from "../../lib/json/quote.ts";
import { isObject } from "../../lib/json/values.ts";

/** A Status for the client, and the code that metrics count. */
export interface RemoteOutcome {
  readonly status: object;
  readonly code: number;
}

/** The outcome of a command that ended without an error. */
const succeeded: RemoteOutcome = { status: { metadata: {}, status: "Success" }, code: 200 };

/** @param text of the error stream; empty without an error, and when the kubelet broke off, like upstream */
export function outcomeOf(text: Buffer, version: number): RemoteOutcome {
  if (text.length === 0) return succeeded;
  if (version < 4) return failed(`error executing remote command: ${text}`);
  let status: RemoteStatus;
  try {
    status = remoteStatus(parseJson(text).value);
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    return failed(`error stream protocol error: ${error.message} in ${quoteGo(text.toString())}`);
  }
  if (status.status === "Success") return succeeded;
  if (status.status !== "Failure") return failed("error stream protocol error: unknown error");
  return status.reason === "NonZeroExitCode" ? exited(status) : failed(status.message ?? "");
}

function failed(message: string): RemoteOutcome {
  return failedWith(internalError(message));
}

/** The Status for an error of this server. */
export function failedWith(error: ApiError): RemoteOutcome {
  const { kind: _kind, apiVersion: _apiVersion, ...status }: StatusBody = statusBody(error.status);
  return { status, code: error.status.code };
}

interface RemoteStatus {
  readonly status?: string;
  readonly message?: string;
  readonly reason?: string;
  readonly details?: { readonly causes?: readonly { readonly reason?: string; readonly message?: string }[] } | null;
}

/** The members that have the type of a Status; others are ignored. */
function remoteStatus(value: unknown): RemoteStatus {
  if (!isObject(value)) return {};
  const { status, message, reason, details } = value;
  const causes = isObject(details) && Array.isArray(details.causes) ? details.causes.filter(isObject) : [];
  return {
    ...texts({ status, message, reason }),
    details: isObject(details) ? { causes: causes.map((cause) => texts(cause)) } : null,
  };
}

function texts(members: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => typeof value === "string")) as Record<
    string,
    string
  >;
}

function exited({ details }: RemoteStatus): RemoteOutcome {
  if (details === undefined || details === null) return failed("error stream protocol error: details must be set");
  const cause = details.causes?.find(({ reason }) => reason === "ExitCode");
  if (cause === undefined) return failed("error stream protocol error: no ExitCode cause given");
  const { message = "" } = cause;
  if (!/^\d{1,20}$/.test(message) || Number(message) > 255)
    return failed(`error stream protocol error: invalid exit code value ${quoteGo(message)}`);
  const code = Number(message);
  const status = {
    metadata: {},
    status: "Failure",
    message: `command terminated with non-zero exit code: command terminated with exit code ${code}`,
    reason: "NonZeroExitCode",
    details: { causes: [{ reason: "ExitCode", message: String(code) }] },
  };
  return { status, code: 200 };
}
