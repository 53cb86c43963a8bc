/** How a watcher gets objects, by what it asked for. */
import type { Clock } from "../../api/clock.ts";
import { formatGroupVersion } from "../../api/object.ts";
import { encodeProtobuf } from "../../lib/protobuf/encode.ts";
import type { Resolved } from "../../resource/contract.ts";
import type { RequestContext } from "../contract.ts";
import { jsonLines, protobufFrames } from "../representation/event-framing.ts";
import { entryMessage, inEnvelope, metaObject } from "../representation/protobuf.ts";
import { tableEvent } from "../representation/table.ts";
import { entryAtVersion } from "../representation/version.ts";
import type { BookmarkMetadata, EventForm } from "./watch-encoder.ts";

export function eventForm({ representation }: RequestContext, resolved: Resolved, clock: Clock): EventForm {
  if (representation.kind === "protobuf") return protobufForm(representation.mediaType, resolved);
  const { group, kind } = resolved.resource.definition;
  const common = {
    framing: jsonLines,
    bookmarkOf: (metadata: BookmarkMetadata) => jsonOf({ kind, apiVersion: formatGroupVersion(group, resolved.version.version), metadata }),
    statusOf: jsonOf,
  };
  if (representation.kind !== "table") return { ...common, text: "json", objectOf: (entry) => entryAtVersion(entry, resolved).json };
  return {
    ...common,
    text: `table ${representation.version} ${representation.includeObject}`,
    objectOf: (entry, isFirst) => tableEvent(entry, resolved, representation, clock.now(), isFirst),
  };
}

function protobufForm(mediaType: string, resolved: Resolved): EventForm {
  return {
    text: mediaType,
    framing: protobufFrames(mediaType),
    objectOf: (entry) => inEnvelope(entryMessage(entry, resolved), resolved),
    bookmarkOf: (metadata) => inEnvelope(encodeProtobuf({ metadata }, resolved.version.schema), resolved),
    statusOf: metaObject,
  };
}

function jsonOf(value: object): Buffer {
  return Buffer.from(JSON.stringify(value));
}
