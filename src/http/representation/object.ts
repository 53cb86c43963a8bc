/** Answers with one object in the form that was asked for. */
import type { KubeObject } from "../../api/object.ts";
import { indentJson } from "../../lib/json/indent.ts";
import { yamlOfJson } from "../../lib/yaml/encode.ts";
import { yamlType } from "../../lib/yaml/media-type.ts";
import type { Resolved } from "../../resource/contract.ts";
import type { Entry } from "../../watch-cache/contract.ts";
import type { RequestContext } from "../contract.ts";
import { send } from "../respond.ts";
import { wantsYaml } from "./pieces.ts";
import { entryMessage, inEnvelope, objectMessage } from "./protobuf.ts";
import { tableBody, tableOfObject } from "./table.ts";
import { encodeAtVersion, entryAtVersion } from "./version.ts";

const newline = Buffer.from("\n");

/** A stored object. */
export function sendEntry(context: RequestContext, entry: Entry, status: number): void {
  const resolved = context.resolved as Resolved;
  const { representation } = context;
  if (representation.kind === "table") {
    const meta = { resourceVersion: String(entry.revision) };
    sendJsonBytes(context, status, tableBody([entry], resolved, representation, meta, context.receivedAt));
  } else if (representation.kind === "protobuf") {
    send(context, status, representation.mediaType, inEnvelope(entryMessage(entry, resolved), resolved));
  } else {
    const shown = entryAtVersion(entry, resolved);
    if (shown === entry && representation.kind === "json" && !representation.pretty) send(context, status, "application/json", entry.line);
    else sendJsonBytes(context, status, shown.json);
  }
}

/** An object that was not stored (a dry run), in the storage version; used up. */
export function sendObject(context: RequestContext, object: KubeObject, status: number): void {
  const resolved = context.resolved as Resolved;
  const { representation } = context;
  if (representation.kind === "table") {
    sendJsonBytes(context, status, tableOfObject(object, resolved, representation, context.receivedAt));
  } else if (representation.kind === "protobuf") {
    send(context, status, representation.mediaType, inEnvelope(objectMessage(object, resolved), resolved));
  } else {
    sendJsonBytes(context, status, encodeAtVersion(object, resolved).json);
  }
}

/** What is JSON to begin with, as text. @param json compact JSON, without a newline at the end */
export function sendJsonBytes(context: RequestContext, status: number, json: Buffer): void {
  if (wantsYaml(context.representation)) return send(context, status, yamlType, Buffer.from(yamlOfJson(json)));
  const text = context.representation.pretty ? indentJson(json) : json;
  send(context, status, "application/json", context.representation.pretty ? text : Buffer.concat([text, newline]));
}
