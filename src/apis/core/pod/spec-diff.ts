/** Diff of immutable parts of a pod, in upstream's format. */

import { goForm } from "../../../catalog/go-form.ts";
import { encodeAny } from "../../../lib/json/encode-any.ts";
import { jsonDiff } from "../../../lib/text-diff/unified-diff.ts";
import type { Part } from "../../fields.ts";

/** Maximum characters of both as JSON. The diff of many lines is slow; upstream has no limit. */
const lengthMax = 128 * 1024;

/** @param type name of the Go type @returns the differing lines, empty if the input is too long */
export function specDiff(type: string, old: Part, next: Part): string {
  if (encodeAny(old).length + encodeAny(next).length > lengthMax) return "";
  return jsonDiff(goForm(type, old, old), goForm(type, next, next));
}
