/**
 * Requires an approval annotation of definitions in the protected groups of the Kubernetes
 * community.
 *
 * Source: k8s.io/apiextensions-apiserver@v0.36.0/pkg/apihelpers/helpers.go
 */
import type { FieldErrors } from "../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { findRequestUri } from "../../lib/go-net/go-url.ts";
import { quoteGo } from "../../lib/json/quote.ts";

const approvalAnnotation = "api-approved.kubernetes.io";

interface ApiApproval {
  readonly state: "approved" | "bypassed" | "missing" | "invalid";
  readonly reason: string;
}

/** Whether the group is in `k8s.io` or `kubernetes.io`. */
export function isProtectedGroup(group: string): boolean {
  return /(?:^|\.)(?:k8s|kubernetes)\.io$/.test(group);
}

const enhancement = "see https://github.com/kubernetes/enhancements/pull/1111";

/** Reads the approval annotation. The reason is the message of the condition and of the error. */
export function apiApproval({ metadata }: KubeObject): ApiApproval {
  const annotations = metadata.annotations ?? {};
  const text = Object.hasOwn(annotations, approvalAnnotation) ? (annotations[approvalAnnotation] as string) : "";
  const required = `protected groups must have approval annotation ${quoteGo(approvalAnnotation)}`;
  if (text === "") return { state: "missing", reason: `${required}, ${enhancement}` };
  if (text.startsWith("unapproved")) return { state: "bypassed", reason: `not approved: ${quoteGo(text)}` };
  const url = findRequestUri(text);
  if (url !== undefined && url.host !== "" && url.scheme !== "")
    return { state: "approved", reason: `approved in ${text}` };
  return {
    state: "invalid",
    reason: `${required} with either a URL or a reason starting with "unapproved", ${enhancement}`,
  };
}

/** An update may keep the state of the stored definition. */
export function checkApproval(definition: KubeObject, old: KubeObject | undefined, errors: FieldErrors): void {
  if (!isProtectedGroup(definition.spec?.group ?? "")) return;
  const { state, reason } = apiApproval(definition);
  if (old !== undefined && apiApproval(old).state === state) return;
  const path = `metadata.annotations[${approvalAnnotation}]`;
  if (state === "missing") errors.required(path, reason);
  if (state === "invalid") errors.invalid(path, definition.metadata.annotations?.[approvalAnnotation], reason);
}
