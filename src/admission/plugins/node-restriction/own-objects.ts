/** Objects that belong to a node because they have its name or contain it. */
import { rejection } from "../../rejection.ts";
import type { Check } from "./contract.ts";

export const checkLease: Check = async ({ node, attributes }) => {
  const { namespace, operation, name, object } = attributes;
  if (namespace !== "kube-node-lease")
    throw rejection(attributes, 'can only access leases in the "kube-node-lease" system namespace');
  if ((operation === "CREATE" ? object?.metadata.name : name) !== node) {
    throw rejection(attributes, "can only access node lease with the same name as the requesting node");
  }
};

export const checkCsiNode: Check = async ({ node, attributes }) => {
  const { operation, name, object } = attributes;
  if ((operation === "CREATE" ? object?.metadata.name : name) !== node) {
    throw rejection(attributes, "can only access CSINode with the same name as the requesting node");
  }
};

/**
 * The Node authorizer checks updates and single deletions. It cannot check creations and deletions
 * of a collection.
 */
export const checkResourceSlice: Check = async ({ node, attributes }) => {
  const { operation, object, oldObject } = attributes;
  if (operation === "CREATE" && object?.spec?.nodeName !== node) {
    throw rejection(attributes, "can only create ResourceSlice with the same NodeName as the requesting node");
  }
  if (operation === "DELETE" && oldObject?.spec?.nodeName !== node) {
    throw rejection(attributes, "can only delete ResourceSlice with the same NodeName as the requesting node");
  }
};
