/**
 * The audit filter of the request path.
 * Source: k8s.io/apiserver@v0.36.0/pkg/endpoints/filters/audit.go.
 */
import { ApiError, internalError } from "../apimachinery/errors.ts";
import { attributesOf } from "../authorization/attributes-of.ts";
import type { Filter, RequestState } from "../request/context.ts";
import { isLongRunning } from "../request/request-info.ts";
import { sourceIps } from "../request/source-ips.ts";
import { AuditedExchange } from "./audited-exchange.ts";
import type { AuditEvent, ObjectReference } from "./contract.ts";
import type { AuditAttributes, RequestAuditConfig } from "./policy.ts";
import { type Recording, RequestRecord } from "./request-record.ts";

/** The two filters that record requests. */
export interface AuditFilters {
  /** Records requests. Must run after authentication and before impersonation. */
  readonly filter: Filter;
  /** Wraps the authentication filter, to record requests that it rejects. */
  authentication(authenticate: Filter): Filter;
}

/**
 * Creates the filters.
 *
 * @throws ApiError from the filter: InternalError when the sink lost an event in the mode
 *   blocking-strict
 */
export function auditFilters(
  evaluate: (attributes: AuditAttributes) => RequestAuditConfig,
  recording: Recording,
): AuditFilters {
  const { counts } = recording;
  const recordOf = (context: RequestState, user: AuditEvent["user"]): RequestRecord | undefined => {
    const config = evaluate({ ...attributesOf(context), user });
    if (config.level === "None") return undefined;
    const record = new RequestRecord(factsOf(context, user), config, recording);
    record.spent("authentication", recording.clock.now() - context.receivedAt); // Authentication is the first filter.
    if (context.annotations !== undefined)
      for (const [key, value] of Object.entries(context.annotations)) record.annotate(key, value);
    return record;
  };
  const recordFailedAuthentication = (context: RequestState): void => {
    const record = recordOf(context, undefined);
    if (record === undefined) return;
    record.responseStatus({ message: triedMethods(context) });
    context.audit = record;
    context.exchange = new AuditedExchange(context.exchange, {
      started: (code) => record.started(code),
      completed: () => undefined,
    });
  };
  const proceed = (context: RequestState, record: RequestRecord, isStored: boolean): void => {
    if (!isStored) {
      counts.rejected++;
      throw internalError("failed to store audit event");
    }
    context.audit = record;
    context.exchange = new AuditedExchange(context.exchange, listenerOf(context, record));
  };
  return {
    filter(context) {
      const record = recordOf(context, context.user);
      if (record === undefined) return;
      const stored = record.received();
      if (typeof stored === "boolean") return proceed(context, record, stored);
      return stored.then((isStored) => proceed(context, record, isStored));
    },
    authentication: (authenticate) => (context) => {
      const failed = (error: unknown): never => {
        if (error instanceof ApiError) recordFailedAuthentication(context);
        throw error;
      };
      try {
        return authenticate(context)?.catch(failed);
      } catch (error) {
        return failed(error);
      }
    },
  };
}

/** Long-running requests also have an event when their response starts. */
function listenerOf({ info }: RequestState, record: RequestRecord): ConstructorParameters<typeof AuditedExchange>[1] {
  let hasStarted = !isLongRunning(info);
  const start = (code: number): Promise<unknown> | undefined => {
    if (hasStarted) return undefined;
    hasStarted = true;
    return record.started(code);
  };
  return {
    started: start,
    completed(code) {
      start(code === 0 ? 200 : code);
      return record.completed(code);
    },
  };
}

const userAgentMax = 1024;

function factsOf(
  { exchange, info, auditId, receivedAt }: RequestState,
  user: AuditEvent["user"],
): ConstructorParameters<typeof RequestRecord>[0] {
  const userAgent = exchange.header("user-agent") ?? "";
  return {
    auditId,
    requestUri: exchange.target,
    verb: info.verb,
    user,
    sourceIps: sourceIps(exchange),
    userAgent: userAgent.length > userAgentMax ? `${userAgent.slice(0, userAgentMax)}...TRUNCATED` : userAgent,
    objectRef: info.isResourceRequest ? referenceOf(info) : undefined,
    requestReceivedAt: receivedAt,
  };
}

function referenceOf({
  resource,
  namespace,
  name,
  group,
  version,
  subresource,
}: RequestState["info"]): ObjectReference {
  return { resource, namespace, name, uid: "", apiGroup: group, apiVersion: version, resourceVersion: "", subresource };
}

/** The status message of a failed authentication: the credentials that the request contains. */
function triedMethods({ exchange, info }: RequestState): string {
  const [scheme = "", ...rest] = (exchange.header("authorization") ?? "").trim().split(" ");
  const tried = [
    ...(scheme.toLowerCase() === "basic" && rest.length > 0 ? ["basic"] : []),
    ...(scheme.toLowerCase() === "bearer" && rest.length > 0 ? ["bearer"] : []),
    ...((info.query.get("access_token") ?? "").trim() === "" ? [] : ["access_token"]),
    ...(exchange.peerCertificate === undefined ? [] : ["x509"]),
  ];
  return tried.length === 0
    ? "Authentication failed, no credentials provided"
    : `Authentication failed, attempted: ${tried.join(", ")}`;
}
