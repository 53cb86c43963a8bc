/** The modes AlwaysAllow and AlwaysDeny. Source: access-control §5.3. */
import type { Authorizer } from "./contract.ts";
import { allow } from "./decisions.ts";

export const alwaysAllow: Authorizer = () => allow;
export const alwaysDeny: Authorizer = () => ({ decision: "noOpinion", reason: "Everything is forbidden." });
