/** What every authenticated user may ask about itself, as upstream's role `system:basic-user` grants it. Source: access-control §4.2. */
import type { Authorizer } from "./contract.ts";
import { allow, noOpinion } from "./decisions.ts";

/** `group/resource`; a subresource is another one. */
const reviews = new Set([
  "authentication.k8s.io/selfsubjectreviews",
  "authorization.k8s.io/selfsubjectaccessreviews",
  "authorization.k8s.io/selfsubjectrulesreviews",
]);

export const basicUser: Authorizer = ({ user, isResourceRequest, verb, group, resource, subresource }) => {
  if (!isResourceRequest || verb !== "create" || subresource !== "") return noOpinion;
  return user.groups.includes("system:authenticated") && reviews.has(`${group}/${resource}`) ? allow : noOpinion;
};
