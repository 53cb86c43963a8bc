/** The modes AlwaysAllow and AlwaysDeny. Source: access-control §5.3. */
import type { Authorizer } from "./contract.ts";

export const alwaysAllow: Authorizer = () => ({ decision: "allow", reason: "" });
export const alwaysDeny: Authorizer = () => ({ decision: "noOpinion", reason: "Everything is forbidden." });
