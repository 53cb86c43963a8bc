/** A node tells of a claim how large its volume is and how far a resize has come, and nothing else. */
import type { KubeObject } from "../../../apimachinery/object.ts";
import { quoteGo } from "../../../lib/json/quote.ts";
import { equalValues } from "../../../lib/schema/equal.ts";
import type { Struct } from "../../../lib/schema/schema.ts";
import { refusal } from "../../refusal.ts";
import type { Check } from "./contract.ts";

export const checkClaim: Check = ({ node, attributes }) => {
  const { operation, subresource, object, oldObject, target } = attributes;
  if (subresource !== "status") throw refusal(attributes, "may only update PVC status");
  if (operation !== "UPDATE") throw refusal(attributes, `unexpected operation ${quoteGo(operation)}`);
  const schema = target.resource.store?.form.schema as Struct;
  const changed = changedFields(settled(object as KubeObject), settled(oldObject as KubeObject), schema);
  if (changed.length === 0) return;
  const why = "is not allowed to update fields other than status.quantity and status.conditions";
  throw refusal(attributes, `node ${quoteGo(node)} ${why}: ${changed.join(", ")}`);
};

type Parts = Record<string, Record<string, unknown> | undefined>;

/** Without what may differ: what the node may write, and what every write changes. */
function settled({ metadata, spec, status = {} }: KubeObject): Parts {
  const { resourceVersion: _version, managedFields: _managers, ...others } = metadata;
  const {
    capacity: _capacity,
    conditions: _conditions,
    allocatedResources: _resources,
    allocatedResourceStatuses: _statuses,
    ...left
  } = status;
  return { spec, metadata: { ...others }, status: left };
}

/** @returns paths, two levels deep */
function changedFields(next: Parts, old: Parts, schema: Struct): string[] {
  return schema.fields.flatMap(({ name, type }) => {
    const [a, b] = [next[name], old[name]];
    if (type.kind !== "struct" || equalValues(a, b, type)) return [];
    const fields = type.fields.filter((field) => !equalValues(a?.[field.name], b?.[field.name], field.type));
    return fields.length === 0 ? [name] : fields.map((field) => `${name}.${field.name}`);
  });
}
