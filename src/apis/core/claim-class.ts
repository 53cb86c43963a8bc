/** The StorageClass of a claim or a volume. */
import type { KubeObject } from "../../apimachinery/object.ts";

/** The deprecated annotation that names the class; it takes precedence over the field. */
export const classAnnotation = "volume.beta.kubernetes.io/storage-class";

/** @returns undefined if the object has no class; an empty class is the request of none */
export function findStorageClass({ metadata, spec }: KubeObject): string | undefined {
  return metadata.annotations?.[classAnnotation] ?? spec?.storageClassName;
}
