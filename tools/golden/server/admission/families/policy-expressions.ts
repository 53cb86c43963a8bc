/** What the expressions of validating policies return: verdicts, messages, errors, variables and audit annotations. */
import type { Sent } from "../../../../../test/support/admission-golden.ts";
import type { Family } from "./builders.ts";
import { type PolicyCase, policyScenario, rights } from "./policies.ts";

const validations = (...list: readonly Sent[]): Sent => ({ validations: list });
const when = (expression: string, rest: Sent = {}): PolicyCase => ({ spec: validations({ expression, ...rest }) });
const says = (messageExpression: string, rest: Sent = {}): PolicyCase => when("false", { messageExpression, ...rest });

const verdicts: Readonly<Record<string, PolicyCase>> = {
  true: when("true"),
  false: when("false"),
  message: when("false", { message: "not allowed" }),
  "message-long": when("false", { message: "m".repeat(6000) }),
  "message-special": when("false", { message: '"quotes" <&> ü' }),
  "expression-multiline": when("object == null ||\n  false"),
  "reason-forbidden": when("false", { reason: "Forbidden" }),
  "reason-invalid": when("false", { reason: "Invalid" }),
  "reason-too-large": when("false", { reason: "RequestEntityTooLarge" }),
  "reason-and-message": when("false", { reason: "Forbidden", message: "m" }),
  "two-failures": {
    spec: validations({ expression: "false", message: "one" }, { expression: "false", message: "two" }),
  },
  "second-fails": { spec: validations({ expression: "true" }, { expression: "false", reason: "Invalid" }) },
  "reasons-differ": {
    spec: validations(
      { expression: "false", reason: "Forbidden" },
      { expression: "1 > 2", reason: "RequestEntityTooLarge" },
    ),
  },
  "error-and-failure": { spec: validations({ expression: "object.data.x == '1'" }, { expression: "false" }) },
  "failure-and-error": { spec: validations({ expression: "false" }, { expression: "object.data.x == '1'" }) },
  "old-object": when("oldObject == null"),
  object: when("object != null"),
  data: when("object == null || !has(object.data) || object.data.a == '1'"),
  "data-unsafe": when("object.data.a == '1'"),
  immutable: when("oldObject == null || object == null || object.data == oldObject.data"),
  "has-labels": when("object == null || has(object.metadata.labels)"),
  optional: when("object == null || object.?data.?a.orValue('none') in ['1', 'none']"),
  "name-format": when("object == null || object.metadata.name.matches('^[a-z]+$')"),
  index: when("object.data['c'] == '3'"),
  "number-of-text": when("int(object.data.b) > 30"),
  "number-of-no-number": when("int(object.metadata.name) > 30"),
  "division-by-zero": when("1 / 0 == 1"),
  overflow: when("9223372036854775807 + object.metadata.name.size() > 0"),
  "list-index": when("[1][object.metadata.name.size()] == 1"),
  "all-keys": when("object == null || !has(object.data) || object.data.all(k, size(k) == 1)"),
  "exists-one": when("object == null || !has(object.data) || object.data.exists_one(k, k == 'a')"),
  dyn: when("object == null || dyn(object.metadata.name) == 'b'"),
  kind: when("object == null || object.kind == 'ConfigMap' && object.apiVersion == 'v1'"),
  "creation-time": when(
    "object == null || !has(object.metadata.creationTimestamp) || object.metadata.creationTimestamp > timestamp('2020-01-01T00:00:00Z')",
  ),
  "managed-fields": when("object == null || !has(object.metadata.managedFields)"),
  uid: when("object == null || !has(object.metadata.uid)"),
  namespace: when("namespaceObject.metadata.labels.tier == 'b'"),
  "namespace-name": when("namespaceObject.metadata.name == request.namespace"),
  "namespace-spec": when("has(namespaceObject.spec) && namespaceObject.status.phase == 'Active'"),
  "namespace-annotations": when("namespaceObject.metadata.annotations.a == 'b'"),
  "request-user": when("request.userInfo.username == 'golden-user'"),
  "request-groups": when("request.userInfo.groups.exists(g, g == 'system:masters')"),
  "request-extra": when("!has(request.userInfo.extra) && !has(request.userInfo.uid)"),
  "request-operation": when("request.operation != 'DELETE'"),
  "request-options": when("has(request.options)"),
  authorizer: when("authorizer.group('').resource('secrets').namespace('default').check('get').allowed()"),
  "authorizer-name": when(
    "authorizer.group('apps').resource('deployments').subresource('scale').name('x').check('update').allowed()",
  ),
  "authorizer-request": when("authorizer.requestResource.check('delete').allowed()"),
  "authorizer-path": when("authorizer.path('/metrics').check('get').allowed()"),
  "authorizer-error": when("!authorizer.group('').resource('pods').check('get').errored()"),
  "authorizer-selector": when(
    "authorizer.group('').resource('pods').labelSelector('a=b').fieldSelector('spec.nodeName=n').check('list').allowed()",
  ),
  cost: when(
    "object == null || [1,2,3,4,5,6,7,8,9,10].all(a, [1,2,3,4,5,6,7,8,9,10].all(b, [1,2,3,4,5,6,7,8,9,10].all(c, [1,2,3,4,5,6,7,8,9,10].all(d, [1,2,3,4,5,6,7,8,9,10].all(e, a + b + c + d + e > 0)))))",
  ),
};

