/** Encodes documents of servers that have only OpenAPI v2 as v3. */
import { encodeAny } from "../lib/json/encode-any.ts";
import type { Json } from "../lib/json/values.ts";
import { convertToV3 } from "../lib/swagger/convert-to-v3.ts";
import type { Encoding } from "./documents.ts";
import { encodeEntry, encodeMessage, messageField } from "./gnostic.ts";
import { componentsTailV3, documentHeadV3, documentV3, pathItemV3, schemaV3 } from "./gnostic-v3.ts";

/** @param documentV2 in its canonical form */
export function encodeConverted(documentV2: Json, encoding: Encoding): Buffer {
  const document = convertToV3(documentV2);
  if (encoding === "json") return Buffer.from(encodeAny(document));
  const { openapi, info, paths = {}, components } = document;
  const { schemas = {}, securitySchemes } = components as { schemas?: Json; securitySchemes?: Json };
  const skipsUnknown = true;
  const pathPieces = Object.entries(paths as Json)
    .filter(([name]) => name.startsWith("/"))
    .map(([name, item]) => encodeEntry(documentV3.path, pathItemV3, name, item, { skipsUnknown }));
  const schemaPieces = Object.entries(schemas).map(([name, schema]) =>
    encodeEntry(documentV3.schema, schemaV3, name, schema, { skipsUnknown }),
  );
  const componentPieces = [
    ...(schemaPieces.length > 0 ? messageField(documentV3.schemas, schemaPieces) : []),
    encodeMessage(componentsTailV3, securitySchemes === undefined ? {} : { securitySchemes }, { skipsUnknown }),
  ];
  return Buffer.concat([
    encodeMessage(documentHeadV3, { openapi, ...(info !== null && { info }) }, { skipsUnknown }),
    ...messageField(documentV3.paths, pathPieces),
    ...messageField(documentV3.components, componentPieces),
  ]);
}
