/** The rights that a connection to a pod needs, and when the bodies of actions are admitted. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { openMemoryRegistry } from "../../../test/support/memory-registry.ts";
import { ask } from "../../../test/support/request-context.ts";
import { createAdmission } from "../../admission/chain.ts";
import type { AdmissionPlugin } from "../../admission/contract.ts";
import { notFound, plainError } from "../../apimachinery/errors.ts";
import { parseFeatureGates } from "../../apimachinery/feature-gates.ts";
import { createActions } from "../../apis/subresources.ts";
import type { Connect } from "../../forwarding/contract.ts";
import type { RegistryContext } from "../../registry/contract.ts";
import { sendError } from "../errors.ts";
import { subresourceEndpoints } from "./subresources.ts";

const quiet = { info() {}, warn() {}, error() {} };
const gateOff = "AuthorizePodWebsocketUpgradeCreatePermission=false";
const missing = 'pods "a" not found';
/** What a connection answers that the user may open. */
const connect: Connect = async ({ info }) => {
  throw notFound({ group: "", resource: "pods" }, info.name);
};
const connections = Object.fromEntries(
  ["attach", "exec", "log", "portforward", "proxy"].map((name) => [`pods/${name}`, connect]),
);

/** With the error of the authorizer, which allows nothing then. */
const rows: [
  line: string,
  gates: string,
  error: string | undefined,
  asked: string[],
  status: number,
  message: string,
][] = [
  ["GET exec", "", undefined, ["create"], 403, 'pods "a" is forbidden: no'],
  ["GET attach", "", undefined, ["create"], 403, 'pods "a" is forbidden: no'],
  ["GET portforward", "", undefined, ["create"], 403, 'pods "a" is forbidden: no'],
  ["GET exec", "", "it is away", ["create"], 500, "it is away"],
  ["POST exec", "", undefined, [], 404, missing],
  ["GET log", "", undefined, [], 404, missing],
  ["GET proxy", "", undefined, [], 404, missing],
  ["GET exec", gateOff, undefined, [], 404, missing],
];

for (const [line, featureGates, error, asked, status, message] of rows) {
  test(`${line} ${featureGates} ${error ?? ""}`.trim(), async () => {
    const verbs: string[] = [];
    const { registry, close } = await openMemoryRegistry();
    const gated: RegistryContext = { ...registry, gates: parseFeatureGates(featureGates).gates };
    const [method, subresource] = line.split(" ");
    const endpoints = subresourceEndpoints({ createActions: {}, connections }, ({ verb, resource, name }) => {
      assert.deepEqual([resource, name], ["pods", "a"]);
      verbs.push(verb);
      return { decision: "noOpinion", reason: "no", ...(error !== undefined && { error }) };
    });
    const answer = await ask(
      async (context) => {
        context.resolved = registry.catalog.find("", "v1", "pods");
        try {
          await endpoints[`/pods/${subresource}`]?.(context, gated);
        } catch (problem) {
          sendError(context, problem, quiet);
        }
      },
      { method, path: `/api/v1/namespaces/n/pods/a/${subresource}?command=x` },
    );
    assert.deepEqual([answer.status, JSON.parse(answer.body.toString()).message, verbs], [status, message, asked]);
    await close();
  });
}

const target = { name: "n" };
const otherName = (kind: string): string => `name in URL does not match name in ${kind} object`;

/** The answer, and whether validating plugins were called; they reject everything. */
const bodies: readonly (readonly [path: string, body: object, message: string, admitted: unknown])[] = [
  ["pods/p/binding", { metadata: { name: "q" }, target }, otherName("Binding"), undefined],
  ["pods/p/binding", { metadata: { name: "p" } }, "target.name: Required value", undefined],
  ["bindings", { metadata: { name: "p" } }, "target.name: Required value", undefined],
  ["pods/p/binding", { metadata: { name: "p" }, target }, "rejected", { name: "n" }],
  ["bindings", { metadata: { name: "p" }, target }, "rejected", { name: "n" }],
  ["pods/p/eviction", { metadata: { name: "q" } }, otherName("Eviction"), undefined],
  ["pods/p/eviction?dryRun=All", { metadata: { name: "p" }, deleteOptions: {} }, "rejected", { dryRun: ["All"] }],
];

for (const [path, body, message, admitted] of bodies)
  test(`plugins validate the body after its own checks: POST ${path} ${JSON.stringify(body)}`, async () => {
    let seen: unknown;
    const plugin: AdmissionPlugin = {
      name: "RejectsAll",
      validate({ object }) {
        seen = structuredClone(object?.target ?? object?.deleteOptions);
        throw plainError("rejected");
      },
    };
    const { registry, close } = await openMemoryRegistry();
    const admitting: RegistryContext = { ...registry, admission: createAdmission([plugin]) };
    const endpoints = subresourceEndpoints({ createActions, connections: {} }, () => assert.fail("authorizes"));
    const [resource, , subresource = ""] = path.split("?")[0]?.split("/") ?? [];
    const answer = await ask(
      async (context) => {
        context.resolved = registry.catalog.find("", "v1", resource as string);
        try {
          await endpoints[`/${resource}/${subresource}`]?.(context, admitting);
        } catch (problem) {
          sendError(context, problem, quiet);
        }
      },
      { method: "POST", path: `/api/v1/namespaces/n/${path}`, body: Buffer.from(JSON.stringify(body)) },
    );
    assert.deepEqual([JSON.parse(answer.body.toString()).message, seen], [message, admitted]);
    await close();
  });
