/**
 * Event, in the core group and in events.k8s.io: one stored object with two sets of rules.
 * Events expire.
 * Sources:
 * `k8s.io/kubernetes@v1.36.0/pkg/apis/core/validation/events.go`,
 * `k8s.io/kubernetes@v1.36.0/pkg/registry/core/event/strategy.go`.
 */
import type { FieldErrors } from "../../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../../apimachinery/object.ts";
import { addInvalid } from "../../../apimachinery/validation/metadata.ts";
import type { Conversion } from "../../../catalog/contract.ts";
import { goForm } from "../../../catalog/go-form.ts";
import { strategy } from "../../../catalog/strategy.ts";
import { identical } from "../../../lib/json/values.ts";
import { dnsSubdomainProblems, pathSegmentNameProblems, qualifiedNameProblems } from "../../../lib/names/names.ts";
import { type Part, selectable } from "../../fields.ts";
import { eventColumns } from "./columns.ts";

/** Default of `--event-ttl`: one hour. */
const eventTtlSeconds = 3600;

const referenceFields = ["kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"];
const referenceKeys = (prefix: string): Record<string, (object: KubeObject) => string> =>
  Object.fromEntries(referenceFields.map((field) => [`${prefix}.${field}`, selectable(`involvedObject.${field}`)]));

/** Strategy of core/v1 `events`. */
export const coreEvent = strategy({
  columns: eventColumns,
  validateName: pathSegmentNameProblems,
  checksMetaLast: true,
  repeatsMetaRules: false,
  isolatesStatus: false,
  ttlSeconds: eventTtlSeconds,
  uncached: true,
  selectableFields: {
    ...referenceKeys("involvedObject"),
    reason: selectable("reason"),
    reportingComponent: selectable("reportingComponent"),
    source: (object) => object.source?.component || object.reportingComponent || "",
    type: selectable("type"),
  },
  validate: (object, errors) => validateLegacy(object, "reportingComponent", errors),
  validateUpdate: (next, _old, errors) => validateLegacy(next, "reportingComponent", errors),
});

/** Strategy of events.k8s.io/v1 `events`. */
export const event = strategy({
  columns: eventColumns,
  validateName: dnsSubdomainProblems,
  isolatesStatus: false,
  ttlSeconds: eventTtlSeconds,
  uncached: true,
  selectableFields: {
    ...referenceKeys("regarding"),
    reason: selectable("reason"),
    reportingController: selectable("reportingComponent"),
    type: selectable("type"),
  },
  validate(object, errors) {
    validateLegacy(object, "reportingController", errors);
    validateSeries(object.series, errors);
    if (object.eventTime === undefined || object.eventTime === null) errors.required("eventTime");
    if (object.type !== "Normal" && object.type !== "Warning")
      errors.invalid("type", "", `has invalid value: ${object.type ?? ""}`);
    for (const field of ["firstTimestamp", "lastTimestamp"])
      if (object[field]) errors.invalid(field, "", "needs to be unset");
    if ((object.count ?? 0) !== 0) errors.invalid("count", "", "needs to be unset");
    if (object.source?.component || object.source?.host) errors.invalid("source", "", "needs to be unset");
  },
  validateUpdate(next, old, errors) {
    validateLegacy(next, "reportingController", errors);
    if (next.series?.count !== old.series?.count || next.series?.lastObservedTime !== old.series?.lastObservedTime) {
      validateSeries(next.series, errors);
    }
    for (const { stored, shown = stored, form } of immutableFields) {
      const now = form(next[stored] ?? undefined);
      if (identical(now, form(old[stored] ?? undefined))) continue;
      if (stored === "eventTime" && sameMicrosecond(next.eventTime, old.eventTime)) continue;
      errors.invalid(shown, now, "field is immutable");
    }
  },
});

interface ImmutableField {
  readonly stored: string;
  /** Path in errors, if it is not the stored name. */
  readonly shown?: string;
  /** The value as upstream's Go types print it. */
  form(value: Part | undefined): unknown;
}

