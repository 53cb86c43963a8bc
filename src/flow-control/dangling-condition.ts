/**
 * The condition of flow schemas that says whether their priority level exists.
 * Source: k8s.io/apiserver@v0.36.0/pkg/util/flowcontrol/apf_controller.go (`presyncFlowSchemaStatus`).
 */

import { formatTime } from "../apimachinery/clock.ts";
import type { KubeObject, ManagedFieldsEntry } from "../apimachinery/object.ts";
import { items } from "../apis/fields.ts";
import { quoteGo } from "../lib/json/quote.ts";

/** A condition of a flow schema. */
export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly lastTransitionTime: string;
  readonly reason: string;
  readonly message: string;
}

/** The field manager of the condition. */
export const conditionManager = "api-priority-and-fairness-config-consumer-v1";

/** @param nowMs milliseconds since 1970 */
export function danglingCondition(level: string, levelExists: boolean, nowMs: number): Condition {
  const subject = `This FlowSchema references the PriorityLevelConfiguration object named ${quoteGo(level)}`;
  return {
    type: "Dangling",
    status: levelExists ? "False" : "True",
    lastTransitionTime: formatTime(nowMs),
    reason: levelExists ? "Found" : "NotFound",
    message: levelExists ? `${subject} and it exists` : `${subject} but there is no such object`,
  };
}

/** Whether the flow schema has the condition, whenever it was set. */
export function hasCondition({ status }: KubeObject, { type, ...desired }: Condition): boolean {
  const existing = items(status?.conditions).find((one) => one.type === type);
  return (["status", "reason", "message"] as const).every((field) => existing?.[field] === desired[field]);
}

/** The managed fields of a condition that the server has applied. */
export function conditionEntry(apiVersion: string, { lastTransitionTime: time }: Condition): ManagedFieldsEntry {
  const fields = Object.fromEntries(
    [".", "f:lastTransitionTime", "f:message", "f:reason", "f:status", "f:type"].map((field) => [field, {}]),
  );
  return {
    manager: conditionManager,
    operation: "Apply",
    apiVersion,
    time,
    fieldsType: "FieldsV1",
    fieldsV1: { "f:status": { "f:conditions": { 'k:{"type":"Dangling"}': fields } } },
    subresource: "status",
  };
}
