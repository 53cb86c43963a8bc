/**
 * CronJob.
 *
 * Source: k8s.io/kubernetes@v1.36.0/pkg/apis/batch/validation/validation.go,
 *         k8s.io/kubernetes@v1.36.0/pkg/registry/batch/cronjob/strategy.go
 */
import { type FieldErrors, typedText } from "../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { strategy } from "../../catalog/strategy.ts";
import { containerCells, metaCells } from "../column.ts";
import type { PodOptions } from "../core/pod/options.ts";
import { setTemplateDefaults, templateOptions } from "../core/pod/workload-template.ts";
import { checkNonNegative, type Part, setAbsent, struct } from "../fields.ts";
import { shownSelector } from "../label-selector.ts";
import { checkCounts, podNameWarnings } from "../workload.ts";
import { cronJobColumns } from "./columns.ts";
import { scheduleProblem, zoneProblem } from "./cron-schedule.ts";
import { setConditionDefaults } from "./job.ts";
import { jobSpecWarnings, validateJobSpec } from "./job-spec.ts";

/** Leaves room for the suffix that the controller adds to the names of its jobs. */
const nameBytesMax = 52;

const zoneInSchedule =
  "cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details";

/** Validates the schedule, the time zone and the job template. */
export const cronJob = strategy({
  columns: cronJobColumns,
  cellPaths: [
    ...metaCells,
    "spec.schedule",
    "spec.timeZone",
    "spec.suspend",
    "spec.jobTemplate.spec.selector",
    ...containerCells("spec.jobTemplate.spec.template"),
    "status",
  ],
  hasGeneration: true,
  declarative: {},
  setDefaults(object) {
    const spec = struct(object, "spec");
    setAbsent(spec, {
      concurrencyPolicy: "Allow",
      suspend: false,
      successfulJobsHistoryLimit: 3,
      failedJobsHistoryLimit: 1,
    });
    const jobSpec = struct(struct(spec, "jobTemplate"), "spec");
    setTemplateDefaults(jobSpec);
    setConditionDefaults(jobSpec.podFailurePolicy);
  },
  prepareForCreate(object) {
    delete object.status;
  },
  validate(object, errors, context) {
    validate(object, undefined, templateOptions(context), errors);
    const { name = "" } = object.metadata;
    if (name.length > nameBytesMax)
      errors.invalid("metadata.name", name, `must be no more than ${nameBytesMax} characters`);
  },
  validateUpdate: (next, old, errors, context) =>
    validate(next, old.spec, templateOptions(context, old.spec.jobTemplate?.spec?.template), errors),
  warnings(object, old) {
    const changes = object.metadata.generation !== old?.metadata.generation;
    const warnings = [
      ...podNameWarnings(object, old),
      ...(changes ? jobSpecWarnings(object.spec.jobTemplate.spec, "spec.jobTemplate.spec") : []),
    ];
    return old !== undefined && object.spec.schedule.includes("TZ") ? [...warnings, zoneInSchedule] : warnings;
  },
});

const policies = ["Allow", "Forbid", "Replace"];

function validate({ spec }: KubeObject, old: Part | undefined, options: PodOptions, errors: FieldErrors): void {
  validateSchedule(spec, old?.schedule ?? "", errors);
  checkNonNegative(spec.startingDeadlineSeconds, "spec.startingDeadlineSeconds", errors);
  if (spec.timeZone !== undefined && spec.timeZone !== old?.timeZone)
    validateTimeZone(spec.timeZone, "spec.timeZone", errors);
  if (!policies.includes(spec.concurrencyPolicy))
    errors.notSupported("spec.concurrencyPolicy", spec.concurrencyPolicy, policies);
  validateJobTemplate(spec.jobTemplate.spec, "spec.jobTemplate.spec", options, errors);
  checkCounts(spec, "spec", ["successfulJobsHistoryLimit", "failedJobsHistoryLimit"], errors);
}

/** A time zone within the schedule is tolerated if the stored schedule has one. */
function validateSchedule({ schedule = "", timeZone }: Part, before: string, errors: FieldErrors): void {
  if (schedule === "") return errors.covered().required("spec.schedule");
  const problem = scheduleProblem(schedule);
  if (problem !== undefined) errors.invalid("spec.schedule", schedule, problem);
  if (!schedule.includes("TZ")) return;
  if (!before.includes("TZ"))
    errors.invalid("spec.schedule", schedule, "cannot use TZ or CRON_TZ in schedule, use timeZone field instead");
  else if (timeZone !== undefined)
    errors.invalid("spec.schedule", schedule, "cannot use both timeZone field and TZ or CRON_TZ in schedule");
}

const zonePart = /^[A-Za-z.\-_0-9+]{1,14}$/;

function validateTimeZone(zone: string, path: string, errors: FieldErrors): void {
  const shown = typedText(zone);
  if (zone === "") return errors.invalid(path, shown, "timeZone must be nil or non-empty string");
  if (zone.split("/").some((part) => part === "." || part === ".." || part.startsWith("-") || !zonePart.test(part))) {
    return errors.invalid(path, shown, `unknown time zone ${zone}`);
  }
  if (zone.toLowerCase() === "local") {
    errors.invalid(path, shown, "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones");
  }
  const problem = zoneProblem(zone);
  if (problem !== undefined) errors.invalid(path, shown, problem);
}

/** The template may not have a selector, because each job gets a generated one. */
function validateJobTemplate(spec: Part, path: string, options: PodOptions, errors: FieldErrors): void {
  validateJobSpec(spec, path, options, errors);
  if (spec.selector)
    errors.invalid(`${path}.selector`, shownSelector(spec.selector), "`selector` will be auto-generated");
  if (spec.manualSelector === true) errors.notSupported(`${path}.manualSelector`, true, ["nil", "false"]);
}
