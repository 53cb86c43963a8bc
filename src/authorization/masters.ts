/** `system:masters` may do all. Source: access-control §5.3. */
import type { Authorizer } from "./contract.ts";
import { allow, noOpinion } from "./decisions.ts";

export const masters: Authorizer = ({ user }) => (user.groups.includes("system:masters") ? allow : noOpinion);
