/** The JSON of a patch. */

import { JsonSyntaxError, type ParsedJson, parseDocument, parsedJson } from "../../lib/json/parse.ts";
import { survey } from "../../lib/json/survey.ts";
import { retainedDepthMax } from "../../lib/schema/decode.ts";

/**
 * @param checkShape throws where the patch is no such thing, which comes before what it holds
 * @throws JsonSyntaxError with Go's text, also for what nests deeper than an object may
 */
export function readPatchJson(body: Buffer, checkShape: (value: unknown) => void = () => undefined): ParsedJson {
  const document = parseDocument(body);
  checkShape(document.value);
  if ((document.depth ?? survey(body).depth) > retainedDepthMax) throw new JsonSyntaxError("exceeded max depth");
  return parsedJson(document);
}
