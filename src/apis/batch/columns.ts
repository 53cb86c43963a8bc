/**
 * Table columns of Jobs and CronJobs.
 *
 * Source: k8s.io/kubernetes@v1.36.0/pkg/printers/internalversion/printers.go
 */
import type { KubeObject } from "../../apimachinery/object.ts";
import { ageColumn, nameColumn, since } from "../../catalog/common-columns.ts";
import type { Column, TimedCell } from "../../catalog/strategy-contract.ts";
import { humanDuration } from "../../lib/duration/duration.ts";
import { containerColumns, count, flag, formatSelector, integer, isTrue, text, wide } from "../column.ts";

const selectorText =
  "A label query over pods that should match the pod count. Normally, the system sets this field for you. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors";

export const cronJobColumns: readonly Column[] = [
  nameColumn,
  text(
    "Schedule",
    "The schedule in Cron format, see https://en.wikipedia.org/wiki/Cron.",
    ({ spec }) => spec?.schedule ?? "",
  ),
  text(
    "Timezone",
    "The time zone name for the given schedule, see https://en.wikipedia.org/wiki/List_of_tz_database_time_zones. If not specified, this will default to the time zone of the kube-controller-manager process. The set of valid time zone names and the time zone offset is loaded from the system-wide time zone database by the API server during CronJob validation and the controller manager during execution. If no system-wide time zone database can be found a bundled version of the database is used instead. If the time zone name becomes invalid during the lifetime of a CronJob or due to a change in host configuration, the controller will stop creating new new Jobs and will create a system event with the reason UnknownTimeZone. More information can be found in https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/#time-zones",
    ({ spec }) => spec?.timeZone ?? "<none>",
  ),
  flag(
    "Suspend",
    "This flag tells the controller to suspend subsequent executions, it does not apply to already started executions.  Defaults to false.",
    ({ spec }) => (spec?.suspend === undefined ? "<unset>" : spec.suspend ? "True" : "False"),
  ),
  integer("Active", "A list of pointers to currently running jobs.", ({ status }) => count(status?.active)),
  text("Last Schedule", "Information when was the last time the job was successfully scheduled.", ({ status }) =>
    status?.lastScheduleTime === undefined ? "<none>" : since(status.lastScheduleTime),
  ),
  ageColumn,
  ...containerColumns(({ spec }) => spec?.jobTemplate?.spec?.template?.spec),
  wide(text("Selector", selectorText, ({ spec }) => formatSelector(spec?.jobTemplate?.spec?.selector))),
];

export const jobColumns: readonly Column[] = [
  nameColumn,
  text("Status", "Status of the job.", status),
  text(
    "Completions",
    "The number of pods which reached phase Succeeded. The value increases monotonically for a given spec. However, it may decrease in reaction to scale down of elastic indexed jobs.",
    completions,
  ),
  text("Duration", "Time required to complete the job.", duration),
  ageColumn,
  ...containerColumns(({ spec }) => spec?.template?.spec),
  wide(text("Selector", selectorText, ({ spec }) => formatSelector(spec?.selector))),
];

function status({ metadata, status }: KubeObject): string {
  const { conditions } = status ?? {};
  if (isTrue(conditions, "Complete")) return "Complete";
  if (isTrue(conditions, "Failed")) return "Failed";
  if (metadata.deletionTimestamp !== undefined) return "Terminating";
  if (isTrue(conditions, "Suspended")) return "Suspended";
  return isTrue(conditions, "FailureTarget") ? "FailureTarget" : "Running";
}

/** If the spec has no number of completions, the success of one pod completes the job. */
function completions({ spec, status }: KubeObject): string {
  const { completions, parallelism = 0 } = spec ?? {};
  const succeeded = status?.succeeded ?? 0;
  if (completions !== undefined) return `${succeeded}/${completions}`;
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`;
}

function duration({ status }: KubeObject): string | TimedCell {
  const { startTime, completionTime } = status ?? {};
  if (startTime === undefined) return "";
  return completionTime === undefined
    ? since(startTime)
    : humanDuration(Date.parse(completionTime) - Date.parse(startTime));
}
