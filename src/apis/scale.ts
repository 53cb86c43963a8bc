/** The subresource `scale` of workloads: autoscaling/v1 Scale. */
import type { KubeObject } from "../apimachinery/object.ts";
import type { ScaleMapping } from "../catalog/strategy-contract.ts";
import { type Part, struct } from "./fields.ts";
import { formatLabelSelector } from "./label-selector.ts";

/** The Scale of an object. Go omits replicas of 0, so that no manager owns them. */
export function scaleOf(
  { metadata }: KubeObject,
  replicas: number | bigint,
  status: { replicas: number | bigint; selector?: string },
): KubeObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = metadata;
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
    spec: Number(replicas) === 0 ? {} : { replicas },
    status,
  };
}

/**
 * Maps a workload to Scale and back.
 * @param selectorText returns `status.selector`
 */
export function scaleWith(selectorText: (spec: Part) => string): ScaleMapping {
  return {
    toScale(object: KubeObject): KubeObject {
      const { replicas = 0 } = object.status ?? {};
      const status = { replicas, selector: selectorText(object.spec ?? {}) };
      return scaleOf(object, object.spec?.replicas ?? 0, status);
    },
    applyScale(object, replicas) {
      struct(object, "spec").replicas = replicas;
    },
  };
}

/** The mapping for kinds whose `spec.selector` is a LabelSelector. */
export const workloadScale = scaleWith((spec) => formatLabelSelector(spec.selector));
