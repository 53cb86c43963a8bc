/**
 * Validates the status of a Job, because an external controller may write it (`spec.managedBy`). A
 * violation of the stored status is tolerated while the fields it concerns do not change.
 *
 * Source: k8s.io/kubernetes@v1.36.0/pkg/apis/batch/validation/validation.go,
 *         k8s.io/kubernetes@v1.36.0/pkg/registry/batch/job/strategy.go
 */
import { type FieldErrors, omitted } from "../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { deepEqual } from "../../lib/json/values.ts";
import { items, type Part } from "../fields.ts";
import { checkCounts } from "../workload.ts";
import { countIndexes, sharedIndex } from "./job-indexes.ts";

const path = "status";
const has = (value: unknown): boolean => value !== undefined && value !== null;

export function validateJobStatus(next: KubeObject, old: KubeObject, errors: FieldErrors): void {
  const write: Write = {
    spec: next.spec,
    status: next.status ?? {},
    before: old.status ?? {},
    is: conditionsOf(next),
    was: conditionsOf(old),
  };
  checkCounts(write.status, path, ["active", "succeeded", "failed", "ready", "terminating"], errors);
  checkUncounted(write.status.uncountedTerminatedPods, errors);
  checkEnds(write, errors);
  checkFinished(write, errors);
  checkIndexes(write, errors);
  checkPods(write, errors);
  checkSuccess(write, errors);
  checkHistory(write, errors);
}

interface Write {
  readonly spec: Part;
  readonly status: Part;
  readonly before: Part;
  readonly is: Conditions;
  readonly was: Conditions;
}

interface Conditions {
  readonly complete: boolean;
  readonly failed: boolean;
  readonly failureTarget: boolean;
  readonly criteriaMet: boolean;
  readonly suspended: boolean;
  readonly resumed: boolean;
  readonly finished: boolean;
}

export function conditionsOf({ status }: KubeObject): Conditions {
  const holds = (type: string, value = "True"): boolean =>
    items(status?.conditions).some((one) => one.type === type && one.status === value);
  const [complete, failed] = [holds("Complete"), holds("Failed")];
  return {
    complete,
    failed,
    failureTarget: holds("FailureTarget"),
    criteriaMet: holds("SuccessCriteriaMet"),
    suspended: holds("Suspended"),
    resumed: holds("Suspended", "False"),
    finished: complete || failed,
  };
}

const rejectConditions = (detail: string, errors: FieldErrors): void =>
  errors.invalid(`${path}.conditions`, omitted, detail);

/** The uids of terminated pods that are not counted yet must be unique. */
function checkUncounted(uncounted: Part | undefined, errors: FieldErrors): void {
  const seen = new Set<string>();
  for (const list of ["succeeded", "failed"]) {
    for (const [index, uid] of ((uncounted?.[list] ?? []) as string[]).entries()) {
      const place = `${path}.uncountedTerminatedPods.${list}[${index}]`;
      if (uid === "") errors.invalid(place, uid, "must not be empty");
      else if (seen.has(uid)) errors.duplicate(place, uid);
      seen.add(uid);
    }
  }
}

function checkEnds({ status, before, is, was }: Write, errors: FieldErrors): void {
  const { startTime, completionTime } = status;
  const completes = is.complete !== was.complete;
  const hasOtherTime = (field: string): boolean => !deepEqual(status[field], before[field]);
  if ((completes || is.failed !== was.failed) && is.complete && is.failed)
    rejectConditions("cannot set Complete=True and Failed=true conditions", errors);
  if ((completes || is.failureTarget !== was.failureTarget) && is.complete && is.failureTarget) {
    rejectConditions("cannot set Complete=True and FailureTarget=true conditions", errors);
  }
  if (completes || hasOtherTime("completionTime")) {
    if (has(completionTime) && !is.complete) {
      errors.invalid(
        `${path}.completionTime`,
        completionTime,
        "cannot set completionTime when there is no Complete=True condition",
      );
    }
    if (!has(completionTime) && is.complete)
      errors.required(`${path}.completionTime`, "completionTime is required for Complete jobs");
  }
  if (
    (hasOtherTime("startTime") || hasOtherTime("completionTime")) &&
    has(startTime) &&
    has(completionTime) &&
    completionTime < startTime
  ) {
    errors.invalid(`${path}.completionTime`, completionTime, "must be equal to or after `startTime`");
  }
  if ((is.failed !== was.failed || failedIndexesChange({ status, before })) && is.failed && !is.failureTarget) {
    rejectConditions("cannot set Failed=True condition without the FailureTarget=true condition", errors);
  }
  if ((completes || is.criteriaMet !== was.criteriaMet) && is.complete && !is.criteriaMet) {
    rejectConditions("cannot set Complete=True condition without the SuccessCriteriaMet=true condition", errors);
  }
}

const failedIndexesChange = ({ status, before }: Pick<Write, "status" | "before">): boolean =>
  (status.failedIndexes ?? null) !== (before.failedIndexes ?? null);

