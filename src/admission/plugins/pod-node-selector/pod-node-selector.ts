/**
 * The plugin PodNodeSelector adds the node selector of the namespace to new pods, and limits the
 * labels that they can select.
 * Source: k8s.io/kubernetes@v1.36.0/plugin/pkg/admission/podnodeselector/admission.go.
 */
import { type ApiError, forbidden, internalError, plainError } from "../../../apimachinery/errors.ts";
import type { KubeObject } from "../../../apimachinery/object.ts";
import type { Catalog } from "../../../catalog/contract.ts";
import { quoteGo } from "../../../lib/json/quote.ts";
import { labelValueProblems, qualifiedNameProblems } from "../../../lib/names/names.ts";
import type { AdmissionAttributes } from "../../../registry/admission-attributes.ts";
import type { AdmissionPlugin } from "../../contract.ts";
import { lookUp } from "../../lookup.ts";
import { writtenPod } from "../written-pod.ts";
import type { NodeSelectorConfiguration } from "./configuration.ts";

const annotation = "scheduler.alpha.kubernetes.io/node-selector";
const defaultKey = "clusterDefaultNodeSelector";

/** A namespace. */
interface Annotated {
  /** Undefined without the annotation. */
  readonly selector: string | undefined;
}

/** @returns the plugin PodNodeSelector */
export function podNodeSelector(
  catalog: Pick<Catalog, "findResource">,
  { selectors }: NodeSelectorConfiguration = { selectors: new Map() },
): AdmissionPlugin {
  const namespaces = lookUp<Annotated>(catalog, { group: "", resource: "namespaces" }, ({ metadata }) => ({
    selector: metadata.annotations?.[annotation],
  }));
  const selectorOf = async (namespace: string): Promise<ReadonlyMap<string, string>> => {
    const found = await namespaces.find("", namespace);
    if (found === undefined) throw internalError(`namespace ${namespace} does not exist`);
    return parseEqualitySelector(found.selector ?? selectors.get(defaultKey) ?? "");
  };
  const check = (pod: KubeObject, selector: ReadonlyMap<string, string>, namespace: string): void => {
    checkConflicts(pod, selector);
    checkAllowed(pod, parseEqualitySelector(selectors.get(namespace) ?? ""));
  };
  return {
    name: "PodNodeSelector",
    async mutate(attributes) {
      const pod = createdPod(attributes);
      if (pod === undefined) return;
      const selector = await selectorOf(attributes.namespace);
      checkConflicts(pod, selector);
      if (selector.size > 0) pod.spec.nodeSelector = { ...Object.fromEntries(selector), ...pod.spec.nodeSelector };
      check(pod, selector, attributes.namespace);
    },
    async validate(attributes) {
      const pod = createdPod(attributes);
      if (pod !== undefined) check(pod, await selectorOf(attributes.namespace), attributes.namespace);
    },
  };
}

function createdPod(attributes: AdmissionAttributes): KubeObject | undefined {
  return attributes.operation === "CREATE" ? writtenPod(attributes) : undefined;
}

/** @throws ApiError 403 if the pod has another value for a label of the selector */
function checkConflicts(pod: KubeObject, selector: ReadonlyMap<string, string>): void {
  for (const [key, value] of labelsOf(pod)) {
    const required = selector.get(key);
    if (required !== undefined && required !== value)
      throw rejectedPod(pod, "pod node label selector conflicts with its namespace node label selector");
  }
}

/** @param allowed the labels that the pod can select; empty for all */
function checkAllowed(pod: KubeObject, allowed: ReadonlyMap<string, string>): void {
  if (allowed.size === 0) return;
  if (labelsOf(pod).some(([key, value]) => allowed.get(key) !== value))
    throw rejectedPod(pod, "pod node label selector labels conflict with its namespace whitelist");
}

function labelsOf(pod: KubeObject): [key: string, value: string][] {
  return Object.entries((pod.spec.nodeSelector ?? {}) as Record<string, string>);
}

function rejectedPod({ metadata }: KubeObject, why: string): ApiError {
  return forbidden({ group: "", resource: "pods" }, metadata.name ?? "", why);
}

/**
 * Parses a selector that only compares, such as `a=b,c=d`.
 * Source: `ConvertSelectorToLabelsMap` in k8s.io/apimachinery@v0.36.0/pkg/labels/labels.go.
 * @throws ApiError 500 with upstream's message, which names no field
 */
function parseEqualitySelector(text: string): ReadonlyMap<string, string> {
  const labels = new Map<string, string>();
  if (text === "") return labels;
  for (const label of text.split(",")) {
    const parts = label.split("=");
    const [key = "", value = ""] = parts.map((part) => part.trim());
    if (parts.length !== 2) throw plainError(`invalid selector: [${parts.join(" ")}]`);
    check("<nil>", key, qualifiedNameProblems(key));
    check(`[${key}]`, value, labelValueProblems(value));
    labels.set(key, value);
  }
  return labels;
}

function check(path: string, value: string, problems: readonly string[]): void {
  if (problems.length > 0) throw plainError(`${path}: Invalid value: ${quoteGo(value)}: ${problems.join("; ")}`);
}
