/** Records writes that this server's own controllers make, which upstream's send as requests. */
import { internalError } from "../apimachinery/errors.ts";
import type { RecordOwnWrite } from "../request/audit.ts";
import type { AuditAttributes, RequestAuditConfig } from "./policy.ts";
import { type Recording, RequestRecord } from "./request-record.ts";

/**
 * Returns what begins the record of a write.
 *
 * @throws ApiError from the result: InternalError when the sink lost an event in the mode
 *   blocking-strict
 */
export function ownWriteRecorder(
  evaluate: (attributes: AuditAttributes) => RequestAuditConfig,
  recording: Recording,
): RecordOwnWrite {
  return async ({ auditId, requestUri, userAgent, ...write }) => {
    const [path = ""] = requestUri.split("?", 1);
    const config = evaluate({ ...write, path, isResourceRequest: true, fieldSelector: "", labelSelector: "" });
    if (config.level === "None") return undefined;
    const { user, verb, group: apiGroup, version: apiVersion, resource, subresource, namespace, name } = write;
    const objectRef = { resource, namespace, name, uid: "", apiGroup, apiVersion, resourceVersion: "", subresource };
    const requestReceivedAt = recording.clock.now();
    const facts = { auditId, requestUri, verb, user, sourceIps: [], userAgent, objectRef, requestReceivedAt };
    const record = new RequestRecord(facts, config, recording);
    if (!(await record.received())) {
      recording.counts.rejected++;
      throw internalError("failed to store audit event");
    }
    record.annotate("authorization.k8s.io/decision", "allow"); // As for the loopback user, without a reason.
    record.annotate("authorization.k8s.io/reason", "");
    return record;
  };
}
