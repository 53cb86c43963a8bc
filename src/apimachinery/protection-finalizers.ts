/**
 * The finalizers that keep objects as long as others use them: admission plugins add them, and
 * controllers remove them.
 * Sources: k8s.io/kubernetes@v1.36.0/pkg/volume/util/finalizer.go, pkg/apis/scheduling/types.go.
 */

/** Of a PersistentVolumeClaim that pods use. */
export const claimProtection = "kubernetes.io/pvc-protection";
/** Of a PersistentVolume that is bound to a claim. */
export const volumeProtection = "kubernetes.io/pv-protection";
/** Of a VolumeAttributesClass that volumes or claims use. */
export const attributesClassProtection = "kubernetes.io/vac-protection";
/** Of a PodGroup that has pods. */
export const podGroupProtection = "scheduling.k8s.io/podgroup-protection";
