/**
 * The plugin AlwaysPullImages makes nodes pull the images of pods each time, so that a pod cannot
 * use a private image that another pod has pulled.
 * Source: k8s.io/kubernetes@v1.36.0/plugin/pkg/admission/alwayspullimages/admission.go.
 */
import { plainError } from "../../apimachinery/errors.ts";
import { FieldErrors } from "../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { someContainer, visitContainers } from "../../apis/core/pod/visit-containers.ts";
import { items, type Part } from "../../apis/fields.ts";
import { joinErrors } from "../../lib/json/quote.ts";
import type { AdmissionAttributes } from "../../registry/admission-attributes.ts";
import type { AdmissionPlugin } from "../contract.ts";
import { rejection } from "../rejection.ts";
import { writtenPod } from "./written-pod.ts";

const always = "Always";

/** @returns the plugin AlwaysPullImages */
export function alwaysPullImages(): AdmissionPlugin {
  return {
    name: "AlwaysPullImages",
    mutate(attributes) {
      const pod = podWithNewImages(attributes);
      if (pod !== undefined) visitImages(pod.spec, (part, field) => Object.assign(part, { [field]: always }));
    },
    validate(attributes) {
      const pod = podWithNewImages(attributes);
      if (pod !== undefined) checkImages(pod, attributes);
    },
  };
}

/** Image volumes are pulled with the policy of their source (KEP-4639). */
function visitImages(spec: Part, visit: (part: Part, field: string, path: string) => void): void {
  visitContainers(spec, "spec", (container, path) => visit(container, "imagePullPolicy", `${path}.imagePullPolicy`));
  for (const [index, { image }] of items(spec.volumes).entries())
    if (image) visit(image, "pullPolicy", `spec.volumes[${index}].image.pullPolicy`);
}

/**
 * Later plugins may have changed a policy.
 *
 * @throws ApiError 500 with one message per image, as upstream
 */
function checkImages(pod: KubeObject, attributes: AdmissionAttributes): void {
  const messages: string[] = [];
  visitImages(pod.spec, (part, field, path) => {
    if (part[field] === always) return;
    const errors = new FieldErrors();
    errors.notSupported(path, part[field] ?? "", [always]);
    messages.push(rejection(attributes, errors.text).message);
  });
  if (messages.length > 0) throw plainError(joinErrors(messages));
}

/** @returns undefined for updates in which the containers have no other images than before */
function podWithNewImages(attributes: AdmissionAttributes): KubeObject | undefined {
  const pod = writtenPod(attributes);
  if (pod === undefined || attributes.operation === "CREATE") return pod;
  const old = new Set<unknown>();
  visitContainers(attributes.oldObject?.spec ?? {}, "spec", ({ image }) => old.add(image));
  return someContainer(pod.spec, ({ image }) => !old.has(image)) ? pod : undefined;
}
