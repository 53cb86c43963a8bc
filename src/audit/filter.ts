/** Has requests recorded as the policy says. Source: upstream's endpoints/filters/audit.go. */
import { ApiError, internalError } from "../apimachinery/errors.ts";
import type { Filter, RequestContext } from "../http/contract.ts";
import { attributesOf } from "../http/filters/authorization.ts";
import { isLongRunning } from "../http/request-info.ts";
import { AuditedExchange } from "./audited-exchange.ts";
import type { AuditEvent, ObjectReference } from "./contract.ts";
import type { AuditAttributes, RequestAuditConfig } from "./policy.ts";
import { type Recording, RequestRecord } from "./request-record.ts";
import { sourceIps } from "./source-ips.ts";

export interface AuditFilters {
  /** Stands between authentication and impersonation. */
  readonly filter: Filter;
  /** Around the filter for authentication: requests it refuses are recorded too. */
  authentication(authenticate: Filter): Filter;
}

/** @throws ApiError 500 when the sink insists on an event and has lost it */
export function auditFilters(
  evaluate: (attributes: AuditAttributes) => RequestAuditConfig,
  recording: Recording,
): AuditFilters {
  const { counts } = recording;
  const recordOf = (context: RequestContext, user: AuditEvent["user"]): RequestRecord | undefined => {
    const config = evaluate({ ...attributesOf(context), user });
    counts.levels.set(config.level, (counts.levels.get(config.level) ?? 0) + 1);
    if (config.level === "None") return undefined;
    const record = new RequestRecord(factsOf(context, user), config, recording);
    record.spent("authentication", recording.clock.now() - context.receivedAt); // Nothing else was done before.
    if (context.annotations !== undefined)
      for (const [key, value] of Object.entries(context.annotations)) record.annotate(key, value);
    return record;
  };
  const refused = (context: RequestContext): void => {
    const record = recordOf(context, undefined);
    if (record === undefined) return;
    record.responseStatus({ message: triedMethods(context) });
    context.audit = record;
    context.exchange = new AuditedExchange(context.exchange, {
      started: (code) => record.started(code),
      completed: () => undefined,
    });
  };
  const goOn = (context: RequestContext, record: RequestRecord, stored: boolean): void => {
    if (!stored) {
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
      if (typeof stored === "boolean") return goOn(context, record, stored);
      return stored.then((is) => goOn(context, record, is));
    },
    authentication: (authenticate) => (context) => {
      const failed = (error: unknown): never => {
        if (error instanceof ApiError) refused(context);
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

/** Requests that may take as long as they like are told of when their answer begins, too. */
function listenerOf({ info }: RequestContext, record: RequestRecord): ConstructorParameters<typeof AuditedExchange>[1] {
  let begun = !isLongRunning(info);
  const begin = (code: number): Promise<unknown> | undefined => {
    if (begun) return undefined;
    begun = true;
    return record.started(code);
  };
  return {
    started: begin,
    completed(code) {
      begin(code === 0 ? 200 : code);
      return record.completed(code);
    },
  };
}

const userAgentMax = 1024;

function factsOf(
  { exchange, info, auditId, receivedAt }: RequestContext,
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
}: RequestContext["info"]): ObjectReference {
  return { resource, namespace, name, uid: "", apiGroup: group, apiVersion: version, resourceVersion: "", subresource };
}

/** What stays of an answer that has no Status. */
function triedMethods({ exchange, info }: RequestContext): string {
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
