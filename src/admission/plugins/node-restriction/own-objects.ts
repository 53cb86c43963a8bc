/** Objects that a node has under its own name, or with its name in them. */
import { refusal } from "../../refusal.ts";
import type { Check } from "./contract.ts";

export const checkLease: Check = ({ node, attributes }) => {
  const { namespace, operation, name, object } = attributes;
  if (namespace !== "kube-node-lease")
    throw refusal(attributes, 'can only access leases in the "kube-node-lease" system namespace');
  if ((operation === "CREATE" ? object?.metadata.name : name) !== node) {
    throw refusal(attributes, "can only access node lease with the same name as the requesting node");
  }
};

export const checkCsiNode: Check = ({ node, attributes }) => {
  const { operation, name, object } = attributes;
  if ((operation === "CREATE" ? object?.metadata.name : name) !== node) {
    throw refusal(attributes, "can only access CSINode with the same name as the requesting node");
  }
};

/** Who may change which slice is known to authorization; of new ones, and of many deleted at once, it knows nothing. */
export const checkResourceSlice: Check = ({ node, attributes }) => {
  const { operation, object, oldObject } = attributes;
  if (operation === "CREATE" && object?.spec?.nodeName !== node) {
    throw refusal(attributes, "can only create ResourceSlice with the same NodeName as the requesting node");
  }
  if (operation === "DELETE" && oldObject?.spec?.nodeName !== node) {
    throw refusal(attributes, "can only delete ResourceSlice with the same NodeName as the requesting node");
  }
};
