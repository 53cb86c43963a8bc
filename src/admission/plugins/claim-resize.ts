/**
 * The plugin PersistentVolumeClaimResize allows larger requests only for bound claims whose
 * StorageClass allows expansion.
 * Source: k8s.io/kubernetes@v1.36.0/plugin/pkg/admission/storage/persistentvolume/resize/admission.go.
 */
import type { ApiError } from "../../apimachinery/errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { findStorageClass } from "../../apis/core/claim-class.ts";
import type { Catalog } from "../../catalog/contract.ts";
import { compareQuantities, parseQuantity } from "../../lib/quantity/quantity.ts";
import type { AdmissionAttributes } from "../../registry/admission-attributes.ts";
import type { AdmissionPlugin } from "../contract.ts";
import { readyStore } from "../ready-store.ts";
import { rejection } from "../rejection.ts";

/** @returns the plugin PersistentVolumeClaimResize */
export function claimResize(catalog: Pick<Catalog, "findResource">): AdmissionPlugin {
  const checkClass = async (attributes: AdmissionAttributes, name: string): Promise<void> => {
    const store = await readyStore(catalog, { group: "storage.k8s.io", resource: "storageclasses" });
    if (store === undefined) return;
    const entry = store.cache.latest().get(store.keyOf("", name));
    if (entry === undefined || store.decode(entry).allowVolumeExpansion !== true) throw notExpandable(attributes);
  };
  return {
    name: "PersistentVolumeClaimResize",
    validate(attributes) {
      const { operation, target, subresource, object, oldObject } = attributes;
      const { group, resource } = target.resource.definition;
      if (operation !== "UPDATE" || resource !== "persistentvolumeclaims" || group !== "" || subresource !== "") return;
      if (object === undefined || oldObject === undefined || !isLarger(object, oldObject)) return;
      if (oldObject.status?.phase !== "Bound")
        throw rejection(attributes, "Only bound persistent volume claims can be expanded");
      const name = findStorageClass(object) ?? "";
      if (name === "" || name !== findStorageClass(oldObject)) throw notExpandable(attributes);
      return checkClass(attributes, name);
    },
  };
}

function isLarger(object: KubeObject, oldObject: KubeObject): boolean {
  const requested = (claim: KubeObject): string => claim.spec?.resources?.requests?.storage ?? "0";
  const [next, old] = [requested(object), requested(oldObject)];
  return next !== old && compareQuantities(parseQuantity(next), parseQuantity(old)) > 0;
}

function notExpandable(attributes: AdmissionAttributes): ApiError {
  return rejection(
    attributes,
    "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize",
  );
}
