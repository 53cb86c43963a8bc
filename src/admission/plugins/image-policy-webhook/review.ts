/**
 * ImageReviews, which ask a webhook about the images of a pod.
 * Source: k8s.io/api@v0.36.0/imagepolicy/v1alpha1/types.go.
 */
import { bool, configKind, configStruct, text } from "../../../apimachinery/configuration-schema.ts";
import { items } from "../../../apis/fields.ts";
import { encodeAny, sortedKeys } from "../../../lib/json/encode-any.ts";
import type { AdmissionAttributes } from "../../../registry/admission-attributes.ts";
import type { ReviewKind } from "../../../webhook/review.ts";
import { schemeName } from "../../config/configuration-file.ts";

/** The kind of requests and responses. Fields of the response other than its status are ignored. */
export const imageReview: ReviewKind = {
  group: "imagepolicy.k8s.io",
  version: "v1alpha1",
  kind: "ImageReview",
  scheme: schemeName,
  schema: configKind("v1alpha1.ImageReview", {
    status: configStruct("v1alpha1.ImageReviewStatus", {
      allowed: bool,
      reason: text,
      auditAnnotations: { kind: "map", values: text, atomic: false },
    }),
  }),
};

/** @returns the question about a pod as JSON: equal questions have equal texts */
export function encodeSpec({ object, subresource, namespace }: AdmissionAttributes): string {
  const { containers, initContainers, ephemeralContainers } = object?.spec ?? {};
  const reviewed = subresource === "" ? [...items(containers), ...items(initContainers)] : items(ephemeralContainers);
  const annotations = reviewedAnnotations(object?.metadata.annotations ?? {});
  return encodeAny({
    ...(reviewed.length > 0 && { containers: reviewed.map(({ image = "" }) => (image === "" ? {} : { image })) }),
    ...(Object.keys(annotations).length > 0 && { annotations }),
    namespace,
  });
}

/** The annotations for the webhook, sorted. */
function reviewedAnnotations(all: Readonly<Record<string, string>>): Record<string, string> {
  const names = sortedKeys(all).filter((name) => name.includes(".image-policy.k8s.io/"));
  return Object.fromEntries(names.map((name) => [name, all[name] as string]));
}

/** @returns the body of a call, in upstream's order of fields */
export function encodeReview(spec: string): string {
  const { kind, group, version } = imageReview;
  return `{"kind":"${kind}","apiVersion":"${group}/${version}","metadata":{},"spec":${spec},"status":{"allowed":false}}\n`;
}
