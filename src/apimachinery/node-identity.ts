/**
 * Identifies nodes by their user. Source: Kubernetes docs, "Using Node Authorization";
 * k8s.io/kubernetes@v1.36.0/pkg/auth/nodeidentifier/default.go.
 */
import type { UserInfo } from "./user.ts";

const prefix = "system:node:";

/** @returns the name of the node, which can be empty; undefined if the user is not a node */
export function nodeIdentity({ name, groups }: UserInfo): string | undefined {
  return name.startsWith(prefix) && groups.includes("system:nodes") ? name.slice(prefix.length) : undefined;
}
