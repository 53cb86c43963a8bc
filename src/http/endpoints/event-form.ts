/** How a watcher gets objects, by what it asked for. */
import type { Clock } from "../../api/clock.ts";
import { formatGroupVersion, type KubeObject } from "../../api/object.ts";
import { encodeProtobuf } from "../../lib/protobuf/encode.ts";
import type { Resolved } from "../../resource/contract.ts";
import type { RequestContext } from "../contract.ts";
import { jsonLines, protobufFrames } from "../representation/event-framing.ts";
import { entryMessage, inEnvelope, metaObject } from "../representation/protobuf.ts";
import { tableBookmark, tableEvent } from "../representation/table.ts";
import { encodeWithVersion, entryAtVersion } from "../representation/version.ts";
import { webSocketFrames } from "../representation/web-socket-framing.ts";
import type { BookmarkMetadata, EventForm } from "./watch-encoder.ts";

export function eventForm(context: RequestContext, resolved: Resolved, clock: Clock): EventForm {
  const form = streamForm(context, resolved, clock);
  if (context.exchange.webSocket === undefined) return form;
  return { ...form, text: `websocket ${form.text}`, framing: webSocketFrames(form.framing) };
}

function streamForm({ representation }: RequestContext, resolved: Resolved, clock: Clock): EventForm {
  if (representation.kind === "protobuf") return protobufForm(representation.mediaType, resolved);
  const common = { framing: jsonLines, statusOf: jsonOf };
  const { schema } = resolved.version;
  if (representation.kind !== "table") {
    return {
      ...common,
      text: "json",
      objectOf: (entry) => entryAtVersion(entry, resolved).json,
      bookmarkOf: (metadata) => encodeWithVersion(bareObject(resolved, metadata), schema).json,
    };
  }
  return {
    ...common,
    text: `table ${representation.version} ${representation.includeObject}`,
    objectOf: (entry, isFirst) => tableEvent(entry, resolved, representation, clock.now(), isFirst),
    bookmarkOf: (metadata, isFirst) => tableBookmark(bareObject(resolved, metadata), resolved, representation, clock.now(), isFirst),
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

/** What a bookmark shows: fields that are always written are written empty. */
function bareObject({ resource: { definition }, version }: Resolved, metadata: BookmarkMetadata): KubeObject {
  return { kind: definition.kind, apiVersion: formatGroupVersion(definition.group, version.version), metadata: { ...metadata } };
}

function jsonOf(value: object): Buffer {
  return Buffer.from(JSON.stringify(value));
}
