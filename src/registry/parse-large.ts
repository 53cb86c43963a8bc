/** Parses a large text body in steps, before it is decoded. */
import { cborType } from "../lib/cbor/media-types.ts";
import { TypeMetaError } from "../lib/json/parse.ts";
import type { Pause } from "../lib/pauses.ts";
import { isProtobuf } from "../lib/protobuf/media-types.ts";
import { YamlError } from "../lib/yaml/decode.ts";
import { yamlType } from "../lib/yaml/media-type.ts";
import { readText } from "./decode-body.ts";
import { type ParsedText, readYamlInSteps, type TextBody } from "./text-kind.ts";

/**
 * Parses a large text body, and serves other requests meanwhile.
 * @param pause called between the steps
 * @returns undefined for other encodings
 */
export async function parseLarge(bytes: Buffer, mediaType: string, pause: Pause): Promise<ParsedText | undefined> {
  if (isProtobuf(mediaType) || mediaType === cborType) return undefined;
  let text: TextBody | undefined;
  let failure: unknown;
  try {
    text = mediaType === yamlType ? await readYamlInSteps(bytes, pause) : readText(bytes, mediaType);
  } catch (error) {
    if (!(error instanceof TypeMetaError) && !(error instanceof YamlError)) throw error;
    failure = error;
  }
  await pause();
  return {
    take() {
      if (failure !== undefined) throw failure;
      const taken = text;
      text = undefined;
      return taken;
    },
  };
}
