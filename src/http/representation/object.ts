/** Answers with one object in the form that was asked for. */
import type { KubeObject } from "../../api/object.ts";
import type { Resolved } from "../../resource/contract.ts";
import type { Entry } from "../../watch-cache/contract.ts";
import type { RequestContext } from "../contract.ts";
import { sendShown } from "../respond.ts";
import { tableBody, tableOfObject, tableShown } from "./table.ts";
import { objectView, wholeObject } from "./view.ts";

/** A stored object. */
export function sendEntry(context: RequestContext, entry: Entry, status: number): void {
  const resolved = context.resolved as Resolved;
  const { shape } = context.representation;
  if (shape.kind === "object") return sendShown(context, status, objectView(resolved).of(entry));
  const meta = { resourceVersion: String(entry.revision) };
  sendShown(
    context,
    status,
    tableShown(shape, () => tableBody([entry], resolved, shape, meta, context.receivedAt)),
  );
}

/** An object that was not stored (a dry run), in the storage version; used up. */
export function sendObject(context: RequestContext, object: KubeObject, status: number): void {
  const resolved = context.resolved as Resolved;
  const { shape } = context.representation;
  if (shape.kind === "object") return sendShown(context, status, wholeObject(object, resolved));
  sendShown(
    context,
    status,
    tableShown(shape, () => tableOfObject(object, resolved, shape, context.receivedAt)),
  );
}
