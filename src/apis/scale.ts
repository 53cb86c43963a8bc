/** The subresource `scale` of workloads: autoscaling/v1 Scale. */
import type { KubeObject } from "../apimachinery/object.ts";
import type { ScaleMapping } from "../catalog/contract.ts";
import { type Part, struct } from "./fields.ts";
import { formatLabelSelector } from "./label-selector.ts";

/**
 * Maps a workload to Scale and back.
 * @param selectorText returns `status.selector`
 */
export function scaleWith(selectorText: (spec: Part) => string): ScaleMapping {
  return {
    toScale(object: KubeObject): KubeObject {
      const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
      return {
        kind: "Scale",
        apiVersion: "autoscaling/v1",
        metadata: {
          ...(name !== undefined && { name }),
          ...(namespace !== undefined && { namespace }),
          ...(uid !== undefined && { uid }),
          ...(resourceVersion !== undefined && { resourceVersion }),
          ...(creationTimestamp !== undefined && { creationTimestamp }),
        },
        spec: { replicas: object.spec?.replicas ?? 0 },
        status: { replicas: object.status?.replicas ?? 0, selector: selectorText(object.spec ?? {}) },
      };
    },
    applyScale(object, replicas) {
      struct(object, "spec").replicas = replicas;
    },
  };
}

/** The mapping for kinds whose `spec.selector` is a LabelSelector. */
export const workloadScale = scaleWith((spec) => formatLabelSelector(spec.selector));
