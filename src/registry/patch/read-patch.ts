/** Parses the JSON of a patch. */

import { type Document, exactJson, JsonSyntaxError, type ParsedJson, parseDocument } from "../../lib/json/parse.ts";
import { survey } from "../../lib/json/survey.ts";
import { retainedDepthMax } from "../../lib/schema/decode.ts";

/**
 * Parses the JSON of a patch. Numbers with a fraction or an exponent are NumberLiterals.
 * @param checkShape throws for a value of the wrong type, before the content is checked
 * @throws JsonSyntaxError with Go's message, also for a document nested deeper than an object may
 *   be
 */
export function readPatchJson(body: Buffer, checkShape: (value: unknown) => void = () => undefined): ParsedJson {
  return exactJson(parsePatchJson(body, checkShape));
}

/** As {@link readPatchJson}, without a search for repeated keys. @throws JsonSyntaxError */
export function parsePatchJson(body: Buffer, checkShape: (value: unknown) => void = () => undefined): Document {
  const document = parseDocument(body);
  checkShape(document.value);
  if ((document.depth ?? survey(body).depth) > retainedDepthMax) throw new JsonSyntaxError("exceeded max depth");
  return document;
}