const reference = (value: Part | undefined): unknown => goForm("ObjectReference", value);
const orNull = (value: unknown): unknown => value ?? null;
const text = (value: unknown): unknown => value ?? "";

const immutableFields: readonly ImmutableField[] = [
  { stored: "involvedObject", form: reference },
  { stored: "reason", form: text },
  { stored: "message", form: text },
  { stored: "source", form: (source) => ({ Component: source?.component ?? "", Host: source?.host ?? "" }) },
  { stored: "firstTimestamp", form: orNull },
  { stored: "lastTimestamp", form: orNull },
  { stored: "count", form: (count) => count ?? 0 },
  { stored: "reason", form: text }, // Upstream checks, and reports, it twice.
  { stored: "type", form: text },
  { stored: "eventTime", form: orNull },
  { stored: "action", form: text },
  { stored: "related", form: (related) => (related === undefined ? null : reference(related)) },
  { stored: "reportingComponent", shown: "reportingController", form: text },
  { stored: "reportingInstance", form: text },
];

/** Clients may send nanoseconds; stored times have microseconds. */
const sameMicrosecond = (a: unknown, b: unknown): boolean =>
  typeof a === "string" && typeof b === "string" && microseconds(a) === microseconds(b);
const microseconds = (time: string): string => time.replace(/(\.\d{6})\d*Z$/, "$1Z");

/** Maximum lengths of fields in both groups. */
const limits: [field: string, bytesMax: number][] = [
  ["reportingInstance", 128],
  ["action", 128],
  ["reason", 128],
];

function validateLegacy(object: KubeObject, controllerField: string, errors: FieldErrors): void {
  const namespace = object.metadata.namespace ?? "";
  const involved: string = object.involvedObject?.namespace ?? "";
  const mismatch = (): void => errors.invalid("involvedObject.namespace", involved, "does not match event.namespace");
  if (object.eventTime === undefined || object.eventTime === null) {
    if (involved === "" ? namespace !== "" && namespace !== "default" : namespace !== involved) mismatch();
  } else {
    if (involved === "" && namespace !== "default" && namespace !== "kube-system") mismatch();
    validateReport(object, controllerField, errors);
  }
  addInvalid(errors, "namespace", namespace, dnsSubdomainProblems(namespace));
}

function validateReport(object: KubeObject, controllerField: string, errors: FieldErrors): void {
  const controller = object.reportingComponent ?? "";
  if (controller === "") errors.required(controllerField);
  addInvalid(errors, controllerField, controller, qualifiedNameProblems(controller));
  for (const [field, bytesMax] of limits) {
    const value = object[field] ?? "";
    if (value === "") errors.required(field);
    if (Buffer.byteLength(value) > bytesMax) errors.invalid(field, "", `can have at most ${bytesMax} characters`);
  }
  if (Buffer.byteLength(object.message ?? "") > 1024) errors.invalid("message", "", "can have at most 1024 characters");
}

function validateSeries(series: Part | undefined, errors: FieldErrors): void {
  if (series === undefined || series === null) return;
  if ((series.count ?? 0) < 2) errors.invalid("series.count", "", "should be at least 2");
  if (!series.lastObservedTime) errors.required("series.lastObservedTime");
}

/** Fields with different names in core/v1 and events.k8s.io/v1. */
const renamed = [
  ["involvedObject", "regarding"],
  ["message", "note"],
  ["source", "deprecatedSource"],
  ["firstTimestamp", "deprecatedFirstTimestamp"],
  ["lastTimestamp", "deprecatedLastTimestamp"],
  ["count", "deprecatedCount"],
  ["reportingComponent", "reportingController"],
] as const;

function rename(object: KubeObject, from: string, to: string): void {
  if (!Object.hasOwn(object, from)) return;
  object[to] = object[from];
  delete object[from];
}

/** Converts between events.k8s.io/v1 and the stored version, core/v1. */
export const eventConversion: Conversion = {
  toStorage(object) {
    for (const [stored, shown] of renamed) rename(object, shown, stored);
    return object;
  },
  fromStorage(object) {
    for (const [stored, shown] of renamed) rename(object, stored, shown);
    return object;
  },
};
