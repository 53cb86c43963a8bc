/**
 * The plugin PodSecurity applies the Pod Security Standards that the labels of a namespace select.
 * Sources: k8s.io/kubernetes@v1.36.0/plugin/pkg/admission/security/podsecurity/admission.go,
 * k8s.io/pod-security-admission@v0.36.0/admission/admission.go.
 */
import type { Clock } from "../../../apimachinery/clock.ts";
import type { Catalog } from "../../../catalog/contract.ts";
import { podTemplateKinds } from "../../../lib/pod-security/pod-templates.ts";
import { type ParsedPolicy, type Policy, parsePolicy } from "../../../lib/pod-security/policy.ts";
import type { AdmissionAttributes } from "../../../registry/admission-attributes.ts";
import type { AdmissionPlugin } from "../../contract.ts";
import { type Namespaces, namespacesOf } from "../../matching/namespaces.ts";
import type { PodSecurity, PodSecurityConfiguration, PodSecurityObserver } from "./contract.ts";
import { defaultConfiguration } from "./default-configuration.ts";
import { lazyEvaluation } from "./evaluate-template.ts";
import { checkNamespace } from "./namespaces.ts";
import { checkController } from "./pod-controllers.ts";
import { checkPod } from "./pods.ts";

interface Needs {
  readonly catalog: Catalog;
  readonly clock: Clock;
  readonly configuration?: PodSecurityConfiguration | undefined;
  readonly observer: PodSecurityObserver;
  readonly minorMax?: PodSecurity["minorMax"];
}

interface CheckedResource {
  readonly group: string;
  readonly check: (attributes: AdmissionAttributes) => Promise<void>;
}

/** @returns the plugin PodSecurity */
export function podSecurity({
  catalog,
  clock,
  configuration = defaultConfiguration,
  observer,
  minorMax,
}: Needs): AdmissionPlugin {
  const policyOf = namespacePolicies(namespacesOf(catalog), configuration.defaults);
  const plugin: PodSecurity = {
    configuration,
    observer,
    minorMax,
    policyOf,
    evaluate: lazyEvaluation({ observer, minorMax }),
  };
  const checks = new Map<string, CheckedResource>(
    podTemplateKinds.map((kind) => {
      const check: CheckedResource["check"] = (attributes) =>
        kind.path.length === 0 ? checkPod(plugin, attributes, kind) : checkController(plugin, attributes, kind);
      return [kind.resource, { group: kind.group, check }];
    }),
  );
  const needs = { catalog, clock };
  checks.set("namespaces", { group: "", check: (attributes) => checkNamespace(plugin, attributes, needs) });
  return {
    name: "PodSecurity",
    validate(attributes) {
      const { definition } = attributes.target.resource;
      const found = checks.get(definition.resource);
      if (found === undefined || found.group !== definition.group) return;
      if (attributes.operation === "CREATE" || attributes.operation === "UPDATE") return found.check(attributes);
    },
  };
}

type Labels = ReadonlyMap<string, string>;

/** Returns a function that reads the policy of the namespace of a request. */
function namespacePolicies(namespaces: Namespaces, defaults: Policy): PodSecurity["policyOf"] {
  // An entry of the watch cache keeps its map of labels, and a policy lives as long as its entry.
  const parsed = new WeakMap<Labels, ParsedPolicy>();
  const policyOf = (labels: Labels): ParsedPolicy => {
    let policy = parsed.get(labels);
    if (policy === undefined) {
      policy = parsePolicy((label) => labels.get(label), defaults);
      parsed.set(labels, policy);
    }
    return policy;
  };
  return async (attributes) => policyOf(await namespaces.labels(attributes));
}
