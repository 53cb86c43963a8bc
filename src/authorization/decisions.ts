/** What most authorizers answer: they allow, or leave it to the next. */
import type { Decision } from "./contract.ts";

export const allow: Decision = { decision: "allow", reason: "" };
export const noOpinion: Decision = { decision: "noOpinion", reason: "" };
