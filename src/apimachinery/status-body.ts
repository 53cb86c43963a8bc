/** The wire form of a Status. Source: k8s.io/apimachinery@v0.36.0/pkg/apis/meta/v1/types.go. */
import type { Status } from "./errors.ts";

/** A Status in its wire form. */
export interface StatusBody {
  readonly kind: "Status";
  readonly [field: string]: unknown;
}

/** Converts a Status to its wire form. */
export function statusBody(status: Status): StatusBody {
  return {
    kind: "Status",
    apiVersion: "v1",
    metadata: status.continue === undefined ? (status.metadata ?? {}) : { continue: status.continue },
    status: status.status ?? "Failure",
    message: status.message,
    ...(status.reason !== undefined && { reason: status.reason }),
    ...(status.details !== undefined && { details: status.details }),
    code: status.code,
  };
}
