/**
 * The metrics of the plugin PodSecurity. Source:
 * k8s.io/pod-security-admission@v0.36.0/metrics/metrics.go.
 */

import type { PodSecurityObserver } from "../admission/plugins/pod-security/contract.ts";
import type { LevelVersion } from "../lib/pod-security/levels.ts";
import type { AdmissionAttributes } from "../registry/admission-attributes.ts";
import { formatLabels, type Metric } from "./exposition.ts";
import { Counters } from "./vectors.ts";

/** Records what the plugin decides. */
export interface PodSecurityMetrics extends PodSecurityObserver {
  collect(): Metric[];
}

/** @param serverMinor the minor version of the server; later policy versions are `future` */
export function podSecurityMetrics(serverMinor: number): PodSecurityMetrics {
  const evaluations = new Counters();
  const exemptions = new Counters();
  const errors = new Counters();
  for (const operation of ["create", "update"]) {
    const pod = [operation, "pod", ""];
    evaluations.count(formatLabels(evaluationLabels, ["allow", "privileged", "latest", "enforce", ...pod]), 0);
    exemptions.count(formatLabels(requestLabels, pod), 0);
    exemptions.count(formatLabels(requestLabels, [operation, "controller", ""]), 0);
  }
  return {
    evaluated(decision, policy, mode, attributes) {
      const values = [decision, policy.level, versionLabel(policy, serverMinor), mode, ...requestValues(attributes)];
      evaluations.count(formatLabels(evaluationLabels, values));
    },
    exempted: (attributes) => exemptions.count(formatLabels(requestLabels, requestValues(attributes))),
    failed: (fatal, attributes) =>
      errors.count(formatLabels(["fatal", ...requestLabels], [String(fatal), ...requestValues(attributes)])),
    collect: () => [
      metric("evaluations", "Policy evaluations of the plugin PodSecurity.", evaluations),
      metric("exemptions", "Requests that are exempt from the plugin PodSecurity.", exemptions),
      metric("errors", "Errors that prevent the evaluation of pods.", errors),
    ],
  };
}

const requestLabels = ["request_operation", "resource", "subresource"];
const evaluationLabels = ["decision", "policy_level", "policy_version", "mode", ...requestLabels];

function versionLabel({ level, version: { text, minor } }: LevelVersion, serverMinor: number): string {
  if (level === "privileged" || minor === Number.POSITIVE_INFINITY) return "latest";
  return minor > serverMinor ? "future" : text;
}

function requestValues({ operation, target, subresource }: AdmissionAttributes): string[] {
  const { resource } = target.resource.definition;
  const label = resource === "pods" ? "pod" : resource === "namespaces" ? "namespace" : "controller";
  return [operation.toLowerCase(), label, subresource];
}

function metric(what: string, help: string, counters: Counters): Metric {
  return { name: `pod_security_${what}_total`, type: "counter", stability: "ALPHA", help, samples: counters.samples() };
}
