/**
 * Validation of `/ephemeralcontainers`: ephemeral containers can only be added.
 * Source: `k8s.io/kubernetes@v1.36.0/pkg/apis/core/validation/validation.go`.
 */
import type { FieldErrors } from "../../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../../apimachinery/object.ts";
import { isMirrorPod } from "../../../apimachinery/pod-references.ts";
import { quoteGo } from "../../../lib/json/quote.ts";
import { items } from "../../fields.ts";
import type { PodOptions } from "./options.ts";
import { samePart } from "./same-part.ts";
import { specDiff } from "./spec-diff.ts";
import { validateChangedPod } from "./validate-pod.ts";

export function validateEphemeralUpdate(
  next: KubeObject,
  old: KubeObject,
  options: PodOptions,
  errors: FieldErrors,
): void {
  if (isMirrorPod(old)) return errors.forbidden("[]", "static pods do not support ephemeral containers");
  validateChangedPod(next, old, options, errors);
  const path = "spec.ephemeralContainers";
  const now = new Map(items(next.spec.ephemeralContainers).map((container) => [container.name ?? "", container]));
  for (const container of items(old.spec.ephemeralContainers)) {
    const name = quoteGo(container.name ?? "");
    const updated = now.get(container.name ?? "");
    if (updated === undefined) errors.forbidden(path, `existing ephemeral containers ${name} may not be removed\n`);
    else if (!samePart("EphemeralContainer", container, updated)) {
      errors.forbidden(
        path,
        `existing ephemeral containers ${name} may not be changed\n${specDiff("EphemeralContainer", container, updated)}`,
      );
    }
  }
}
