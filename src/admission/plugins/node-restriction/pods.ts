/** A node makes and deletes mirror pods of its own, tells the status of its pods, and evicts them. */
import type { KubeObject } from "../../../apimachinery/object.ts";
import { isMirrorPod, mirrorAnnotation } from "../../../apimachinery/pod-references.ts";
import { quoteGo } from "../../../lib/json/quote.ts";
import { refusal } from "../../refusal.ts";
import { sameField } from "../../same-field.ts";
import { apiReference } from "./api-reference.ts";
import type { Check, NodeWrite } from "./contract.ts";
import { absent } from "./find-object.ts";

export const checkPod: Check = (write) => {
  const { attributes } = write;
  switch (attributes.subresource) {
    case "":
      return checkWhole(write);
    case "status":
      return checkStatus(write);
    case "eviction":
      return checkEviction(write);
    default:
      throw refusal(
        attributes,
        `unexpected pod subresource ${quoteGo(attributes.subresource)}, only 'status' and 'eviction' are allowed`,
      );
  }
};

function checkWhole(write: NodeWrite): void | Promise<void> {
  const { node, attributes } = write;
  const { operation, oldObject } = attributes;
  if (operation === "CREATE") return checkNew(write);
  if (operation !== "DELETE") {
    throw refusal(
      attributes,
      `unexpected operation ${quoteGo(operation)}, node ${quoteGo(node)} can only create and delete mirror pods`,
    );
  }
  if (!runsOn(node, oldObject))
    throw refusal(attributes, `node ${quoteGo(node)} can only delete pods with spec.nodeName set to itself`);
}

function runsOn(node: string, pod: KubeObject | undefined): boolean {
  return pod?.spec?.nodeName === node;
}

async function checkNew(write: NodeWrite): Promise<void> {
  const { node, attributes } = write;
  const pod = attributes.object as KubeObject;
  const self = quoteGo(node);
  if (!isMirrorPod(pod)) {
    throw refusal(
      attributes,
      `pod does not have ${quoteGo(mirrorAnnotation)} annotation, node ${self} can only create mirror pods`,
    );
  }
  if (!runsOn(node, pod))
    throw refusal(attributes, `node ${self} can only create pods with spec.nodeName set to itself`);
  await checkOwner(write, pod);
  const reference = apiReference(pod);
  if (reference === undefined) return;
  if ("error" in reference)
    throw refusal(attributes, `error checking mirror pod for API references: ${reference.error}`);
  throw refusal(attributes, `node ${self} can not create pods that reference ${reference.to}`);
}

/** The one owner of a mirror pod is its node. */
async function checkOwner({ node, attributes, find }: NodeWrite, { metadata }: KubeObject): Promise<void> {
  const self = quoteGo(node);
  const refuse = (why: string): Error => refusal(attributes, `node ${self} ${why}`);
  const [owner, ...others] = metadata.ownerReferences ?? [];
  if (others.length > 0) throw refuse("can only create pods with a single owner reference set to itself");
  if (owner === undefined || owner.apiVersion !== "v1" || owner.kind !== "Node" || owner.name !== node) {
    throw refuse("can only create pods with an owner reference set to itself");
  }
  if (owner.controller !== true) throw refuse("can only create pods with a controller owner reference set to itself");
  if (owner.blockOwnerDeletion === true) throw refuse("must not set blockOwnerDeletion on an owner reference");
  const object = await find("node", "", node);
  if (object === undefined) throw absent("node", node);
  if (owner.uid !== object.metadata.uid) {
    throw refusal(attributes, `node ${node} UID mismatch: expected ${owner.uid} got ${object.metadata.uid}`);
  }
}

function checkStatus({ node, attributes }: NodeWrite): void {
  const { operation, object, oldObject } = attributes;
  if (operation !== "UPDATE") throw refusal(attributes, `unexpected operation ${quoteGo(operation)}`);
  const refuse = (why: string): Error => refusal(attributes, `node ${quoteGo(node)} ${why}`);
  const [next, old] = [object?.status ?? {}, oldObject?.status ?? {}];
  if (!runsOn(node, oldObject)) throw refuse("can only update pod status for pods with spec.nodeName set to itself");
  if (!sameField(attributes, "metadata.labels")) throw refuse("cannot update labels through pod status");
  if (!sameClaims(next.resourceClaimStatuses, old.resourceClaimStatuses))
    throw refuse("cannot update resource claim statues");
  const appears = (next.extendedResourceClaimStatus === undefined) !== (old.extendedResourceClaimStatus === undefined);
  if (appears || !sameField(attributes, "status.extendedResourceClaimStatus")) {
    throw refuse("cannot update extended resource claim status");
  }
}

interface ClaimStatus {
  readonly name?: string;
  readonly resourceClaimName?: string;
}

function sameClaims(next: readonly ClaimStatus[] | undefined, old: readonly ClaimStatus[] | undefined): boolean {
  const [a, b] = [next ?? [], old ?? []];
  return (
    a.length === b.length &&
    a.every(({ name, resourceClaimName }, at) => name === b[at]?.name && resourceClaimName === b[at]?.resourceClaimName)
  );
}

async function checkEviction({ node, attributes, find }: NodeWrite): Promise<void> {
  const { operation, namespace, name } = attributes;
  if (operation !== "CREATE") throw refusal(attributes, `unexpected operation ${operation}`);
  if (name === "") throw refusal(attributes, "could not determine pod from request data");
  const pod = await find("pod", namespace, name);
  if (pod === undefined) throw absent("pod", name);
  if (!runsOn(node, pod))
    throw refusal(attributes, `node ${node} can only evict pods with spec.nodeName set to itself`);
}
