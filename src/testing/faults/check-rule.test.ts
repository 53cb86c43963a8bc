import assert from "node:assert/strict";
import { test } from "node:test";
import { checkFault, checkRule } from "./check-rule.ts";

const types =
  "conflict, gone, tooManyRequests, internalError, timeoutBeforeCommit, timeoutAfterCommit, latency, cutConnection, cutWatch, stallWatch, missingBookmark, staleRead";

const wrongRules: [rule: unknown, message: string][] = [
  [null, "rule: must be an object"],
  [[], "rule: must be an object"],
  [
    { verbs: "get" },
    "rule.verbs: is not known: the fields are user, userAgent, client, verb, resource, subresource, name, namespace, after, count, probability, optional, seed",
  ],
  [{ verb: 1 }, "rule.verb: must be a string"],
  [{ verb: [] }, "rule.verb: must have between 1 and 100 items"],
  [{ verb: ["get", 2] }, "rule.verb[1]: must be a string"],
  [
    { verb: "POST" },
    "rule.verb: no request has the verb POST: use get, list, watch, create, update, patch, delete, deletecollection, proxy, post, put, head, options, or a pattern with *",
  ],
  [
    { verb: ["get", "connect"] },
    "rule.verb[1]: no request has the verb connect: use get, list, watch, create, update, patch, delete, deletecollection, proxy, post, put, head, options, or a pattern with *",
  ],
  [{ name: "x".repeat(1001) }, "rule.name: must have at most 1000 characters"],
  [{ count: 0 }, "rule.count: must be a whole number between 1 and 1000000000"],
  [{ after: 1.5 }, "rule.after: must be a whole number between 0 and 1000000000"],
  [{ probability: 2 }, "rule.probability: must be a number between 0 and 1"],
  [{ probability: Number.NaN }, "rule.probability: must be a number between 0 and 1"],
  [{ optional: 1 }, "rule.optional: must be true or false"],
  [{ seed: -1 }, "rule.seed: must be a whole number between 0 and 4294967295"],
  [
    JSON.parse('{"__proto__": 1}'),
    "rule.__proto__: is not known: the fields are user, userAgent, client, verb, resource, subresource, name, namespace, after, count, probability, optional, seed",
  ],
];
for (const [rule, message] of wrongRules) {
  test(`rejects the rule ${JSON.stringify(rule)?.slice(0, 60)}`, () => {
    assert.throws(() => checkRule(rule), { name: "FaultRuleError", message });
  });
}

const wrongFaults: [fault: unknown, message: string][] = [
  [undefined, "fault: must be an object with the field type"],
  [{}, `fault.type: must be one of ${types}`],
  [{ type: "toString" }, `fault.type: must be one of ${types}`],
  [{ type: "conflict", ms: 1 }, "fault.ms: is not known: there are no fields here"],
  [{ type: "latency" }, "fault.ms: is required"],
  [{ type: "latency", ms: 600_001 }, "fault.ms: must be a whole number between 0 and 600000"],
  [{ type: "cutConnection", when: "later" }, "fault.when: must be one of before, after"],
  [{ type: "cutWatch", how: "x" }, "fault.how: must be one of drop, end"],
  [{ type: "staleRead" }, "fault: needs either changes or ms"],
  [{ type: "staleRead", changes: 1, ms: 1 }, "fault: needs either changes or ms"],
  [
    { type: "tooManyRequests", retryAfterSeconds: 0 },
    "fault.retryAfterSeconds: must be a whole number between 1 and 86400",
  ],
];
for (const [fault, message] of wrongFaults) {
  test(`rejects the fault ${JSON.stringify(fault)}`, () => {
    assert.throws(() => checkFault(fault), { name: "FaultRuleError", message });
  });
}

test("keeps what is valid, without the caller's lists", () => {
  const verb = ["get", "list"];
  const checked = checkRule({ verb, name: "a*", count: undefined, probability: 0.5 });
  verb.push("watch");
  assert.deepEqual(checked, { verb: ["get", "list"], name: "a*", probability: 0.5 });
  assert.deepEqual(checkFault({ type: "latency", ms: 5 }), { type: "latency", ms: 5 });
});