function checkFinished({ spec, status, before, is, was }: Write, errors: FieldErrors): void {
  if (!is.finished) return;
  const finishes = !was.finished;
  const { active = 0, startTime, uncountedTerminatedPods: uncounted } = status;
  if ((finishes || active !== (before.active ?? 0)) && active > 0)
    errors.invalid(`${path}.active`, active, "active>0 is invalid for finished job");
  const needsNone = spec.suspend === true && spec.completions === 0;
  if ((finishes || !deepEqual(startTime, before.startTime)) && !needsNone && !has(startTime)) {
    errors.required(`${path}.startTime`, "startTime is required for finished job");
  }
  const hasUncounted = items(uncounted?.failed).length + items(uncounted?.succeeded).length > 0;
  if ((finishes || !deepEqual(uncounted, before.uncountedTerminatedPods)) && hasUncounted) {
    const shown = { Succeeded: uncounted.succeeded ?? null, Failed: uncounted.failed ?? null };
    errors.invalid(`${path}.uncountedTerminatedPods`, shown, "must be empty for finished job");
  }
}

function checkIndexes({ spec, status, before }: Write, errors: FieldErrors): void {
  const { completedIndexes = "", failedIndexes } = status;
  const completedChange = completedIndexes !== (before.completedIndexes ?? "");
  const failedChange = failedIndexesChange({ status, before });
  const hasLimit = has(spec.backoffLimitPerIndex);
  if (has(spec.completions)) {
    if (completedChange) checkFormat("completedIndexes", completedIndexes, spec.completions, errors);
    if (failedChange && hasLimit && has(failedIndexes))
      checkFormat("failedIndexes", failedIndexes, spec.completions, errors);
  }
  if (completedChange && completedIndexes !== "" && spec.completionMode !== "Indexed") {
    errors.invalid(
      `${path}.completedIndexes`,
      completedIndexes,
      "cannot set non-empty completedIndexes when non-indexed completion mode",
    );
  }
  if (failedChange && !hasLimit && has(failedIndexes)) {
    errors.invalid(
      `${path}.failedIndexes`,
      failedIndexes,
      "cannot set non-null failedIndexes when backoffLimitPerIndex is null",
    );
  }
  if (!(failedChange || completedChange) || !has(spec.completions) || !has(failedIndexes)) return;
  const shared = sharedIndex(completedIndexes, failedIndexes, spec.completions);
  if (shared !== undefined)
    errors.invalid(
      `${path}.failedIndexes`,
      failedIndexes,
      `failedIndexes and completedIndexes overlap at index: ${shared}`,
    );
}

function checkFormat(field: string, indexes: string, completions: number, errors: FieldErrors): void {
  const count = countIndexes(indexes, completions);
  if (typeof count !== "number")
    errors.invalid(`${path}.${field}`, indexes, `error parsing ${field}: ${count.problem}`);
}

function checkPods({ status, before, is, was }: Write, errors: FieldErrors): void {
  const { terminating, ready, active = 0 } = status;
  const changes = (field: string): boolean => (status[field] ?? null) !== (before[field] ?? null);
  if ((is.finished !== was.finished || changes("terminating")) && terminating > 0 && is.finished) {
    errors.invalid(`${path}.terminating`, terminating, "terminating>0 is invalid for finished job");
  }
  if ((changes("ready") || active !== (before.active ?? 0)) && ready > active) {
    errors.invalid(`${path}.ready`, ready, "cannot set more ready pods than active");
  }
}

function checkSuccess({ spec, is }: Write, errors: FieldErrors): void {
  if (is.criteriaMet && is.failed)
    rejectConditions("cannot set SuccessCriteriaMet=True and Failed=true conditions", errors);
  if (is.criteriaMet && is.failureTarget)
    rejectConditions("cannot set SuccessCriteriaMet=True and FailureTarget=true conditions", errors);
  if (spec.successPolicy && !is.criteriaMet && is.complete) {
    rejectConditions("cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True", errors);
  }
}

function checkHistory({ spec, status, before, is, was }: Write, errors: FieldErrors): void {
  for (const [type, holds, held] of [
    ["Failed", is.failed, was.failed],
    ["Complete", is.complete, was.complete],
    ["FailureTarget", is.failureTarget, was.failureTarget],
  ] as const) {
    if (held && !holds) rejectConditions(`cannot disable the terminal ${type}=True condition`, errors);
  }
  const { failed = 0, succeeded = 0, completionTime, startTime } = status;
  if (failed < (before.failed ?? 0)) errors.invalid(`${path}.failed`, failed, "cannot decrease the failed counter");
  // An elastic job may be scaled down, which decreases its counter.
  const scales = spec.completionMode === "Indexed" && (spec.completions ?? null) === (spec.parallelism ?? null);
  if (!scales && succeeded < (before.succeeded ?? 0))
    errors.invalid(`${path}.succeeded`, succeeded, "cannot decrease the succeeded counter");
  if (has(completionTime) && has(before.completionTime) && completionTime !== before.completionTime) {
    errors.invalid(`${path}.completionTime`, completionTime, "field is immutable");
  }
  const resumes = was.suspended && is.resumed;
  if (!resumes && has(before.startTime) && startTime !== before.startTime && spec.suspend !== true) {
    errors.invalid(`${path}.startTime`, startTime ?? null, "field is immutable for unsuspended job once set");
  }
  if (was.criteriaMet && !is.criteriaMet)
    rejectConditions("cannot disable the SuccessCriteriaMet=True condition", errors);
  if (was.complete && !was.criteriaMet && is.criteriaMet) {
    rejectConditions("cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions", errors);
  }
}
