/** Answers with one object in the form that was asked for. */
import type { KubeObject } from "../../api/object.ts";
import type { Resolved } from "../../resource/contract.ts";
import type { Entry } from "../../watch-cache/contract.ts";
import type { RequestContext } from "../contract.ts";
import { sendShown } from "../respond.ts";
import type { Shown } from "./contract.ts";
import { checkSingle, metadataShown, metadataView } from "./partial-metadata.ts";
import { tableBody, tableOfObject, tableShown } from "./table.ts";
import { objectView, wholeObject } from "./view.ts";

/** A stored object. @throws ApiError 406 where a list was asked for */
export function sendEntry(context: RequestContext, entry: Entry, status: number): void {
  sendShown(context, status, shownEntry(context, entry));
}

/** An object that was not stored (a dry run), in the storage version; used up. @throws ApiError 406 where a list was asked for */
export function sendObject(context: RequestContext, object: KubeObject, status: number): void {
  sendShown(context, status, shownObject(context, object));
}

function shownEntry({ representation: { shape }, receivedAt, resolved: target }: RequestContext, entry: Entry): Shown {
  const resolved = target as Resolved;
  switch (shape.kind) {
    case "object":
      return objectView(resolved).of(entry);
    case "metadata":
      checkSingle(shape, resolved.resource.definition);
      return metadataView(shape, resolved).of(entry);
    case "table":
      return tableShown(shape, () => tableBody([entry], resolved, shape, { resourceVersion: String(entry.revision) }, receivedAt));
  }
}

function shownObject({ representation: { shape }, receivedAt, resolved: target }: RequestContext, object: KubeObject): Shown {
  const resolved = target as Resolved;
  switch (shape.kind) {
    case "object":
      return wholeObject(object, resolved);
    case "metadata":
      checkSingle(shape, resolved.resource.definition);
      return metadataShown(wholeObject(object, resolved), shape, resolved.resource.definition);
    case "table":
      return tableShown(shape, () => tableOfObject(object, resolved, shape, receivedAt));
  }
}
