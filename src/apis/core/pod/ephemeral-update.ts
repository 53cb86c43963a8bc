/** Ephemeral containers are added to a pod, never changed or taken away. */
import type { FieldErrors } from "../../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../../apimachinery/object.ts";
import { isMirrorPod } from "../../../apimachinery/pod-references.ts";
import { quoteGo } from "../../../lib/json/quote.ts";
import { items } from "../../fields.ts";
import type { PodOptions } from "./options.ts";
import { samePart } from "./same.ts";
import { specDiff } from "./spec-diff.ts";
import { validateChangedPod } from "./validate.ts";

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
    const known = now.get(container.name ?? "");
    if (known === undefined) errors.forbidden(path, `existing ephemeral containers ${name} may not be removed\n`);
    else if (!samePart("EphemeralContainer", container, known)) {
      errors.forbidden(
        path,
        `existing ephemeral containers ${name} may not be changed\n${specDiff("EphemeralContainer", container, known)}`,
      );
    }
  }
}
