/**
 * The plugin PodTolerationRestriction adds the tolerations of the namespace to new pods, and limits
 * those that pods can have.
 * Source: k8s.io/kubernetes@v1.36.0/plugin/pkg/admission/podtolerationrestriction/admission.go.
 */

import { configStruct, listOf } from "../../../apimachinery/configuration-schema.ts";
import { notFound, plainError } from "../../../apimachinery/errors.ts";
import type { KubeObject } from "../../../apimachinery/object.ts";
import { qosClass } from "../../../apis/core/pod/qos-class.ts";
import { items, type Part } from "../../../apis/fields.ts";
import { builtinSchema } from "../../../catalog/builtin-schemas.ts";
import type { Catalog } from "../../../catalog/contract.ts";
import { JsonSyntaxError, parseJson } from "../../../lib/json/parse.ts";
import { conform, DecodeError } from "../../../lib/schema/decode.ts";
import type { AdmissionAttributes } from "../../../registry/admission-attributes.ts";
import { withFieldNames } from "../../config/plain-configuration.ts";
import type { AdmissionPlugin } from "../../contract.ts";
import { lookUp } from "../../lookup.ts";
import { checkTolerationCount, includes, mergeTolerations } from "../merge-tolerations.ts";
import { writtenPod } from "../written-pod.ts";
import type { TolerationConfiguration } from "./configuration.ts";

interface RestrictionNeeds {
  readonly catalog: Pick<Catalog, "findResource">;
  /** Whether pods have resources of their own: the gate PodLevelResources. */
  readonly podResources: boolean;
  readonly configuration: TolerationConfiguration | undefined;
}

/** A namespace. */
interface Annotated {
  readonly defaults: AnnotatedTolerations;
  readonly allowed: AnnotatedTolerations;
}

const namespaces = { group: "", resource: "namespaces" };
const none: TolerationConfiguration = { defaults: [], allowed: [] };
const memoryPressure = { key: "node.kubernetes.io/memory-pressure", operator: "Exists", effect: "NoSchedule" };

/** @returns the plugin PodTolerationRestriction */
export function podTolerationRestriction(needs: RestrictionNeeds): AdmissionPlugin {
  const { configuration = none, podResources } = needs;
  const { find } = lookUp<Annotated>(needs.catalog, namespaces, annotated);
  const getNamespace = async ({ namespace }: AdmissionAttributes): Promise<Annotated> => {
    const found = await find("", namespace);
    if (found === undefined) throw notFound(namespaces, namespace);
    return found;
  };
  return {
    name: "PodTolerationRestriction",
    async mutate(attributes) {
      const pod = writtenPod(attributes);
      if (pod === undefined) return;
      checkTolerationCount(attributes, pod.spec);
      const found = await getNamespace(attributes);
      const isNew = attributes.operation === "CREATE";
      addTolerations(pod, isNew ? (tolerationsOf(found.defaults) ?? configuration.defaults) : [], podResources);
      check(pod, found, configuration);
    },
    async validate(attributes) {
      const pod = writtenPod(attributes);
      if (pod !== undefined) check(pod, await getNamespace(attributes), configuration);
    },
  };
}

function annotated({ metadata: { annotations = {} } }: KubeObject): Annotated {
  return {
    defaults: parseAnnotation(annotations["scheduler.alpha.kubernetes.io/defaultTolerations"]),
    allowed: parseAnnotation(annotations["scheduler.alpha.kubernetes.io/tolerationsWhitelist"]),
  };
}

/** @throws ApiError 500 with upstream's message for an annotation that is not a list of tolerations */
function tolerationsOf({ tolerations, problem }: AnnotatedTolerations): readonly Part[] | undefined {
  if (problem !== undefined) throw plainError(problem);
  return tolerations;
}

/** Pods that request resources can run on nodes under memory pressure. */
function addTolerations(pod: KubeObject, defaults: readonly Part[], podResources: boolean): void {
  const isBestEffort = (pod.status?.qosClass || qosClass(pod.spec, podResources)) === "BestEffort";
  const added = isBestEffort ? defaults : [...defaults, memoryPressure];
  if (added.length === 0) return;
  pod.spec.tolerations = mergeTolerations(items(pod.spec.tolerations), structuredClone(added));
}

/** @throws ApiError 500 if a toleration is not allowed, as upstream */
function check(pod: KubeObject, { allowed }: Annotated, configuration: TolerationConfiguration): void {
  const tolerations = items(pod.spec.tolerations);
  if (tolerations.length === 0) return;
  const ofNamespace = tolerationsOf(allowed);
  const [list, scope] = ofNamespace === undefined ? [configuration.allowed, "cluster"] : [ofNamespace, "namespace"];
  if (list.length === 0 || tolerations.every((one) => list.some((wide) => includes(wide, one)))) return;
  throw plainError(
    `pod tolerations (possibly merged with namespace default tolerations) conflict with its ${scope} whitelist`,
  );
}

/** The tolerations of an annotation, or why it cannot be read; neither without the annotation. */
interface AnnotatedTolerations {
  readonly tolerations?: readonly Part[];
  readonly problem?: string;
}

/** Reads the tolerations, with the error messages of Go's encoding/json. @param text JSON; empty for an empty list */
function parseAnnotation(text: string | undefined): AnnotatedTolerations {
  if (text === undefined) return {};
  if (text === "") return { tolerations: [] };
  try {
    const type = listOf(builtinSchema("io.k8s.api.core.v1.Toleration"));
    const list = withFieldNames(parseJson(Buffer.from(text)).value, type);
    const { list: tolerations } = conform({ list }, configStruct("", { list: type })).object;
    return { tolerations: (tolerations ?? []) as Part[] };
  } catch (error) {
    if (error instanceof JsonSyntaxError || error instanceof DecodeError)
      return { problem: withoutList(error.message) };
    throw error;
  }
}

/** Removes the field that holds the list while it is decoded. */
function withoutList(message: string): string {
  return message
    .replace("Go struct field .list of", "Go value of")
    .replace("Go struct field Toleration.list.", "Go struct field Toleration.");
}
