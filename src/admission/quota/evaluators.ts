/**
 * Finds the evaluator of a resource.
 * Sources: k8s.io/kubernetes@v1.36.0/pkg/quota/v1/install/registry.go,
 * k8s.io/kubernetes@v1.36.0/pkg/quota/v1/evaluator/core/registry.go.
 */
import type { Clock } from "../../apimachinery/clock.ts";
import type { FeatureGates } from "../../apimachinery/feature-gates.ts";
import type { ClaimRelations, Evaluator, Evaluators } from "./contract.ts";
import { objectCounts } from "./object-counts.ts";
import { pods } from "./pods.ts";
import { resourceClaims } from "./resource-claims.ts";
import { services } from "./services.ts";
import { volumeClaims } from "./volume-claims.ts";

/** Not stored, or never counted: by group and resource. */
const ignored: ReadonlySet<string> = new Set([
  "/bindings",
  "/componentstatuses",
  "authentication.k8s.io/tokenreviews",
  "authentication.k8s.io/selfsubjectreviews",
  "authorization.k8s.io/subjectaccessreviews",
  "authorization.k8s.io/selfsubjectaccessreviews",
  "authorization.k8s.io/localsubjectaccessreviews",
  "authorization.k8s.io/selfsubjectrulesreviews",
  "/events",
  "events.k8s.io/events",
]);

/** Resources with an older name for their count, which is that of the resource. */
const withAlias = ["configmaps", "replicationcontrollers", "resourcequotas", "secrets"];

interface EvaluatorOptions {
  readonly clock: Pick<Clock, "now">;
  readonly gates: FeatureGates;
  readonly relations: ClaimRelations;
}

/** Creates the evaluators. Those that only count objects are created when they are needed first. */
export function createEvaluators(options: EvaluatorOptions): Evaluators {
  const known = new Map<string, Evaluator>([
    ["/pods", pods(options)],
    ["/services", services],
    ["/persistentvolumeclaims", volumeClaims(options.gates)],
    ["resource.k8s.io/resourceclaims", resourceClaims(options)],
    ...withAlias.map((resource): [string, Evaluator] => [`/${resource}`, objectCounts("", resource, resource)]),
  ]);
  return {
    of(group, resource) {
      const key = `${group}/${resource}`;
      const existing = known.get(key);
      if (existing !== undefined || ignored.has(key)) return existing;
      const counts = objectCounts(group, resource);
      known.set(key, counts); // As many as there are served kinds.
      return counts;
    },
  };
}
