/** Records writes that this server's own controllers make, which upstream's send as requests. */
import type { RecordOwnWrite } from "../request/audit.ts";
import type { AuditAttributes, RequestAuditConfig } from "./policy.ts";
import { type Recording, RequestRecord } from "./request-record.ts";

/** Events of own writes that a backend can have without delaying the next one. */
const waitingMax = 256;

/**
 * Returns what begins the record of a write. A server must start, and go on, when a backend does not answer: a write
 * does not wait for its events, and is made also when they are lost.
 */
export function ownWriteRecorder(
  evaluate: (attributes: AuditAttributes) => RequestAuditConfig,
  recording: Recording,
): RecordOwnWrite {
  const handOver = limitedWaiting();
  return async ({ auditId, requestUri, userAgent, ...write }) => {
    const [path = ""] = requestUri.split("?", 1);
    const config = evaluate({ ...write, path, isResourceRequest: true, fieldSelector: "", labelSelector: "" });
    if (config.level === "None") return undefined;
    const { user, verb, group: apiGroup, version: apiVersion, resource, subresource, namespace, name } = write;
    const objectRef = { resource, namespace, name, uid: "", apiGroup, apiVersion, resourceVersion: "", subresource };
    const requestReceivedAt = recording.clock.now();
    const facts = { auditId, requestUri, verb, user, sourceIps: [], userAgent, objectRef, requestReceivedAt };
    const record = new RequestRecord(facts, config, recording);
    await handOver(record.received());
    record.annotate("authorization.k8s.io/decision", "allow"); // As for the loopback user, without a reason.
    record.annotate("authorization.k8s.io/reason", "");
    return { record, completed: (code) => handOver(record.completed(code)) };
  };
}

type HandOver = (stored: ReturnType<RequestRecord["received" | "completed"]>) => Promise<void>;

/** @returns a function that waits only while too many others are not stored */
function limitedWaiting(): HandOver {
  let waiting = 0;
  return async (stored) => {
    waiting += 1;
    const ended = Promise.resolve(stored).finally(() => {
      waiting -= 1;
    });
    if (waiting > waitingMax) await ended;
  };
}
