/** Asks the authorizer who may write which part of a claim's status. */
import type { ClaimRight } from "../apis/resource/claim-rights.ts";
import type { Authorizer } from "../authorization/contract.ts";
import { refusal } from "../http/refusal.ts";

export function claimRight(authorize: Authorizer): ClaimRight {
  return async (request) => {
    const about = { isResourceRequest: true, group: "resource.k8s.io", version: "v1", resource: "resourceclaims" };
    const attributes = { ...about, ...request, path: "", fieldSelector: "", labelSelector: "" };
    const { decision, reason, error } = await authorize(attributes);
    if (decision === "allow") return undefined;
    return refusal(attributes, [error ?? "", reason].filter((text) => text !== "").join(": ")).message;
  };
}
