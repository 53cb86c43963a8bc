import assert from "node:assert/strict";
import { test } from "node:test";
import { checkPossible, type ResourceNames } from "./check-possible.ts";
import type { Fault, FaultRule } from "./contract.ts";

const resources: readonly ResourceNames[] = [
  { group: "", resource: "pods", singular: "pod", kind: "Pod", shortNames: ["po"] },
  { group: "", resource: "events", singular: "event", kind: "Event", shortNames: ["ev"] },
  { group: "apps", resource: "deployments", singular: "deployment", kind: "Deployment", shortNames: ["deploy"] },
  { group: "example.com", resource: "buses", singular: "bus", kind: "Bus", shortNames: [] },
];
const fields = { rule: "rule", fault: "fault" };
const check = (rule: FaultRule, fault: Fault): void => checkPossible(rule, fault, resources, fields);

const impossible: [rule: FaultRule, fault: Fault, message: string][] = [
  [
    { verb: "create" },
    { type: "conflict" },
    "rule.verb: conflict never applies to create: only to update, patch, delete",
  ],
  [
    { verb: ["get", "l*"] },
    { type: "conflict" },
    "rule.verb: conflict never applies to get, l*: only to update, patch, delete",
  ],
  [{ verb: "get" }, { type: "gone" }, "rule.verb: gone never applies to get: only to list, watch"],
  [
    { verb: "list" },
    { type: "timeoutAfterCommit" },
    "rule.verb: timeoutAfterCommit never applies to list: only to create, update, patch, delete, deletecollection",
  ],
  [
    { verb: "watch" },
    { type: "staleRead", changes: 1 },
    "rule.verb: staleRead never applies to watch: only to get, list",
  ],
  [{ verb: "list" }, { type: "cutWatch" }, "rule.verb: cutWatch never applies to list: only to watch"],
  [
    { verb: "watch" },
    { type: "timeoutBeforeCommit" },
    "rule.verb: timeoutBeforeCommit never applies to watch: only to get, list, create, update, patch, delete, deletecollection, proxy, head, post, put, options",
  ],
  [
    { verb: "post", resource: "pods" },
    { type: "internalError" },
    "rule.verb: internalError never applies to post: only to get, list, watch, create, update, patch, delete, deletecollection, proxy",
  ],
  [{ resource: "" }, { type: "conflict" }, "fault.type: conflict applies only to requests for resources"],
  [
    { subresource: "status" },
    { type: "cutWatch" },
    "rule.subresource: cutWatch applies only to requests without a subresource",
  ],
  [{ resource: "pod" }, { type: "conflict" }, 'rule.resource: no resource has the name "pod": use pods'],
  [{ resource: "Pod" }, { type: "conflict" }, 'rule.resource: no resource has the name "Pod": use pods'],
  [{ resource: "Pods" }, { type: "conflict" }, 'rule.resource: no resource has the name "Pods": use pods'],
  [{ resource: ["events", "po"] }, { type: "conflict" }, 'rule.resource: no resource has the name "po": use pods'],
  [{ resource: "bus" }, { type: "conflict" }, 'rule.resource: no resource has the name "bus": use buses'],
  [
    { resource: "deploy.apps" },
    { type: "conflict" },
    'rule.resource: no resource has the name "deploy.apps": use deployments.apps',
  ],
  [
    { resource: "pods/status" },
    { type: "conflict" },
    'rule.resource: "pods/status": the subresource is a field of its own, subresource',
  ],
];
for (const [rule, fault, message] of impossible) {
  test(`rejects ${fault.type} for ${JSON.stringify(rule)}`, () => {
    assert.throws(() => check(rule, fault), { name: "FaultRuleError", message });
  });
}

const possible: [rule: FaultRule, fault: Fault][] = [
  [{}, { type: "conflict" }],
  [{ verb: "*" }, { type: "cutWatch" }],
  [{ verb: ["create", "update"] }, { type: "conflict" }],
  [{ verb: "post" }, { type: "latency", ms: 1 }],
  [{ resource: "", verb: "get" }, { type: "internalError" }],
  [{ resource: ["", "pods"] }, { type: "conflict" }],
  [{ resource: "deployments.apps", subresource: "status" }, { type: "conflict" }],
  [{ resource: "websites.example.com" }, { type: "gone" }],
  [{ resource: "deploy*" }, { type: "gone" }],
  [{ subresource: ["", "status"] }, { type: "staleRead", changes: 1 }],
];
for (const [rule, fault] of possible) {
  test(`accepts ${fault.type} for ${JSON.stringify(rule)}`, () => check(rule, fault));
}
