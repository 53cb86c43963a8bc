/** What everyone may read: health and version, as upstream's role `system:public-info-viewer` grants it, which leaves out single checks. */
import type { Authorizer, Decision } from "./contract.ts";

const allow: Decision = { decision: "allow", reason: "" };
const noOpinion: Decision = { decision: "noOpinion", reason: "" };
const paths = new Set(["/healthz", "/livez", "/readyz", "/version", "/version/"]);

export const publicPaths: Authorizer = ({ isResourceRequest, verb, path }) => {
  if (isResourceRequest || verb !== "get") return noOpinion;
  return paths.has(path) ? allow : noOpinion;
};
