import assert from "node:assert/strict";
import { test } from "node:test";
import { type Marker, parseMarker } from "./marker.ts";

const check = (text: string): unknown => shown(parseMarker(text));

const shown = ({ name, args, inner, value }: Marker): unknown => [
  name,
  Object.fromEntries(args),
  inner === undefined ? value : shown(inner),
];

const rows: readonly [text: string, expected: unknown][] = [
  ["+k8s:required", ["required", {}, undefined]],
  ["+k8s:maxItems=32", ["maxItems", {}, "32"]],
  ['+k8s:format="k8s-short-name"', ["format", {}, "k8s-short-name"]],
  ["+k8s:minimum=-2147483648", ["minimum", {}, "-2147483648"]],
  [
    '+k8s:alpha(since: "1.36")=+k8s:eachKey=+k8s:format=k8s-uuid',
    ["alpha", { since: "1.36" }, ["eachKey", {}, ["format", {}, "k8s-uuid"]]],
  ],
  ["+k8s:ifEnabled(Gate)=+k8s:optional", ["ifEnabled", { "": "Gate" }, ["optional", {}, undefined]]],
  ['+k8s:ifDisabled("Gate")=+k8s:forbidden', ["ifDisabled", { "": "Gate" }, ["forbidden", {}, undefined]]],
  [
    '+k8s:item(type: "A, (B)", index: 2, on: true)=+k8s:immutable',
    ["item", { type: "A, (B)", index: 2, on: true }, ["immutable", {}, undefined]],
  ],
  ['+k8s:unionMember(union: "u", memberName: "M")', ["unionMember", { union: "u", memberName: "M" }, undefined]],
  ['+k8s:supportsSubresource="/status"', ["supportsSubresource", {}, "/status"]],
];

for (const [text, expected] of rows) {
  test(`parses ${text}`, () => assert.deepEqual(check(text), expected));
}

for (const text of ["required", "+k8s:", "+k8s:item(type: =+k8s:immutable", "+k8s:item(,)=+k8s:immutable"]) {
  test(`rejects ${text}`, () => assert.throws(() => check(text), /malformed/));
}
