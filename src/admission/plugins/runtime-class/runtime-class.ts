/**
 * The plugin RuntimeClass sets the overhead and the placement that the RuntimeClass of a new pod
 * requires. Source: k8s.io/kubernetes@v1.36.0/plugin/pkg/admission/runtimeclass/admission.go.
 */
import { type ApiError, plainError } from "../../../apimachinery/errors.ts";
import type { KubeObject } from "../../../apimachinery/object.ts";
import { items, type Part } from "../../../apis/fields.ts";
import type { Catalog } from "../../../catalog/contract.ts";
import { quoteGo } from "../../../lib/json/quote.ts";
import { compareQuantities, parseQuantity } from "../../../lib/quantity/quantity.ts";
import type { AdmissionAttributes } from "../../../registry/admission-attributes.ts";
import type { AdmissionPlugin } from "../../contract.ts";
import { lookUp, unreadableName } from "../../lookup.ts";
import { rejection } from "../../rejection.ts";
import { checkTolerationCount, mergeTolerations } from "../merge-tolerations.ts";

type Texts = Readonly<Record<string, string>>;

/** What the plugin needs of a RuntimeClass. */
interface RuntimeClass {
  /** Undefined if the class has none. */
  readonly overhead: Texts | undefined;
  readonly scheduling: { readonly nodeSelector?: Texts; readonly tolerations?: readonly Part[] } | undefined;
}

/** @returns the plugin RuntimeClass */
export function runtimeClass(catalog: Pick<Catalog, "findResource">): AdmissionPlugin {
  const classes = lookUp(catalog, { group: "node.k8s.io", resource: "runtimeclasses" }, runtimeClassOf);
  const getClass = async (attributes: AdmissionAttributes, name: string): Promise<RuntimeClass> => {
    const found = await classes.find("", name);
    if (found === undefined) throw missingClass(attributes, name);
    return found;
  };
  const applyClass = async (attributes: AdmissionAttributes, spec: Part): Promise<void> => {
    const { overhead, scheduling } = await getClass(attributes, spec.runtimeClassName);
    if (overhead !== undefined) setOverhead(attributes, spec, overhead);
    if (scheduling !== undefined) setPlacement(attributes, spec, scheduling);
  };
  const checkClass = async (attributes: AdmissionAttributes, spec: Part): Promise<void> => {
    const name: string | undefined = spec.runtimeClassName;
    const found = name === undefined ? undefined : await getClass(attributes, name);
    checkOverhead(attributes, spec, found?.overhead);
  };
  return {
    name: "RuntimeClass",
    mutate(attributes) {
      const spec = newPodSpec(attributes);
      if (spec?.runtimeClassName !== undefined) return applyClass(attributes, spec);
    },
    validate(attributes) {
      const spec = newPodSpec(attributes);
      if (spec?.runtimeClassName !== undefined || spec?.overhead !== undefined) return checkClass(attributes, spec);
    },
  };
}

function missingClass(attributes: AdmissionAttributes, name: string): ApiError {
  const problem = unreadableName(name);
  if (problem !== undefined) return plainError(problem);
  return rejection(attributes, `pod rejected: RuntimeClass ${quoteGo(name)} not found`);
}

function runtimeClassOf({ overhead, scheduling }: KubeObject): RuntimeClass {
  return { overhead: overhead && (overhead.podFixed ?? {}), scheduling };
}

function newPodSpec({ target, subresource, operation, object }: AdmissionAttributes): Part | undefined {
  const { group, resource } = target.resource.definition;
  const isNewPod = resource === "pods" && group === "" && subresource === "" && operation === "CREATE";
  return isNewPod ? object?.spec : undefined;
}

const mismatch = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead";

function setOverhead(attributes: AdmissionAttributes, spec: Part, overhead: Texts): void {
  const own: Texts = spec.overhead ?? {};
  if (Object.keys(own).length > 0 && !sameQuantities(own, overhead)) throw rejection(attributes, mismatch);
  spec.overhead = { ...overhead };
}

/** Checks again what later plugins may have changed. */
function checkOverhead(attributes: AdmissionAttributes, spec: Part, overhead: Texts | undefined): void {
  if (overhead !== undefined) {
    if (!sameQuantities(spec.overhead ?? {}, overhead)) throw rejection(attributes, mismatch);
  } else if (spec.overhead !== undefined) {
    const why = "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead";
    throw rejection(attributes, why);
  }
}

function sameQuantities(a: Texts, b: Texts): boolean {
  const names = Object.keys(a);
  const isSame = (one: string | undefined, other: string | undefined): boolean =>
    one !== undefined && other !== undefined && compareQuantities(parseQuantity(one), parseQuantity(other)) === 0;
  return (
    names.length === Object.keys(b).length && names.every((name) => Object.hasOwn(b, name) && isSame(a[name], b[name]))
  );
}

function setPlacement(
  attributes: AdmissionAttributes,
  spec: Part,
  { nodeSelector, tolerations }: NonNullable<RuntimeClass["scheduling"]>,
): void {
  const own: Texts = spec.nodeSelector ?? {};
  for (const [key, value] of Object.entries(nodeSelector ?? {})) {
    if (Object.hasOwn(own, key) && own[key] !== value) {
      const why = `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${value}; pod.spec.nodeSelector[${key}] = ${own[key]}`;
      throw rejection(attributes, why);
    }
  }
  if (nodeSelector !== undefined) spec.nodeSelector = { ...own, ...nodeSelector };
  // Also without tolerations of the class: redundant ones of the pod are removed.
  checkTolerationCount(attributes, spec);
  const merged = mergeTolerations(items(spec.tolerations), tolerations ?? []);
  if (merged.length > 0) spec.tolerations = merged.map((toleration) => ({ ...toleration }));
}
