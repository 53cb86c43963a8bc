/**
 * The audit annotations of one policy. Source: `auditAnnotationCollector` in
 * k8s.io/apiserver@v0.36.0/pkg/admission/plugin/policy/validating/dispatcher.go.
 */

import type { AdmissionAttributes } from "../../registry/admission-attributes.ts";
import { annotateAudit } from "../annotate.ts";

const valueBytesMax = 10 * 1024;

/** Collects the values of all bindings and parameters. */
export class AuditAnnotations {
  #values: Map<string, Set<string>> | undefined;

  /** Adds a value, which is cut at 10 KiB. Repeated values are published once. */
  add(key: string, value: string): void {
    this.#values ??= new Map();
    const values = this.#values.get(key) ?? new Set();
    this.#values.set(key, values.add(cut(value)));
  }

  /** Adds the annotations to the audit record. */
  publish(policy: string, attributes: AdmissionAttributes): void {
    for (const [key, values] of this.#values ?? [])
      annotateAudit(attributes, `${policy}/${key}`, [...values].join(", "));
  }
}

/** Cuts at a byte, as upstream; JSON then replaces the rest of a character. */
function cut(value: string): string {
  const bytes = Buffer.from(value);
  return bytes.length <= valueBytesMax ? value : bytes.subarray(0, valueBytesMax).toString();
}
