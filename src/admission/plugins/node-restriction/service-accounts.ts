/**
 * A node can request tokens only for pods that run on it and, with
 * ServiceAccountNodeAudienceRestriction, for permitted audiences.
 */
import type { KubeObject } from "../../../apimachinery/object.ts";
import { rejection } from "../../rejection.ts";
import { checkAudience } from "./audiences.ts";
import type { Check, NodeWrite } from "./contract.ts";
import { absent } from "./find-object.ts";

export const checkServiceAccount: Check = async (write) => {
  const { operation, subresource } = write.attributes;
  if (operation === "CREATE" && subresource === "token") return checkToken(write);
};

async function checkToken(write: NodeWrite): Promise<void> {
  const { node, attributes, find, needs } = write;
  const spec = (attributes.object as KubeObject).spec ?? {};
  const { apiVersion, kind, name = "", uid = "" } = spec.boundObjectRef ?? {};
  if (apiVersion !== "v1" || kind !== "Pod" || name === "")
    throw rejection(attributes, "node requested token not bound to a pod");
  if (uid === "") throw rejection(attributes, "node requested token with a pod binding without a uid");
  const pod = await find("pod", attributes.namespace, name);
  if (pod === undefined) throw absent("pod", name);
  if (pod.metadata.uid !== uid) {
    const why = `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`;
    throw rejection(attributes, why);
  }
  if (pod.spec?.nodeName !== node)
    throw rejection(attributes, "node requested token bound to a pod scheduled on a different node");
  if (needs.enabled("ServiceAccountNodeAudienceRestriction")) await checkAudience(write, spec.audiences ?? [], pod);
}
