import { wrapInEnvelope } from "../../lib/protobuf/envelope.ts";
import { protobufMediaTypes } from "../../lib/protobuf/media-types.ts";
import type { Encoding, Shown } from "./contract.ts";
import { protobufFrames } from "./event-framing.ts";
import { messageListPieces } from "./message-list.ts";

/** Protobuf, under each of its media types. */
export const protobuf: readonly Encoding[] = protobufMediaTypes.map((mediaType, index) => ({
  mediaType,
  alias: index > 0,
  typed: true,
  grouped: false,
  whole: inEnvelope,
  list: messageListPieces,
  stream: { mediaType: `${mediaType};stream=watch`, framing: protobufFrames(mediaType), object: inEnvelope },
}));

function inEnvelope({ apiVersion, kind, message }: Shown): Buffer {
  return wrapInEnvelope(apiVersion, kind, message());
}
