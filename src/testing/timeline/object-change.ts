/** Describes a committed change of an object. */
import { parseEncoded } from "../../lib/json/parse.ts";
import { isObject } from "../../lib/json/values.ts";
import type { ObjectChange } from "../../registry/contract.ts";
import { changedFields } from "./changed-fields.ts";
import type { TimelineChange } from "./contract.ts";

/** Decodes both states; called only for changes that are shown. */
export function describeChange({ before, after }: ObjectChange): TimelineChange {
  const [old, now] = [decoded(before?.json), decoded(after)];
  const object = now ?? old ?? {};
  const metadata = isObject(object.metadata) ? object.metadata : {};
  return {
    action: old === undefined ? "created" : now === undefined ? "deleted" : "updated",
    apiVersion: String(object.apiVersion ?? ""),
    kind: String(object.kind ?? ""),
    namespace: String(metadata.namespace ?? ""),
    name: String(metadata.name ?? ""),
    ...(old === undefined || now === undefined ? { fields: [], moreFields: 0 } : changedFields(old, now)),
  };
}

function decoded(json: Buffer | undefined): Record<string, unknown> | undefined {
  return json === undefined ? undefined : (parseEncoded(json) as Record<string, unknown>);
}
