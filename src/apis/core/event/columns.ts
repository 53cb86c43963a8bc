/**
 * Table columns of Events of both groups.
 * Source: `k8s.io/kubernetes@v1.36.0/pkg/printers/internalversion/printers.go`.
 */
import type { KubeObject } from "../../../apimachinery/object.ts";
import { age, nameColumn } from "../../../catalog/common-columns.ts";
import type { Column, TimedCell } from "../../../catalog/strategy-contract.ts";
import { text, wide } from "../../column.ts";

/** Columns of `events`. */
export const eventColumns: readonly Column[] = [
  text("Last Seen", "The time at which the most recent occurrence of this event was recorded.", lastSeen),
  text(
    "Type",
    "Type of this event (Normal, Warning), new types could be added in the future",
    ({ type }) => type ?? "",
  ),
  text(
    "Reason",
    "This should be a short, machine understandable string that gives the reason for the transition into the object's current status.",
    ({ reason }) => reason ?? "",
  ),
  text("Object", "The object that this event is about.", ({ involvedObject: { kind = "", name = "" } = {} }) =>
    name === "" ? kind.toLowerCase() : `${kind.toLowerCase()}/${name}`,
  ),
  wide(
    text(
      "Subobject",
      'If referring to a piece of an object instead of an entire object, this string should contain a valid JSON/Go field access statement, such as desiredState.manifest.containers[2]. For example, if the object reference is to a container within a pod, this would take on a value like: "spec.containers{name}" (where "name" refers to the name of the container that triggered the event) or if no container name is specified "spec.containers[2]" (container with index 2 in this pod). This syntax is chosen only to have some well-defined way of referencing a part of an object.',
      ({ involvedObject }) => involvedObject?.fieldPath ?? "",
    ),
  ),
  wide(text("Source", "The component reporting this event. Should be a short machine understandable string.", source)),
  text("Message", "A human-readable description of the status of this operation.", ({ message }) =>
    (message ?? "").trim(),
  ),
  wide(
    text(
      "First Seen",
      "The time at which the event was first recorded. (Time of server receipt is in TypeMeta.)",
      firstSeen,
    ),
  ),
  wide(
    text("Count", "The number of times this event has occurred.", ({ series, count }) =>
      series === undefined ? count || 1 : (series.count ?? 0),
    ),
  ),
  wide(nameColumn),
];

function firstSeen({ firstTimestamp, eventTime }: KubeObject): string | TimedCell {
  return age(firstTimestamp ?? eventTime);
}

function lastSeen(event: KubeObject): string | TimedCell {
  if (event.series !== undefined) return age(event.series.lastObservedTime);
  return event.lastTimestamp ? age(event.lastTimestamp) : firstSeen(event);
}

function source({ source, reportingComponent, reportingInstance }: KubeObject): string {
  const component = source?.component || reportingComponent || "";
  const instance = source?.host || reportingInstance || "";
  return instance === "" ? component : `${component}, ${instance}`;
}
