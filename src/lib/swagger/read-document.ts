/** Reads OpenAPI v2 documents of other servers. Source: https://spec.openapis.org/oas/v2.0.html. */
import { parseJson } from "../json/parse.ts";
import { survey } from "../json/survey.ts";
import { isObject, type Json } from "../json/values.ts";
import { Pauses } from "../pauses.ts";
import { documentShape } from "./document-shape.ts";
import { normalize, SwaggerError } from "./normalize.ts";
import type { Shape } from "./shape.ts";

/** Levels of nesting that the walks of documents can recurse into. */
const depthMax = 500;

/**
 * Reads a document, and yields to other requests between its paths and definitions.
 *
 * @returns the document in its canonical form
 * @throws SwaggerError when it is not an OpenAPI v2 document, or nests too deep
 * @throws JsonSyntaxError
 */
export async function readSwagger(bytes: Buffer): Promise<Json> {
  if (survey(bytes).depth > depthMax) throw new SwaggerError(`the document nests more than ${depthMax} levels`);
  const { value } = parseJson(bytes);
  if (!isObject(value)) throw new SwaggerError("the document is not an object");
  const { paths, definitions, ...others } = value;
  return {
    ...(normalize(others, documentShape) as Json),
    ...(isObject(paths) && { paths: await readEntries(paths, shapeOf("paths")) }),
    ...(isObject(definitions) && { definitions: await readEntries(definitions, shapeOf("definitions")) }),
  };
}

function shapeOf(section: string): Shape {
  return documentShape.fields[section]?.shape as Shape;
}

async function readEntries(section: Json, shape: Shape): Promise<Json> {
  const pauses = new Pauses();
  const entries: [string, unknown][] = [];
  for (const name of Object.keys(section).sort()) {
    const entry = normalize(Object.fromEntries([[name, section[name]]]), shape);
    entries.push(...Object.entries(entry as Json));
    if (pauses.isDue()) await pauses.pause();
  }
  return Object.fromEntries(entries);
}