const messages: Readonly<Record<string, PolicyCase>> = {
  plain: says("'name is ' + request.name"),
  "with-message": says("'from the expression'", { message: "from the message" }),
  empty: says("''"),
  "empty-with-message": says("''", { message: "from the message" }),
  blank: says("'  '"),
  trimmed: says("'  text  '"),
  "line-break": says("'one\\ntwo'"),
  "line-break-with-message": says("'one\\ntwo'", { message: "from the message" }),
  error: says("'value ' + object.data.none"),
  "error-with-message": says("'value ' + object.data.none", { message: "from the message" }),
  "too-long": says(
    "[1,2,3,4,5,6,7,8,9,10].map(x, 'ten chars.ten chars.ten chars.ten chars.ten chars.ten chars.ten chars.ten chars.ten chars.ten chars.ten chars.ten chars.ten chars.ten chars.ten chars.ten chars.ten chars.ten chars.ten chars.ten chars.ten chars.ten chars.ten chars.ten chars.ten chars.ten chars.ten chars.ten chars.ten chars.ten chars.ten chars.ten chars.ten chars.ten chars.ten chars.ten chars.ten chars.ten chars.ten chars.ten chars.ten chars.ten chars.ten chars.ten chars.ten chars.ten chars.ten chars.ten chars.ten chars.ten chars.ten chars.ten chars.ten chars.ten chars.ten chars.').join('')",
  ),
  unicode: says("'ü \"quoted\" <&>'"),
  namespace: says("namespaceObject.metadata.name"),
  "string-of-number": says("string(object.metadata.name.size() + 1)"),
  operation: says("request.operation + ' ' + request.resource.resource"),
  dyn: says("object == null ? 'none' : string(dyn(object.metadata.name))"),
};

const variable = (name: string, expression: string): Sent => ({ name, expression });

const variables: Readonly<Record<string, PolicyCase>> = {
  one: { spec: { variables: [variable("v", "request.name")], ...validations({ expression: "variables.v == 'a'" }) } },
  chain: {
    spec: {
      variables: [
        variable("v", "request.name"),
        variable("w", "variables.v + '!'"),
        variable("x", "variables.w.size()"),
      ],
      ...validations({ expression: "variables.x == 2", messageExpression: "variables.w + string(variables.x)" }),
    },
  },
  "error-not-used": {
    spec: { variables: [variable("v", "object.data.none")], ...validations({ expression: "true" }) },
  },
  "error-used": {
    spec: { variables: [variable("v", "object.data.none")], ...validations({ expression: "variables.v == ''" }) },
  },
  "error-used-twice": {
    spec: {
      variables: [variable("v", "object.data.none")],
      ...validations({ expression: "variables.v == ''" }, { expression: "variables.v == 'x'" }),
    },
  },
  "error-in-chain": {
    spec: {
      variables: [variable("v", "object.data.none"), variable("w", "variables.v + 'x'")],
      ...validations({ expression: "variables.w == ''" }),
    },
  },
  "short-circuit": {
    spec: {
      variables: [variable("v", "object.data.none")],
      ...validations({ expression: "request.operation == 'CREATE' || variables.v == ''" }),
    },
  },
  list: {
    spec: {
      variables: [variable("v", "object == null || !has(object.data) ? [] : object.data.map(k, k)")],
      ...validations({
        expression: "variables.v.size() < 2",
        messageExpression: "string(variables.v.size()) + ' keys'",
      }),
    },
  },
  authorizer: {
    spec: {
      variables: [variable("v", "authorizer.group('').resource('secrets').check('get')")],
      ...validations({ expression: "variables.v.allowed()", messageExpression: "'reason: ' + variables.v.reason()" }),
    },
  },
  "in-match-condition": {
    spec: {
      variables: [variable("v", "true")],
      matchConditions: [{ name: "c", expression: "request.operation != 'DELETE'" }],
      ...validations({ expression: "!variables.v" }),
    },
  },
};

const annotation = (key: string, valueExpression: string): Sent => ({ key, valueExpression });
const annotated = (list: readonly Sent[], rest: Sent = {}): PolicyCase => ({
  spec: { auditAnnotations: list, ...rest },
});

const auditAnnotations: Readonly<Record<string, PolicyCase>> = {
  one: annotated([annotation("key", "'value of ' + request.name")]),
  two: annotated([annotation("one", "'1'"), annotation("two", "'2'")]),
  empty: annotated([annotation("key", "''")]),
  null: annotated([annotation("key", "null")]),
  error: annotated([annotation("key", "string(object.data.none)")]),
  "error-ignored": annotated([annotation("key", "string(object.data.none)")], { failurePolicy: "Ignore" }),
  "error-and-value": annotated([annotation("error", "string(object.data.none)"), annotation("value", "'v'")]),
  "with-validation": annotated(
    [annotation("key", "'v'")],
    validations({ expression: "request.operation != 'CREATE'" }),
  ),
  variable: annotated([annotation("key", "variables.v")], { variables: [variable("v", "'of variable'")] }),
  long: annotated([
    annotation("key", "[1,2,3,4,5,6,7,8,9,10,11].map(x, 'k'.replace('k', '0123456789')).join('') + request.name"),
  ]),
};

/** Two cases for each expression that fails on some request. */
function ignored(cases: Readonly<Record<string, PolicyCase>>): Record<string, PolicyCase> {
  const failing = /unsafe|index|number|zero|overflow|error|failure|object|annotations|cost|extra|too-long/;
  return Object.fromEntries(
    Object.entries(cases)
      .filter(([label]) => failing.test(label))
      .map(([label, { spec }]) => [label, { spec: { ...spec, failurePolicy: "Ignore" } }]),
  );
}

export const policyExpressions: Family = {
  setup: rights,
  scenarios: [
    policyScenario("verdicts", verdicts),
    policyScenario("verdicts-ignored", ignored(verdicts)),
    policyScenario("messages", messages),
    policyScenario("variables", variables),
    policyScenario("variables-ignored", ignored(variables)),
    policyScenario("audit-annotations", auditAnnotations),
  ],
};
