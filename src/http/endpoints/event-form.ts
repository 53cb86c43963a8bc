/** The form of watch events, by the negotiated representation. */
import assert from "node:assert/strict";
import type { Clock } from "../../apimachinery/clock.ts";
import { formatGroupVersion, type KubeObject } from "../../apimachinery/object.ts";
import type { Resolved } from "../../catalog/contract.ts";
import { encodeProtobuf } from "../../lib/protobuf/encode.ts";
import type { Entry } from "../../watch-cache/contract.ts";
import type { RequestContext, Shape } from "../contract.ts";
import type { Shown } from "../representation/contract.ts";
import { metaObject } from "../representation/meta-object.ts";
import { objectView } from "../representation/object.ts";
import { checkSingle, metadataShown, metadataView } from "../representation/partial-metadata.ts";
import { tableBookmark, tableEvent, tableShown } from "../representation/table.ts";
import { encodeWithVersion } from "../representation/version.ts";
import { webSocketFrames } from "../representation/web-socket-framing.ts";
import type { BookmarkMetadata, EventForm } from "./watch-encoder.ts";

/** The form of the events of one watch. */
export function eventForm({ exchange, representation }: RequestContext, resolved: Resolved, clock: Clock): EventForm {
  const { shape, encoding } = representation;
  const { stream } = encoding;
  assert.ok(stream !== undefined, "negotiation finds an encoding that streams");
  const shown = shownEvents(shape, resolved, clock);
  const form: EventForm = {
    text: `${stream.mediaType} ${JSON.stringify(shape)}`,
    framing: stream.framing,
    objectOf: (entry, isFirst) => stream.object(shown.object(entry, isFirst)),
    bookmarkOf: (metadata, isFirst) => stream.object(shown.bookmark(metadata, isFirst)),
    statusOf: (status) => stream.object(metaObject(status)),
  };
  if (exchange.webSocket === undefined) return form;
  return { ...form, text: `websocket ${form.text}`, framing: webSocketFrames(form.framing) };
}

interface ShownEvents {
  object(entry: Entry, isFirst: boolean): Shown;
  bookmark(metadata: BookmarkMetadata, isFirst: boolean): Shown;
}

function shownEvents(shape: Shape, resolved: Resolved, clock: Clock): ShownEvents {
  if (shape.kind === "table") {
    return {
      object: (entry, isFirst) => tableShown(shape, () => tableEvent(entry, resolved, shape, clock.now(), isFirst)),
      bookmark: (metadata, isFirst) =>
        tableShown(shape, () => tableBookmark(bareObject(resolved, metadata), resolved, shape, clock.now(), isFirst)),
    };
  }
  if (shape.kind === "metadata") {
    const { definition } = resolved.resource;
    checkSingle(shape, definition);
    return {
      object: metadataView(shape, resolved).of,
      bookmark: (metadata) => metadataShown({ ...metadata }, shape),
    };
  }
  return { object: objectView(resolved).of, bookmark: (metadata) => shownBookmark(resolved, metadata) };
}

function shownBookmark(resolved: Resolved, metadata: BookmarkMetadata): Shown {
  const object = bareObject(resolved, metadata);
  const { schema } = resolved.version;
  return {
    apiVersion: object.apiVersion as string,
    kind: object.kind as string,
    json: () => encodeWithVersion(object, schema).json,
    message: () => encodeProtobuf(object, schema),
    schema: resolved.resource.definition.custom ? undefined : schema,
  };
}

/** The object of a bookmark; fields that are always written are empty. */
function bareObject({ resource: { definition }, version }: Resolved, metadata: BookmarkMetadata): KubeObject {
  const { annotations: ours, ...blank } = definition.strategy.blank().metadata ?? {};
  const annotations = { ...ours, ...metadata.annotations };
  return {
    kind: definition.kind,
    apiVersion: formatGroupVersion(definition.group, version.version),
    ...definition.strategy.blank(),
    metadata: { ...blank, ...metadata, ...(Object.keys(annotations).length > 0 && { annotations }) },
  };
}
