/**
 * The pod for whose extended resources a claim was created.
 * Source: `getVerifiedPodUsage` in k8s.io/kubernetes@v1.36.0/pkg/quota/v1/evaluator/core/resource_claims.go.
 */
import type { KubeObject } from "../../apimachinery/object.ts";

const annotation = "resource.kubernetes.io/extended-resource-claim";

interface Objects {
  /** Returns a pod of the namespace of the claim. */
  findPod(name: string): KubeObject | undefined;
  /** Returns claims of that namespace, at least those that name the uid of the pod. */
  claimsAbout(podUid: string): Iterable<KubeObject>;
}

/** Returns the pod if it and the claim refer to each other. */
export function podOfClaim(claim: KubeObject, { findPod, claimsAbout }: Objects): KubeObject | undefined {
  const owner = podOwner(claim);
  const pod = owner && findPod(owner.name);
  if (owner === undefined || pod === undefined || pod.metadata.uid !== owner.uid) return undefined;
  const named = pod.status?.extendedResourceClaimStatus?.resourceClaimName;
  if (named !== undefined) return named === claim.metadata.name ? pod : undefined;
  return isFirst(claim, owner.uid, claimsAbout(owner.uid)) ? pod : undefined;
}

function podOwner({ metadata }: KubeObject): { readonly name: string; readonly uid: string } | undefined {
  if (metadata.annotations?.[annotation] !== "true") return undefined;
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
  return owner?.kind === "Pod" && owner.apiVersion === "v1" ? owner : undefined;
}

/** Of several claims of one pod that does not name its claim, only the first is exempt. */
function isFirst(claim: KubeObject, podUid: string, claims: Iterable<KubeObject>): boolean {
  const { name = "", creationTimestamp = "" } = claim.metadata;
  for (const other of claims) {
    if (podOwner(other)?.uid !== podUid) continue;
    const at = other.metadata.creationTimestamp ?? "";
    if (at < creationTimestamp || (at === creationTimestamp && (other.metadata.name ?? "") < name)) return false;
  }
  return true;
}
