import { encodeAny } from "../json/encode-any.ts";
import type { ViolatingField } from "./contract.ts";
import { fieldIn, type PodTemplateKind } from "./pod-templates.ts";

/**
 * Describes a violating field of an object, such as `spec.hostPID is true, allowed: false, or
 * unset`.
 * Source: k8s.io/pod-security-admission@v0.36.0/policy.
 *
 * @param kind of the object that contains the pod
 */
export function formatField(kind: PodTemplateKind, { path, value, allowed }: ViolatingField): string {
  return `${fieldIn(kind, path)} is ${value === undefined ? "not set" : encodeAny(value)}, allowed: ${allowed}`;
}
