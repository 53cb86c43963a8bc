/** A node can request certificates for pods that run on it. */
import { plainError } from "../../../apimachinery/errors.ts";
import type { KubeObject } from "../../../apimachinery/object.ts";
import { isMirrorPod } from "../../../apimachinery/pod-references.ts";
import { quoteGo } from "../../../lib/json/quote.ts";
import { rejection } from "../../rejection.ts";
import type { Check, LookedUpKind, NodeWrite } from "./contract.ts";
import { absent } from "./find-object.ts";

/** Mismatches that may be temporary give an error 500, which clients retry, instead of 403. */
export const checkPodCertificateRequest: Check = async (write) => {
  const { node, attributes, needs } = write;
  const { operation, subresource } = attributes;
  if (!needs.enabled("PodCertificateRequest"))
    throw rejection(attributes, "PodCertificateRequest feature gate is disabled");
  if (operation !== "CREATE") throw rejection(attributes, `unexpected operation ${operation}`);
  if (subresource !== "") throw rejection(attributes, `unexpected subresource ${subresource}`);
  const spec = (attributes.object as KubeObject).spec ?? {};
  if (spec.nodeName !== node) {
    const why = `PodCertificateRequest.Spec.NodeName=${quoteGo(spec.nodeName ?? "")}, which is not the requesting node ${quoteGo(node)}`;
    throw rejection(attributes, why);
  }
  return checkParties(write, spec);
};

// biome-ignore lint/suspicious/noExplicitAny: the schema has checked the types.
type Spec = Record<string, any>;

async function checkParties(write: NodeWrite, spec: Spec): Promise<void> {
  const { attributes } = write;
  const { nodeName, nodeUID = "", podName = "", podUID = "", serviceAccountName = "", serviceAccountUID = "" } = spec;
  const place = quoteGo(`${attributes.namespace}/${podName}`);
  const request = `PodCertificateRequest for pod ${place}`;
  const node = await get(write, "node", "", nodeName, quoteGo(nodeName));
  if (node.metadata.uid !== nodeUID) {
    throw plainError(
      `${request} names node UID ${quoteGo(nodeUID)}, inconsistent with the running node (${quoteGo(node.metadata.uid ?? "")})`,
    );
  }
  const pod = await get(write, "pod", attributes.namespace, podName, place);
  if (pod.metadata.uid !== podUID) {
    throw plainError(
      `${request} contains pod UID (${quoteGo(podUID)}) which differs from running pod ${quoteGo(pod.metadata.uid ?? "")}`,
    );
  }
  if (pod.spec?.nodeName !== nodeName) {
    throw rejection(
      attributes,
      `pod ${place} is not running on node ${quoteGo(nodeName)} named in the PodCertificateRequest`,
    );
  }
  if (isMirrorPod(pod)) throw rejection(attributes, `pod ${place} is a mirror pod`);
  const account: string = pod.spec?.serviceAccountName ?? "";
  if (account !== serviceAccountName) {
    const why = `contains serviceAccountName (${quoteGo(serviceAccountName)}) that differs from running pod (${quoteGo(account)})`;
    throw rejection(attributes, `${request} ${why}`);
  }
  const accountPlace = quoteGo(`${attributes.namespace}/${serviceAccountName}`);
  const { metadata } = await get(write, "serviceaccount", attributes.namespace, serviceAccountName, accountPlace);
  if (metadata.uid === serviceAccountUID) return;
  const why = `names service account UID ${quoteGo(serviceAccountUID)}, which differs from the running service account (${quoteGo(metadata.uid ?? "")})`;
  throw plainError(`${request} ${why}`);
}

const titles: Partial<Record<LookedUpKind, string>> = { serviceaccount: "service account" };

/** @param shown the object as messages name it */
async function get(
  { find }: NodeWrite,
  kind: LookedUpKind,
  namespace: string,
  name: string,
  shown: string,
): Promise<KubeObject> {
  const object = await find(kind, namespace, name);
  if (object !== undefined) return object;
  throw plainError(
    `while retrieving ${titles[kind] ?? kind} ${shown} named in the PodCertificateRequest: ${absent(kind, name).message}`,
  );
}
