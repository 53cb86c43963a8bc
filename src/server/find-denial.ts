import type { Authorizer } from "../authorization/contract.ts";
import { forbiddenError } from "../authorization/forbidden-error.ts";
import type { FindDenial } from "../catalog/contract.ts";

/** Lets strategies check rights beyond that of the request. */
export function denialFinder(authorize: Authorizer): FindDenial {
  return async (check) => {
    const attributes = { ...check, isResourceRequest: true, path: "", fieldSelector: "", labelSelector: "" };
    const { decision, reason, error } = await authorize(attributes);
    if (decision === "allow") return undefined;
    return forbiddenError(attributes, [error ?? "", reason].filter((text) => text !== "").join(": ")).message;
  };
}
