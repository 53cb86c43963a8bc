/** A node can change only the capacity and the resize state of a PersistentVolumeClaim. */
import type { KubeObject } from "../../../apimachinery/object.ts";
import { quoteGo } from "../../../lib/json/quote.ts";
import { equalValues } from "../../../lib/schema/equal.ts";
import type { Struct } from "../../../lib/schema/schema.ts";
import { rejection } from "../../rejection.ts";
import type { Check } from "./contract.ts";

export const checkClaim: Check = async ({ node, attributes }) => {
  const { operation, subresource, object, oldObject, target } = attributes;
  if (subresource !== "status") throw rejection(attributes, "may only update PVC status");
  if (operation !== "UPDATE") throw rejection(attributes, `unexpected operation ${quoteGo(operation)}`);
  const schema = target.resource.store?.form.schema as Struct;
  const changed = changedFields(
    withoutMutableFields(object as KubeObject),
    withoutMutableFields(oldObject as KubeObject),
    schema,
  );
  if (changed.length === 0) return;
  const why = "is not allowed to update fields other than status.quantity and status.conditions";
  throw rejection(attributes, `node ${quoteGo(node)} ${why}: ${changed.join(", ")}`);
};

type Parts = Record<string, Record<string, unknown> | undefined>;

/** Omits the fields that the node can change, and those that every write changes. */
function withoutMutableFields({ metadata, spec, status = {} }: KubeObject): Parts {
  const { resourceVersion: _version, managedFields: _managers, ...others } = metadata;
  const {
    capacity: _capacity,
    conditions: _conditions,
    allocatedResources: _resources,
    allocatedResourceStatuses: _statuses,
    ...kept
  } = status;
  return { spec, metadata: { ...others }, status: kept };
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
