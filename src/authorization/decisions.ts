/** The two decisions that have neither a reason nor an error. */
import type { Decision } from "./contract.ts";

/** Allows the request. */
export const allow: Decision = { decision: "allow", reason: "" };
/** Leaves the decision to the next authorizer. */
export const noOpinion: Decision = { decision: "noOpinion", reason: "" };
