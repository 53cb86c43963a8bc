/** An event for tests. */
import type { AuditEvent } from "../contract.ts";

export const sampleAt = Date.UTC(2026, 0, 2, 3, 4, 5, 678);

export function sampleEvent(changes: Partial<AuditEvent> = {}): AuditEvent {
  return {
    level: "RequestResponse",
    auditId: "1",
    stage: "ResponseComplete",
    requestUri: "/x",
    verb: "get",
    user: { name: "ann", uid: "", groups: ["a", "b"], extra: new Map() },
    impersonatedUser: undefined,
    impersonationConstraint: "",
    sourceIps: ["10.0.0.1"],
    userAgent: "t",
    objectRef: undefined,
    responseStatus: { code: 200 },
    requestObject: undefined,
    responseObject: undefined,
    requestReceivedAt: sampleAt,
    stageAt: sampleAt + 1,
    annotations: new Map(),
    ...changes,
  };
}
