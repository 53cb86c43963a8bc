/**
 * Sets the status of ValidatingAdmissionPolicies: warnings of the type checker. Source:
 * k8s.io/kubernetes@v1.36.0/pkg/controller/validatingadmissionpolicystatus.
 */

import { setImmediate as yieldToOthers } from "node:timers/promises";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { Resolved, ResourceStore } from "../../catalog/contract.ts";
import type { RegistryContext } from "../../registry/contract.ts";
import { type Follower, followCache } from "../../watch-cache/follow.ts";
import { apply } from "../audited-writes.ts";
import type { Controller, ControllerOptions } from "../contract.ts";
import { writesAs } from "../controller-write.ts";
import { openWorkQueue } from "../work-queue.ts";
import { checkedKinds, schemaOfKind } from "./checked-kinds.ts";
import type { PolicyTypeChecker } from "./contract.ts";

const name = "validatingadmissionpolicy-status-controller";
const writes = writesAs(name);
/** Maximum policies in the queue; others wait for the next list. */
const policiesMax = 10_000;
const concurrency = 5;

interface PolicyStatusOptions extends ControllerOptions {
  /** Loads the code of expressions when a policy is checked first. */
  loadChecker(): Promise<PolicyTypeChecker>;
}

/** Creates the controller of the status of policies. */
export function policyStatusController({ registry, logger, queues, loadChecker }: PolicyStatusOptions): Controller {
  const target = registry.catalog.findServed("admissionregistration.k8s.io", "v1", "validatingadmissionpolicies");
  const store = target?.resource.store;
  if (target === undefined || store === undefined) return { start() {}, stop: async () => {} };
  const queue = openWorkQueue({
    registry,
    observer: queues?.(name),
    async reconcile(key, deciding) {
      await checkPolicy(deciding, { target, store, loadChecker }, key);
      return true;
    },
    failed: (key, error) => logger.warn("Failed to check a policy, retrying", { key, error: String(error) }),
    concurrency,
    keysMax: policiesMax,
  });
  let follower: Follower | undefined;
  return {
    start() {
      follower = followCache({
        cache: store.cache,
        prefix: store.form.prefix,
        clock: registry.clock,
        set: ({ key }) => queue.add(key),
        deleted() {},
        knownKeys: () => [],
        missing() {},
        failed: (error) => logger.warn("Failed to list policies", { error: String(error) }),
      });
    },
    async stop() {
      follower?.stop();
      await queue.stop();
    },
  };
}

interface Policies extends Pick<PolicyStatusOptions, "loadChecker"> {
  readonly target: Resolved;
  readonly store: ResourceStore;
}

async function checkPolicy(registry: RegistryContext, policies: Policies, key: string): Promise<void> {
  const { target, store } = policies;
  const entry = store.cache.latest().get(key);
  if (entry === undefined) return;
  const policy = store.decode(entry);
  const { generation = 0 } = policy.metadata;
  if (BigInt(generation) <= BigInt(policy.status?.observedGeneration ?? 0)) return;
  const expressionWarnings = await warningsAbout(registry, policies, policy);
  const intent = {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingAdmissionPolicy",
    metadata: { name: entry.index.name },
    status: {
      observedGeneration: Number(generation),
      typeChecking: expressionWarnings.length === 0 ? {} : { expressionWarnings },
    },
  };
  await apply(registry, {
    ...writes.of(target, "", entry.index.name, "status"),
    fieldManager: name,
    body: Buffer.from(JSON.stringify(intent)),
    force: true,
    fieldValidation: "Ignore",
  });
}

interface Warning {
  readonly fieldRef: string;
  readonly warning: string;
}

/** Other requests are served between two expressions. */
async function warningsAbout(
  { catalog }: RegistryContext,
  { loadChecker }: Policies,
  policy: KubeObject,
): Promise<Warning[]> {
  const kinds = checkedKinds(catalog, policy);
  if (kinds.length === 0) return [];
  const { paramKind, variables = [] } = policy.spec;
  const params = paramKind && { schema: schemaOfKind(catalog, paramKind) };
  const check = (await loadChecker())(kinds, { variables, params });
  const warnings: Warning[] = [];
  for (const { fieldRef, expression } of expressionsOf(policy)) {
    await yieldToOthers();
    const warning = check(expression);
    if (warning !== "") warnings.push({ fieldRef, warning });
  }
  return warnings;
}

function* expressionsOf({ spec }: KubeObject): Iterable<{ readonly fieldRef: string; readonly expression: string }> {
  for (const [index, { expression, messageExpression = "" }] of (spec.validations ?? []).entries()) {
    const path = `spec.validations[${index}]`;
    yield { fieldRef: `${path}.expression`, expression };
    if (messageExpression !== "") yield { fieldRef: `${path}.messageExpression`, expression: messageExpression };
  }
}
