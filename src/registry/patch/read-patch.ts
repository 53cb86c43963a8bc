/** The JSON of a patch. */

import { JsonSyntaxError, type ParsedJson, parseJson } from "../../lib/json/parse.ts";
import { survey } from "../../lib/json/survey.ts";
import { retainedDepthMax } from "../../lib/schema/decode.ts";

/** @throws JsonSyntaxError with Go's text, also for what nests deeper than an object may */
export function readPatchJson(body: Buffer): ParsedJson {
  if (survey(body).depth > retainedDepthMax) throw new JsonSyntaxError("exceeded max depth");
  return parseJson(body);
}
