/** Differences on purpose: they prove that the comparison of an area sees them. */
import { isObject } from "../../src/lib/json/values.ts";
import type { Area } from "./contract.ts";
import type { Reply } from "./run-steps.ts";
import type { Plant } from "./sequence-run.ts";

type Change = (reply: Reply) => Reply;

const withHeader =
  (name: string, value: string): Change =>
  (reply) => ({ ...reply, headers: { ...reply.headers, [name]: [value] } });
const otherStatus: Change = (reply) => ({ ...reply, status: reply.status + 1 });
const otherBody: Change = (reply) => ({ ...reply, body: changedBody(reply.body) });
const otherOrder: Change = (reply) => ({ ...reply, body: reversedKeys(reply.body) });

/** The kinds of difference, each of which some area has. */
const changes: readonly Change[] = [
  otherBody,
  otherStatus,
  otherOrder,
  withHeader("warning", '299 - "planted"'),
  withHeader("content-type", "text/planted"),
];

/** @param at the index of the area, which selects the kind of difference: it is in the second answer */
export function plantIn({ comparesOnlyStatus }: Area, at: number): Plant {
  const change = comparesOnlyStatus ? otherStatus : (changes[at % changes.length] as Change);
  return (reply, ordinal) => (ordinal === 1 ? change(reply) : reply);
}

function changedBody(body: unknown): unknown {
  if (Array.isArray(body)) return body.slice(1);
  return isObject(body) ? { ...body, planted: true } : `${body}planted`;
}

function reversedKeys(body: unknown): unknown {
  return isObject(body) ? Object.fromEntries(Object.entries(body).reverse()) : changedBody(body);
}
