/** What everyone may read: health and version, as upstream's role `system:public-info-viewer` grants it, which leaves out single checks. */
import type { Authorizer } from "./contract.ts";
import { allow, noOpinion } from "./decisions.ts";

const paths = new Set(["/healthz", "/livez", "/readyz", "/version", "/version/"]);

export const publicPaths: Authorizer = ({ isResourceRequest, verb, path }) => {
  if (isResourceRequest || verb !== "get") return noOpinion;
  return paths.has(path) ? allow : noOpinion;
};
