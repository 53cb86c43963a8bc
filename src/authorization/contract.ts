import type { UserInfo } from "../api/user.ts";

/** What is asked for. Source: access-control §5.3, "request attributes". */
export interface AuthorizationAttributes {
  readonly user: UserInfo;
  readonly verb: string;
  readonly isResourceRequest: boolean;
  readonly path: string;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  readonly fieldSelector: string;
  readonly labelSelector: string;
}

export interface Decision {
  readonly decision: "allow" | "deny" | "noOpinion";
  readonly reason: string;
}

export type Authorizer = (attributes: AuthorizationAttributes) => Decision | Promise<Decision>;
