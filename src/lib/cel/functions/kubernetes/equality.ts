/**
 * The cost of `==` for the types of Kubernetes. As in Kubernetes, `!=` has no such rule.
 * Source: k8s.io/apiserver@v0.36.0/pkg/cel/library/cost.go
 */
import { fixed, type Range, timesFactor } from "../../cost/range.ts";
import type { RuntimeCost, SizedNode } from "../../declarations.ts";
import { library } from "../../library.ts";
import { boolType, parameterType, sameType } from "../../types.ts";
import { equal } from "../../values/equality.ts";
import { CelOpaque } from "../../values/value.ts";
import { comparison, traversalFactor } from "../costs.ts";
import { declare, overload } from "../declare.ts";
import { authorizerType, decisionType, groupCheckType, pathCheckType, resourceCheckType } from "./authorizer.ts";
import { cidrType } from "./cidr.ts";
import { formatType } from "./format.ts";
import { ipType } from "./ip.ts";
import { quantityType } from "./quantity.ts";
import { semverType } from "./semver.ts";
import { urlType } from "./url.ts";

/** Types whose comparison costs one unit. */
const comparedInOneUnit = [
  quantityType,
  semverType,
  ipType,
  cidrType,
  authorizerType,
  pathCheckType,
  groupCheckType,
  resourceCheckType,
  decisionType,
];

const any = parameterType("A");

const formatNameMax = 64n;

function costOf(left: SizedNode, right: SizedNode): Range | undefined {
  if (!sameType(left.type, right.type)) return undefined;
  if (comparedInOneUnit.some((type) => sameType(type, left.type))) return fixed(1);
  if (sameType(left.type, formatType)) return timesFactor({ min: 1n, max: formatNameMax }, traversalFactor);
  return sameType(left.type, urlType)
    ? timesFactor({ min: 1n, max: right.size?.max ?? 1n }, traversalFactor)
    : undefined;
}

const comparisonCost = comparison.cost as RuntimeCost;

/** Replaces the costs of `==`. */
export const kubernetesEquality = library({
  functions: [
    declare(
      "_==_",
      overload("equals", [any, any], boolType, {
        evaluate: equal,
        cost: (args) => (args[0] instanceof CelOpaque ? 1 : comparisonCost(args, false)),
        estimate: (call) => {
          const [left, right] = call.args;
          const cost = left !== undefined && right !== undefined ? costOf(left, right) : undefined;
          return cost === undefined ? comparison.estimate?.(call) : { cost };
        },
      }),
    ),
  ],
});
