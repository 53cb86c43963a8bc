/**
 * Compiles webhook configurations. Source:
 * k8s.io/apiserver@v0.36.0/pkg/admission/configuration/mutating_webhook_manager.go and
 * pkg/admission/plugin/webhook/accessors.go.
 */
import type { KubeObject } from "../../apimachinery/object.ts";
import type { LabelSelectorObject } from "../../lib/selectors/label-object.ts";
import type { WebhookClientConfig } from "../../webhook/client-config.ts";
import type { SharedClients } from "../../webhook/shared-clients.ts";
import type { Rule } from "../matching/contract.ts";
import type { Matching } from "../matching/matcher.ts";
import type { ConditionsSpec } from "./conditions.ts";
import type { Configuration, ReviewVersion, Webhook, WebhookConditions, WebhookType } from "./contract.ts";

/** What the webhooks of a configuration use. */
export interface CompileNeeds {
  readonly matching: Matching;
  readonly clients: SharedClients;
  readonly type: WebhookType;
  /** Loads the code for conditions, and compiles them. */
  readonly openConditions: (spec: ConditionsSpec) => Promise<WebhookConditions>;
}

/** An entry of `webhooks`. */
interface WebhookSpec {
  readonly name: string;
  readonly clientConfig: WebhookClientConfig;
  readonly rules?: readonly Rule[];
  readonly failurePolicy?: "Fail" | "Ignore";
  readonly matchPolicy?: "Exact" | "Equivalent";
  readonly namespaceSelector?: LabelSelectorObject;
  readonly objectSelector?: LabelSelectorObject;
  readonly sideEffects?: string;
  readonly timeoutSeconds?: number;
  readonly admissionReviewVersions?: readonly string[];
  readonly reinvocationPolicy?: string;
  readonly matchConditions?: ConditionsSpec["conditions"];
}

/** @param object a MutatingWebhookConfiguration or ValidatingWebhookConfiguration, with defaults */
export function compileConfiguration(object: KubeObject, needs: CompileNeeds): Configuration {
  const { name = "" } = object.metadata;
  const specs = (object.webhooks ?? []) as readonly WebhookSpec[];
  const counts = new Map<string, number>();
  return specs.map((spec) => {
    const index = counts.get(spec.name) ?? 0;
    counts.set(spec.name, index + 1);
    return compileWebhook(spec, { uid: `${name}/${spec.name}/${index}`, configuration: name }, needs);
  });
}

/** Releases the clients of a configuration that is no longer used. */
export function releaseConfiguration(configuration: Configuration): void {
  for (const { client } of configuration) client.release();
}

function compileWebhook(
  spec: WebhookSpec,
  identity: Pick<Webhook, "uid" | "configuration">,
  { matching, clients, type, openConditions }: CompileNeeds,
): Webhook {
  const { name, failurePolicy = "Fail", timeoutSeconds = 10, matchConditions: conditions = [] } = spec;
  return {
    ...identity,
    name,
    matcher: matching.compile({
      resourceRules: spec.rules ?? [],
      matchPolicy: spec.matchPolicy ?? "Exact",
      namespaceSelector: spec.namespaceSelector ?? {},
      objectSelector: spec.objectSelector ?? {},
    }),
    conditions:
      conditions.length === 0
        ? undefined
        : openedOnce(() => openConditions({ webhook: name, type, failurePolicy, conditions })),
    client: clients.use(spec.clientConfig),
    failsOpen: failurePolicy === "Ignore",
    timeoutMs: timeoutSeconds * 1000,
    supportsDryRun: spec.sideEffects === "None" || spec.sideEffects === "NoneOnDryRun",
    reviewVersion: spec.admissionReviewVersions?.find(isReviewVersion),
    isReinvoked: spec.reinvocationPolicy === "IfNeeded",
  };
}

const isReviewVersion = (version: string): version is ReviewVersion => version === "v1" || version === "v1beta1";

/** Opens the conditions for the first request that needs them. */
function openedOnce(open: () => Promise<WebhookConditions>): WebhookConditions {
  let opened: Promise<WebhookConditions> | undefined;
  return async (input) => {
    opened ??= open();
    return (await opened)(input);
  };
}
