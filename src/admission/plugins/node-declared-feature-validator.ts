/**
 * The plugin NodeDeclaredFeatureValidator rejects updates of pods that need features which their
 * node does not declare. Source:
 * k8s.io/kubernetes@v1.36.0/plugin/pkg/admission/nodedeclaredfeatures/admission.go, and the
 * features in k8s.io/component-helpers@v0.36.0/nodedeclaredfeatures/features.
 */
import type { KubeObject } from "../../apimachinery/object.ts";
import { isSidecar } from "../../apis/core/pod/visit-containers.ts";
import { items } from "../../apis/fields.ts";
import type { Catalog } from "../../catalog/contract.ts";
import { quoteGo } from "../../lib/json/quote.ts";
import { deepEqual } from "../../lib/json/values.ts";
import type { AdmissionAttributes } from "../../registry/admission-attributes.ts";
import type { AdmissionPlugin } from "../contract.ts";
import { lookUp } from "../lookup.ts";
import { rejection } from "../rejection.ts";

/** The features that updates can need, by name in order. Other features concern new pods. */
const needs: readonly (readonly [feature: string, isNeeded: (next: KubeObject, old: KubeObject) => boolean])[] = [
  ["InPlacePodLevelResourcesVerticalScaling", changesPodResources],
  ["InPlacePodVerticalScalingInitContainers", changesInitContainerResources],
];

/**
 * @param enabled whether the feature gate NodeDeclaredFeatures is on
 * @returns the plugin NodeDeclaredFeatureValidator
 */
export function nodeDeclaredFeatureValidator(
  catalog: Pick<Catalog, "findResource">,
  enabled: boolean,
): AdmissionPlugin {
  const name = "NodeDeclaredFeatureValidator";
  if (!enabled) return { name };
  const nodes = lookUp(catalog, { group: "", resource: "nodes" }, featuresOf);
  const checkDeclared = async (
    node: string,
    needed: readonly string[],
    attributes: AdmissionAttributes,
  ): Promise<void> => {
    const declared = await nodes.find("", node);
    if (declared === undefined) throw rejection(attributes, `node ${quoteGo(node)} not found`);
    const missing = needed.filter((feature) => !declared.has(feature));
    if (missing.length === 0) return;
    const why = `pod update requires features ${missing.join(", ")} which are not available on node ${quoteGo(node)}`;
    throw rejection(attributes, why);
  };
  return {
    name,
    validate(attributes) {
      const { target, subresource, operation, object, oldObject } = attributes;
      const { group, resource } = target.resource.definition;
      if (resource !== "pods" || group !== "" || operation !== "UPDATE") return;
      if (subresource !== "" && subresource !== "resize") return;
      const node: string = object?.spec?.nodeName ?? "";
      if (object === undefined || oldObject === undefined || node === "") return;
      if (object.metadata.generation === oldObject.metadata.generation) return;
      const needed = needs.filter(([, isNeeded]) => isNeeded(object, oldObject)).map(([feature]) => feature);
      if (needed.length > 0) return checkDeclared(node, needed, attributes);
    },
  };
}

function featuresOf({ status }: KubeObject): ReadonlySet<string> {
  return new Set<string>(status?.declaredFeatures ?? []);
}

function changesPodResources({ spec: next }: KubeObject, { spec: old }: KubeObject): boolean {
  return !deepEqual(next.resources, old.resources);
}

function changesInitContainerResources({ spec: next }: KubeObject, { spec: old }: KubeObject): boolean {
  const containers = items(next.initContainers);
  return items(old.initContainers).some(
    (container, index) => !isSidecar(container) && !deepEqual(containers[index]?.resources, container.resources),
  );
}
