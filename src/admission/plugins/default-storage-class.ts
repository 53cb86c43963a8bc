/**
 * The plugin DefaultStorageClass sets the default StorageClass in new claims without a class.
 * Source: k8s.io/kubernetes@v1.36.0/plugin/pkg/admission/storage/storageclass/setdefault/admission.go.
 */
import type { KubeObject } from "../../apimachinery/object.ts";
import { findStorageClass } from "../../apis/core/claim-class.ts";
import type { Catalog } from "../../catalog/contract.ts";
import type { AdmissionPlugin } from "../contract.ts";
import { defaultClass } from "./default-class.ts";

const classes = { group: "storage.k8s.io", resource: "storageclasses" };
const defaultAnnotations = [
  "storageclass.kubernetes.io/is-default-class",
  "storageclass.beta.kubernetes.io/is-default-class",
];

/** @returns the plugin DefaultStorageClass */
export function defaultStorageClass(catalog: Pick<Catalog, "findResource">): AdmissionPlugin {
  const findDefault = defaultClass(catalog, classes, defaultAnnotations);
  const setClass = async (claim: KubeObject): Promise<void> => {
    const name = await findDefault();
    if (name !== undefined) claim.spec = { ...claim.spec, storageClassName: name };
  };
  return {
    name: "DefaultStorageClass",
    mutate({ operation, target, subresource, object }) {
      const { group, resource } = target.resource.definition;
      if (operation !== "CREATE" || resource !== "persistentvolumeclaims" || group !== "" || subresource !== "") return;
      if (object !== undefined && findStorageClass(object) === undefined) return setClass(object);
    },
  };
}
