/** `system:masters` may do all. Source: access-control §5.3. */
import type { Authorizer, Decision } from "./contract.ts";

const allow: Decision = { decision: "allow", reason: "" };
const noOpinion: Decision = { decision: "noOpinion", reason: "" };

export const masters: Authorizer = ({ user }) => (user.groups.includes("system:masters") ? allow : noOpinion);
