import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { AuthorizationAttributes, Authorizer, Decision } from "../../authorization/contract.ts";
import { storedExpressions } from "../../cel-environment/environments.ts";
import { PolicyCompiler } from "../../cel-environment/policy-expressions.ts";
import type { JsonValue } from "../../lib/cel/index.ts";
import { Pauses } from "../../lib/pauses.ts";
import type { AdmissionAttributes } from "../../registry/admission-attributes.ts";
import { AuthorizationChecks } from "./authorization-checks.ts";
import { compileConditions, evaluateConditions } from "./match-conditions.ts";
import { requestBindings } from "./request-bindings.ts";

const object: KubeObject = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", namespace: "team" } };
const attributes = {
  operation: "CREATE",
  target: {
    resource: { definition: { group: "", resource: "configmaps", kind: "ConfigMap" } },
    version: { version: "v1", subresources: [] },
  },
  subresource: "",
  namespace: "team",
  name: "a",
  object,
  user: { name: "jane", uid: "", groups: ["devs"], extra: new Map() },
  dryRun: false,
  options: () => ({ kind: "CreateOptions", apiVersion: "meta.k8s.io/v1" }),
} as unknown as AdmissionAttributes;
const match = {
  resource: { group: "", version: "v1", resource: "configmaps" },
  kind: { group: "", version: "v1", kind: "ConfigMap" },
};
const objects = { object: object as JsonValue, oldObject: null };

interface Answers {
  /** Verbs that are allowed. */
  readonly allowed?: readonly string[];
  readonly isAsynchronous?: boolean;
}

function recordingAuthorizer(
  { allowed = [], isAsynchronous = false }: Answers,
  calls: AuthorizationAttributes[],
): Authorizer {
  return (check) => {
    calls.push(check);
    const decision: Decision = {
      decision: allowed.includes(check.verb) ? "allow" : "noOpinion",
      reason: `of ${check.verb}`,
    };
    return isAsynchronous ? Promise.resolve(decision) : decision;
  };
}

interface Row extends Answers {
  readonly name: string;
  readonly conditions: readonly string[];
  readonly failurePolicy?: "Fail" | "Ignore";
  readonly result: unknown;
  /** Verb and resource or path of each call of the authorizer. */
  readonly calls?: readonly string[];
}

const get = 'authorizer.requestResource.check("get").allowed()';
const path = 'authorizer.path("/healthz").check("post").reason() == "of post"';
const account =
  'authorizer.serviceAccount("team", "robot").group("apps").resource("deployments").namespace("x").check("list").allowed()';
const rows: readonly Row[] = [
  { name: "matches without conditions", conditions: [], result: { matches: true } },
  {
    name: "names the first false condition",
    conditions: ["true", "false", "object.no == 1"],
    result: { matches: false, condition: "c1" },
  },
  {
    name: "prefers a false condition to an error before it",
    conditions: ["object.no == 1", "false"],
    result: { matches: false, condition: "c1" },
  },
  {
    name: "joins errors",
    conditions: ["object.no == 1", "object.none == 1"],
    result: {
      matches: false,
      error:
        "[expression 'object.no == 1' resulted in error: no such key: no, expression 'object.none == 1' resulted in error: no such key: none]",
    },
  },
  {
    name: "ignores errors by the failure policy",
    conditions: ["object.no == 1"],
    failurePolicy: "Ignore",
    result: { matches: false },
  },
  {
    name: "fails on an expression that does not compile",
    conditions: ["object +"],
    result: {
      matches: false,
      error:
        "compilation error: compilation failed: ERROR: <input>:1:9: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}\n | object +\n | ........^",
    },
  },
  {
    name: "reads the request",
    conditions: ['request.userInfo.username == "jane" && request.kind.kind == "ConfigMap"'],
    result: { matches: true },
  },
  ...[false, true].flatMap((isAsynchronous): Row[] => [
    {
      name: "allows",
      conditions: [get],
      allowed: ["get"],
      isAsynchronous,
      result: { matches: true },
      calls: ["jane get configmaps team/a"],
    },
    {
      name: "sends each check once",
      conditions: [get, `${get} || true`, path],
      isAsynchronous,
      result: { matches: false, condition: "c0" },
      calls: ["jane get configmaps team/a", "jane post /healthz"],
    },
    {
      name: "checks a service account",
      conditions: [account],
      allowed: ["list"],
      isAsynchronous,
      result: { matches: true },
      calls: ["system:serviceaccount:team:robot list deployments x/"],
    },
    {
      name: "stops at the budget",
      conditions: ["get", "list", "watch", "create", "update", "patch", "delete", "x"].map(
        (verb) => `authorizer.requestResource.check("${verb}").allowed()`,
      ),
      isAsynchronous,
      result: {
        matches: false,
        error: "validation failed due to running out of cost budget, no further validation rules will be run",
      },
    },
  ]),
];

for (const { name, conditions, failurePolicy = "Fail", result, calls, ...answers } of rows) {
  test(`conditions: ${name}${answers.isAsynchronous ? " with an asynchronous authorizer" : ""}`, async () => {
    const found: AuthorizationAttributes[] = [];
    const checks = new AuthorizationChecks(recordingAuthorizer(answers, found), attributes);
    const options = { hasParams: false, hasAuthorizer: true, hasPatchTypes: false, hasVariables: false };
    const compiler = new PolicyCompiler(storedExpressions(), options);
    const specs = conditions.map((expression, index) => ({ name: `c${index}`, expression }));
    const compiled = compileConditions(compiler, specs, failurePolicy);
    const bindings = requestBindings({ attributes, match, objects, checks });
    const outcome = await checks.evaluate(() => evaluateConditions(compiled, bindings, new Pauses(() => 0)));
    assert.deepEqual(outcome, result);
    if (calls !== undefined)
      assert.deepEqual(
        found.map(
          (call) =>
            `${call.user.name} ${call.verb} ${call.isResourceRequest ? `${call.resource} ${call.namespace}/${call.name}` : call.path}`,
        ),
        calls,
      );
  });
}

test("an evaluation with new checks in each round ends with an error", async () => {
  const checks = new AuthorizationChecks(recordingAuthorizer({ isAsynchronous: true }, []), attributes);
  let round = 0;
  const unit = async (): Promise<unknown> => checks.values.authorizer.decide({ verb: String(round++) });
  await assert.rejects(checks.evaluate(unit), /more than 128 authorization checks/);
});

test("conditions that take more than 5 ms pause before the next one", async () => {
  const checks = new AuthorizationChecks(recordingAuthorizer({}, []), attributes);
  const options = { hasParams: false, hasAuthorizer: true, hasPatchTypes: false, hasVariables: false };
  const compiler = new PolicyCompiler(storedExpressions(), options);
  const specs = ["true", "true", "true"].map((expression, index) => ({ name: `c${index}`, expression }));
  const bindings = requestBindings({ attributes, match, objects, checks });
  let now = 0;
  const pauses = new Pauses(() => (now += 4));
  let hasRun = false;
  setImmediate(() => {
    hasRun = true;
  });
  const outcome = await evaluateConditions(compileConditions(compiler, specs, "Fail"), bindings, pauses);
  assert.deepEqual(outcome, { matches: true });
  assert.equal(hasRun, true);
});
