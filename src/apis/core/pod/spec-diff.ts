/** What changed where nothing may, as upstream shows it. */

import { goForm } from "../../../catalog/go-form.ts";
import { encodeAny } from "../../../lib/json/encode-any.ts";
import { jsonDiff } from "../../../lib/text-diff/unified-diff.ts";
import type { Part } from "../../fields.ts";

/** Of both as JSON, in characters. Lines are compared with lines, which takes long where there are many of them; upstream has no limit. */
const lengthMax = 128 * 1024;

/** @param type Go's name of it @returns the lines that differ, or nothing where there is too much to compare */
export function specDiff(type: string, old: Part, next: Part): string {
  if (encodeAny(old).length + encodeAny(next).length > lengthMax) return "";
  return jsonDiff(goForm(type, old, old), goForm(type, next, next));
}
