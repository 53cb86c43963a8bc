/** The order and the differences of a replay. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Line, RequestLine } from "./format.ts";
import { requestDifference } from "./match.ts";
import { type RecordedRequest, recordedRequests, startReplay } from "./replay.ts";

const request = (title: string): RequestLine["request"] => {
  const [method = "", path = ""] = title.split(" ");
  return { method, path, query: [] };
};

/** @param steps a request begins with `GET /a`, and is answered with `= GET /a` */
function recording(steps: readonly string[]): readonly RecordedRequest[] {
  const numbers = new Map<string, number>();
  const lines = steps.map((step, index): Line => {
    if (!step.startsWith("= ")) {
      numbers.set(step, index);
      return { n: index, request: request(step) };
    }
    return { n: numbers.get(step.slice(2)) as number, answer: { status: 200, headers: {} } };
  });
  return recordedRequests(lines);
}

const orders: [title: string, steps: readonly string[], arrives: string, waitsFor: readonly string[]][] = [
  ["a read waits for a write that was answered", ["PUT /a", "= PUT /a", "GET /b", "= GET /b"], "GET /b", ["PUT /a"]],
  ["a read does not wait for a write that overlapped", ["PUT /a", "GET /b", "= PUT /a", "= GET /b"], "GET /b", []],
  ["reads of different paths have no order", ["GET /a", "= GET /a", "GET /b", "= GET /b"], "GET /b", []],
  ["a write waits for a read of the same path", ["GET /a", "= GET /a", "PUT /a", "= PUT /a"], "PUT /a", ["GET /a"]],
  ["a write without an answer precedes nothing", ["PUT /a", "GET /a", "= GET /a"], "GET /a", []],
];
describe("order", () => {
  for (const [title, steps, arrives, waitsFor] of orders) {
    test(title, async () => {
      const replay = startReplay(recording(steps));
      const taken = replay.take(request(arrives)) as RecordedRequest;
      const missing = replay.missing(taken).map(({ request: { method, path } }) => `${method} ${path}`);
      assert.deepEqual(missing, waitsFor);
      const ready = replay.ready(taken);
      for (const other of waitsFor) replay.take(request(other));
      await ready;
    });
  }
});

const pods = "/api/v1/namespaces/default/pods";
const nearest: [title: string, recorded: readonly string[], sent: string, nearest: string][] = [
  ["another name", [`GET ${pods}/a`, "GET /api/v1/nodes/b"], `GET ${pods}/b`, `GET ${pods}/a`],
  ["another method", [`GET ${pods}/a`, "PUT /apis"], `PUT ${pods}/a`, `GET ${pods}/a`],
  [
    "another namespace",
    ["GET /api/v1/namespaces/x/pods/a", "GET /apis"],
    `GET ${pods}/a`,
    "GET /api/v1/namespaces/x/pods/a",
  ],
  ["the same method before another one", [`PUT ${pods}/a`, `GET ${pods}/b`], `GET ${pods}/c`, `GET ${pods}/b`],
];
describe("a request that was not recorded is answered with the nearest one", () => {
  for (const [title, recorded, sent, expected] of nearest) {
    test(title, () => {
      const found = startReplay(recording(recorded)).take(request(sent));
      assert.equal(found, `it was not recorded; the nearest request that has not arrived is ${expected}`);
    });
  }
});

test("a request that arrives more often than it was recorded is rejected", () => {
  const replay = startReplay(recording(["GET /a", "= GET /a"]));
  assert.equal(typeof replay.take(request("GET /a")), "object");
  assert.equal(replay.take(request("GET /a")), "it was recorded once, and has arrived more often");
  assert.equal(replay.take(request("GET /b")), "it was not recorded, and all recorded requests have arrived");
  assert.deepEqual(replay.rest(), []);
});

const placeholder = "redacted-0bad7a563697b0ff19a7c445";
const bodies: [title: string, recorded: unknown, actual: unknown, difference: string | undefined][] = [
  ["the order of members", { a: 1, b: 2 }, { b: 2, a: 1 }, undefined],
  ["a placeholder", { a: `x ${placeholder} y` }, { a: "x secret y" }, undefined],
  ["a placeholder in base64", Buffer.from(placeholder).toString("base64"), "c2VjcmV0", undefined],
  [
    "text around a placeholder",
    `x ${placeholder} y`,
    "x secret z",
    `body: recorded "x ${placeholder} y", received "x secret z"`,
  ],
  [
    "text that is shorter than that around a placeholder",
    `ab${placeholder}bc`,
    "abc",
    `body: recorded "ab${placeholder}bc", received "abc"`,
  ],
  ["times", "2026-01-01T00:00:00Z", "2027-02-02T01:01:01.5Z", undefined],
  ["UUIDs", "01234567-89ab-cdef-0123-456789abcdef", "aaaaaaaa-89ab-cdef-0123-456789abcdef", undefined],
  ["names of Events", "p.0123456789abcdef", "p.1123456789abcdef", undefined],
  ["a missing member", { a: 1 }, {}, "body.a: recorded 1, received nothing"],
  ["a member of Object.prototype", {}, { toString: 1 }, "body.toString: recorded nothing, received 1"],
  ["a longer list", [1], [1, 2], "body: recorded [1], received [1,2]"],
];
const selectors: [title: string, recorded: string, actual: string, matches: boolean][] = [
  ["the order of requirements", "a=1,b!=2,c=3", "c=3,a=1,b!=2", true],
  ["another value", "a=1,b=2", "a=2,b=1", false],
  ["a comma in a value", String.raw`a=1\,b,c=2`, String.raw`c=2,a=1\,b`, true],
  ["a comma in another value", String.raw`a=1\,b,c=2`, String.raw`a=1,b\,c=2`, false],
  ["a backslash before the comma between requirements", String.raw`a=1\\,b=2`, String.raw`b=2,a=1\\`, true],
  ["a missing requirement", "a=1,a=1", "a=1", false],
];
describe("field selectors", () => {
  for (const [title, recorded, actual, matches] of selectors) {
    test(title, () => {
      const selecting = (value: string) => ({ ...request("GET /a"), query: [["fieldSelector", value] as const] });
      assert.equal(requestDifference(selecting(recorded), selecting(actual)) === undefined, matches);
    });
  }
});

describe("differences", () => {
  for (const [title, recorded, actual, difference] of bodies) {
    test(title, () => {
      const withBody = (json: unknown) => ({ ...request("POST /a"), body: { json } });
      assert.equal(requestDifference(withBody(recorded), withBody(actual)), difference);
    });
  }
});
