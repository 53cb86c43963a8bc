/**
 * Upstream's tests of rules, selectors and equivalent resources, replayed.
 * `npm run golden admission-tests` records testdata/rules.jsonl and testdata/matches.jsonl again.
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import {
  attributesOf,
  type RecordedRequest,
  readCalls,
  recordedCatalog,
} from "../../../test/support/recorded-admission.ts";
import { ApiError } from "../../apimachinery/errors.ts";
import type { Resolved } from "../../catalog/contract.ts";
import type { LabelSelectorObject } from "../../lib/selectors/label-object.ts";
import type { AdmissionAttributes } from "../../registry/admission-attributes.ts";
import { inMemory } from "../configurations.ts";
import type { Configuration, Webhook } from "../webhooks/contract.ts";
import { webhookSource } from "../webhooks/source.ts";
import type { Match, MatchCriteria, Rule } from "./contract.ts";
import { openMatching } from "./matcher.ts";
import { compileRule, matchesRule } from "./rules.ts";

type Labels = Readonly<Record<string, string>>;

/** The request with the resources that the call knows. */
function open(
  request: RecordedRequest,
  equivalents: readonly Match[] = [],
  labels?: Labels | null,
): { readonly attributes: AdmissionAttributes; readonly matching: ReturnType<typeof openMatching> } {
  const { group, version, resource } = request.resource;
  const namespaces = new Map(labels ? [[request.namespace ?? "", labels]] : []);
  const catalog = recordedCatalog(request, equivalents, namespaces);
  const target = catalog.find(group, version, resource) as Resolved;
  return { attributes: attributesOf(request, target), matching: openMatching(catalog) };
}

const anything: Rule = { operations: ["*"], apiGroups: ["*"], apiVersions: ["*"], resources: ["*/*"] };

/** The fields that a part of a rule reads. */
const fieldsOf: Readonly<Record<string, (rule: Rule) => Rule>> = {
  group: ({ apiGroups = [] }) => ({ apiGroups }),
  version: ({ apiVersions = [] }) => ({ apiVersions }),
  operation: ({ operations = [] }) => ({ operations }),
  resource: ({ resources = [] }) => ({ resources }),
  scope: ({ scope }) => (scope === undefined ? {} : { scope }),
};

interface RuleCall {
  readonly request: RecordedRequest;
  readonly part?: string;
  readonly rule?: Rule;
  readonly matches?: boolean;
  readonly exempt?: boolean;
  readonly objectSelector?: LabelSelectorObject;
  readonly stored?: Labels;
  readonly labels?: Labels;
}

const criteria: MatchCriteria = {
  resourceRules: [anything],
  matchPolicy: "Exact",
  namespaceSelector: {},
  objectSelector: {},
};

async function checkRuleCall(call: RuleCall): Promise<void> {
  const { request, part, rule, objectSelector } = call;
  const { attributes, matching } = open(request, [], call.stored);
  if (part !== undefined) {
    const compiled = compileRule({ ...anything, ...fieldsOf[part]?.(rule as Rule) });
    assert.equal(matchesRule(compiled, attributes, request.resource), call.matches);
  } else if (objectSelector !== undefined) {
    const matcher = matching.compile({ ...criteria, objectSelector });
    assert.equal((await matcher.match(attributes)) !== undefined, call.matches);
  } else if (call.exempt !== undefined) {
    const configuration: Configuration = [{} as Webhook];
    const webhooks = webhookSource(
      inMemory(() => [configuration]),
      undefined,
    )(attributes);
    assert.deepEqual(webhooks.current(), call.exempt ? [] : configuration);
  } else {
    assert.deepEqual(Object.fromEntries(await matching.namespaces.labels(attributes)), call.labels);
  }
}

for (const [index, call] of readCalls<RuleCall>(join(import.meta.dirname, "testdata/rules.jsonl")).entries()) {
  const { part, rule, exempt, objectSelector, request } = call;
  const what = part ?? (objectSelector ? "object selector" : exempt === undefined ? "namespace labels" : "exemption");
  test(`${index}: ${what} ${JSON.stringify(rule ?? objectSelector ?? request.resource)}`, () => checkRuleCall(call));
}

/** The fields of a webhook, or of `matchConstraints` of a policy, without defaults. */
interface Selected {
  readonly rules?: readonly Rule[] | null;
  readonly resourceRules?: readonly Rule[];
  readonly excludeResourceRules?: readonly Rule[];
  readonly matchPolicy?: MatchCriteria["matchPolicy"] | null;
  readonly namespaceSelector?: LabelSelectorObject | null;
  readonly objectSelector?: LabelSelectorObject | null;
}

interface MatchCall {
  readonly request: RecordedRequest;
  readonly webhook?: Selected;
  readonly policy?: Selected;
  readonly namespaceLabels?: Labels | null;
  readonly equivalents: readonly Match[] | null;
  readonly match: Match | null;
  readonly error?: string;
}

function criteriaOf({ webhook, policy }: MatchCall): MatchCriteria {
  const { rules, resourceRules, excludeResourceRules, matchPolicy, namespaceSelector, objectSelector } =
    webhook ?? policy ?? {};
  return {
    resourceRules: rules ?? resourceRules ?? [],
    isOpen: policy !== undefined,
    excludeResourceRules: excludeResourceRules ?? [],
    matchPolicy: matchPolicy ?? "Exact",
    namespaceSelector: namespaceSelector ?? {},
    objectSelector: objectSelector ?? {},
  };
}

async function outcomeOf(call: MatchCall): Promise<Pick<MatchCall, "match" | "error">> {
  const { attributes, matching } = open(call.request, call.equivalents ?? [], call.namespaceLabels);
  try {
    return { match: (await matching.compile(criteriaOf(call)).match(attributes)) ?? null };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { match: null, error: error.message };
  }
}

/** Every stored object has selectors, and every resource a kind of its group. */
function isPossible({ request, webhook, policy, equivalents }: MatchCall): boolean {
  const { namespaceSelector, objectSelector } = webhook ?? policy ?? {};
  const isOwnKind = request.subresource !== undefined || request.kind.group === request.resource.group;
  const isKnown = !equivalents?.some(({ kind }) => kind.kind === "");
  return !!namespaceSelector && !!objectSelector && isOwnKind && isKnown;
}

const calls = readCalls<MatchCall>(join(import.meta.dirname, "testdata/matches.jsonl"));
const possible = calls.filter(isPossible);
for (const [index, call] of possible.entries()) {
  const { request, match, error } = call;
  const does = `${call.webhook ? "a webhook" : "a policy"} ${match ? "matches" : "does not match"}`;
  test(`${index}: ${does} ${JSON.stringify(request.resource)}`, async () =>
    assert.deepEqual(await outcomeOf(call), { match, ...(error !== undefined && { error }) }));
}

test("few calls are impossible", () => assert.equal(calls.length - possible.length, 9));
