/** The seccomp profiles that both standards allow. Source: Kubernetes docs, "Pod Security Standards". */
import type { Holder } from "../contract.ts";

const allowed: ReadonlySet<unknown> = new Set(["RuntimeDefault", "Localhost"]);

/** The allowed types, for people. */
export const seccompTypes = '"RuntimeDefault" or "Localhost"';

/** @returns whether the holder sets a profile of another type */
export function hasForbiddenSeccompType({ securityContext }: Holder): boolean {
  return securityContext?.seccompProfile !== undefined && !allowed.has(securityContext.seccompProfile.type);
}
