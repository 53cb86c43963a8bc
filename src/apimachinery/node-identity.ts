/** Nodes as users. Source: access-control §5.3, "Node authorizer". */
import type { UserInfo } from "./user.ts";

const prefix = "system:node:";

/** @returns the node's name, which may be empty; undefined for who is no node */
export function nodeIdentity({ name, groups }: UserInfo): string | undefined {
  return name.startsWith(prefix) && groups.includes("system:nodes") ? name.slice(prefix.length) : undefined;
}
