/**
 * A node can create mirror pods bound to itself. It can delete and evict the pods bound to it and
 * update their status.
 */

import type { ApiError } from "../../../apimachinery/errors.ts";
import type { KubeObject } from "../../../apimachinery/object.ts";
import { isMirrorPod, mirrorAnnotation } from "../../../apimachinery/pod-references.ts";
import { quoteGo } from "../../../lib/json/quote.ts";
import { rejection } from "../../rejection.ts";
import { sameField } from "../../same-field.ts";
import { apiReference } from "./api-reference.ts";
import type { Check, NodeWrite } from "./contract.ts";
import { absent } from "./find-object.ts";

export const checkPod: Check = async (write) => {
  const { attributes } = write;
  switch (attributes.subresource) {
    case "":
      return checkPodWrite(write);
    case "status":
      return checkStatus(write);
    case "eviction":
      return checkEviction(write);
    default:
      throw rejection(
        attributes,
        `unexpected pod subresource ${quoteGo(attributes.subresource)}, only 'status' and 'eviction' are allowed`,
      );
  }
};

async function checkPodWrite(write: NodeWrite): Promise<void> {
  const { node, attributes } = write;
  const { operation, oldObject } = attributes;
  if (operation === "CREATE") return checkCreation(write);
  if (operation !== "DELETE") {
    throw rejection(
      attributes,
      `unexpected operation ${quoteGo(operation)}, node ${quoteGo(node)} can only create and delete mirror pods`,
    );
  }
  if (!runsOn(node, oldObject))
    throw rejection(attributes, `node ${quoteGo(node)} can only delete pods with spec.nodeName set to itself`);
}

function runsOn(node: string, pod: KubeObject | undefined): boolean {
  return pod?.spec?.nodeName === node;
}

async function checkCreation(write: NodeWrite): Promise<void> {
  const { node, attributes } = write;
  const pod = attributes.object as KubeObject;
  const self = quoteGo(node);
  if (!isMirrorPod(pod)) {
    throw rejection(
      attributes,
      `pod does not have ${quoteGo(mirrorAnnotation)} annotation, node ${self} can only create mirror pods`,
    );
  }
  if (!runsOn(node, pod))
    throw rejection(attributes, `node ${self} can only create pods with spec.nodeName set to itself`);
  await checkOwner(write, pod);
  const reference = apiReference(pod);
  if (reference === undefined) return;
  if ("error" in reference)
    throw rejection(attributes, `error checking mirror pod for API references: ${reference.error}`);
  throw rejection(attributes, `node ${self} can not create pods that reference ${reference.to}`);
}

/** A mirror pod has one owner: its node. */
async function checkOwner({ node, attributes, find }: NodeWrite, { metadata }: KubeObject): Promise<void> {
  const self = quoteGo(node);
  const reject = (why: string): ApiError => rejection(attributes, `node ${self} ${why}`);
  const [owner, ...others] = metadata.ownerReferences ?? [];
  if (others.length > 0) throw reject("can only create pods with a single owner reference set to itself");
  if (owner === undefined || owner.apiVersion !== "v1" || owner.kind !== "Node" || owner.name !== node) {
    throw reject("can only create pods with an owner reference set to itself");
  }
  if (owner.controller !== true) throw reject("can only create pods with a controller owner reference set to itself");
  if (owner.blockOwnerDeletion === true) throw reject("must not set blockOwnerDeletion on an owner reference");
  const object = await find("node", "", node);
  if (object === undefined) throw absent("node", node);
  if (owner.uid !== object.metadata.uid) {
    throw rejection(attributes, `node ${node} UID mismatch: expected ${owner.uid} got ${object.metadata.uid}`);
  }
}

function checkStatus({ node, attributes }: NodeWrite): void {
  const { operation, object, oldObject } = attributes;
  if (operation !== "UPDATE") throw rejection(attributes, `unexpected operation ${quoteGo(operation)}`);
  const reject = (why: string): ApiError => rejection(attributes, `node ${quoteGo(node)} ${why}`);
  const [next, old] = [object?.status ?? {}, oldObject?.status ?? {}];
  if (!runsOn(node, oldObject)) throw reject("can only update pod status for pods with spec.nodeName set to itself");
  if (!sameField(attributes, "metadata.labels")) throw reject("cannot update labels through pod status");
  if (!sameClaims(next.resourceClaimStatuses, old.resourceClaimStatuses))
    throw reject("cannot update resource claim statues");
  const isAddedOrRemoved =
    (next.extendedResourceClaimStatus === undefined) !== (old.extendedResourceClaimStatus === undefined);
  if (isAddedOrRemoved || !sameField(attributes, "status.extendedResourceClaimStatus")) {
    throw reject("cannot update extended resource claim status");
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
  if (operation !== "CREATE") throw rejection(attributes, `unexpected operation ${operation}`);
  if (name === "") throw rejection(attributes, "could not determine pod from request data");
  const pod = await find("pod", namespace, name);
  if (pod === undefined) throw absent("pod", name);
  if (!runsOn(node, pod))
    throw rejection(attributes, `node ${node} can only evict pods with spec.nodeName set to itself`);
}
