/** Answers with one object in the form that was asked for. */
import type { KubeObject } from "../../api/object.ts";
import { indentJson } from "../../lib/json/indent.ts";
import type { Resolved, ResourceStore } from "../../resource/contract.ts";
import type { Entry } from "../../watch-cache/contract.ts";
import type { RequestContext } from "../contract.ts";
import { send } from "../respond.ts";
import { tableBody } from "./table.ts";
import { encodeAtVersion, entryAtVersion } from "./version.ts";

const newline = Buffer.from("\n");

/** A stored object. */
export function sendEntry(context: RequestContext, entry: Entry, status: number): void {
  const resolved = context.resolved as Resolved;
  const { representation } = context;
  if (representation.kind === "table") {
    const store = resolved.resource.store as ResourceStore;
    const meta = { resourceVersion: String(entry.revision) };
    sendJsonBytes(
      context,
      status,
      tableBody([entry], resolved, representation, meta, context.receivedAt, (one) => store.decode(one)),
    );
  } else {
    sendJsonBytes(context, status, entryAtVersion(entry, resolved).json);
  }
}

/** An object that was not stored (a dry run), in the storage version; used up. */
export function sendObject(context: RequestContext, object: KubeObject, status: number): void {
  const resolved = context.resolved as Resolved;
  const { representation } = context;
  if (representation.kind === "table") {
    const resourceVersion = object.metadata.resourceVersion ?? "";
    sendJsonBytes(
      context,
      status,
      tableBody([undefined as never], resolved, representation, { resourceVersion }, context.receivedAt, () => object),
    );
  } else {
    sendJsonBytes(context, status, encodeAtVersion(object, resolved).json);
  }
}

/** @param json compact JSON, without a newline at the end */
export function sendJsonBytes(context: RequestContext, status: number, json: Buffer): void {
  const text = context.representation.pretty ? indentJson(json) : json;
  send(context, status, "application/json", context.representation.pretty ? text : Buffer.concat([text, newline]));
}
