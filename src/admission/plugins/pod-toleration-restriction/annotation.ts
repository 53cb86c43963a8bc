/** Reads lists of tolerations from annotations, with the error messages of Go's encoding/json. */

import { configStruct, listOf } from "../../../apimachinery/configuration-schema.ts";
import type { Part } from "../../../apis/fields.ts";
import { builtinSchema } from "../../../catalog/builtin-schemas.ts";
import { JsonSyntaxError, parseJson } from "../../../lib/json/parse.ts";
import { conform, DecodeError } from "../../../lib/schema/decode.ts";
import { withFieldNames } from "../../config/plain-configuration.ts";

/** The tolerations of an annotation, or why it cannot be read; neither without the annotation. */
export interface AnnotatedTolerations {
  readonly tolerations?: readonly Part[];
  readonly problem?: string;
}

/** @param text JSON; empty for an empty list */
export function parseAnnotation(text: string | undefined): AnnotatedTolerations {
  if (text === undefined) return {};
  if (text === "") return { tolerations: [] };
  try {
    const type = listOf(builtinSchema("io.k8s.api.core.v1.Toleration"));
    const list = withFieldNames(parseJson(Buffer.from(text)).value, type);
    const { list: tolerations } = conform({ list }, configStruct("", { list: type })).object;
    return { tolerations: (tolerations ?? []) as Part[] };
  } catch (error) {
    if (error instanceof JsonSyntaxError || error instanceof DecodeError)
      return { problem: withoutList(error.message) };
    throw error;
  }
}

/** Removes the field that holds the list while it is decoded. */
function withoutList(message: string): string {
  return message
    .replace("Go struct field .list of", "Go value of")
    .replace("Go struct field Toleration.list.", "Go struct field Toleration.");
}
