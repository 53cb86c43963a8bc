/** Differences on purpose: they prove that the comparison of an area sees them. */
import { isObject } from "../../src/lib/json/values.ts";
import type { Reply } from "./run-steps.ts";
import type { Plant } from "./sequence-run.ts";

type Change = (reply: Reply) => Reply;

const otherStatus: Change = (reply) => ({ ...reply, status: reply.status + 1 });
const otherWarning: Change = (reply) => ({ ...reply, headers: { ...reply.headers, warning: ['299 - "planted"'] } });
const otherBody: Change = (reply) => ({ ...reply, body: changedBody(reply.body) });

/** @param area each has its own kind of difference, which is in one of its answers */
export function plantIn(area: string): Plant {
  const change = [otherBody, otherStatus, otherWarning][area.length % 3] as Change;
  return (reply, step) => (step === 1 ? change(reply) : reply);
}

function changedBody(body: unknown): unknown {
  if (Array.isArray(body)) return body.slice(1);
  return isObject(body) ? { ...body, planted: true } : `${body}planted`;
}
