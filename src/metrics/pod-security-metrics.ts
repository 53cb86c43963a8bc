/**
 * The metrics of the plugin PodSecurity. Source:
 * k8s.io/pod-security-admission@v0.36.0/metrics/metrics.go.
 */
import type { PodSecurityObserver } from "../admission/plugins/pod-security/contract.ts";
import type { LevelVersion } from "../lib/pod-security/levels.ts";
import type { AdmissionAttributes } from "../registry/admission-attributes.ts";
import type { Metric } from "./exposition.ts";
import type { MetricRows } from "./metric-row.ts";
import { Counters } from "./vectors.ts";

export const podSecurityRows = {
  evaluations: {
    name: "pod_security_evaluations_total",
    type: "counter",
    stability: "ALPHA",
    help: "Policy evaluations of the plugin PodSecurity.",
    labels: ["decision", "policy_level", "policy_version", "mode", "request_operation", "resource", "subresource"],
  },
  exemptions: {
    name: "pod_security_exemptions_total",
    type: "counter",
    stability: "ALPHA",
    help: "Requests that are exempt from the plugin PodSecurity.",
    labels: ["request_operation", "resource", "subresource"],
  },
  errors: {
    name: "pod_security_errors_total",
    type: "counter",
    stability: "ALPHA",
    help: "Errors that prevent the evaluation of pods.",
    labels: ["fatal", "request_operation", "resource", "subresource"],
  },
} as const satisfies MetricRows;

/** Records what the plugin decides. */
export interface PodSecurityMetrics extends PodSecurityObserver {
  collect(): Metric[];
}

/** @param serverMinor the minor version of the server; later policy versions are `future` */
export function podSecurityMetrics(serverMinor: number): PodSecurityMetrics {
  const evaluations = new Counters(podSecurityRows.evaluations);
  const exemptions = new Counters(podSecurityRows.exemptions);
  const errors = new Counters(podSecurityRows.errors);
  for (const operation of ["create", "update"]) {
    evaluations.count(["allow", "privileged", "latest", "enforce", operation, "pod", ""], 0);
    exemptions.count([operation, "pod", ""], 0);
    exemptions.count([operation, "controller", ""], 0);
  }
  return {
    evaluated: (decision, policy, mode, attributes) =>
      evaluations.count([
        decision,
        policy.level,
        versionLabel(policy, serverMinor),
        mode,
        ...requestValues(attributes),
      ]),
    exempted: (attributes) => exemptions.count(requestValues(attributes)),
    failed: (fatal, attributes) => errors.count([String(fatal), ...requestValues(attributes)]),
    collect: () => [evaluations, exemptions, errors].map((one) => one.metric()),
  };
}

function versionLabel({ level, version: { text, minor } }: LevelVersion, serverMinor: number): string {
  if (level === "privileged" || minor === Number.POSITIVE_INFINITY) return "latest";
  return minor > serverMinor ? "future" : text;
}

function requestValues({ operation, target, subresource }: AdmissionAttributes) {
  const { resource } = target.resource.definition;
  const label = resource === "pods" ? "pod" : resource === "namespaces" ? "namespace" : "controller";
  return [operation.toLowerCase(), label, subresource] as const;
}
