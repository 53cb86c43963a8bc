/** What `==` may cost for Kubernetes' own types; `!=` has no such rule upstream. Source: k8s.io/apiserver pkg/cel/library/cost.go */
import { fixed } from "../../cost/range.ts";
import { library } from "../../library.ts";
import { sameType } from "../../types.ts";
import { comparison } from "../costs.ts";
import { authorizerType, decisionType, groupCheckType, pathCheckType, resourceCheckType } from "./authorizer.ts";
import { quantityType } from "./quantity.ts";

const comparedAtOnce = [quantityType, authorizerType, pathCheckType, groupCheckType, resourceCheckType, decisionType];

export const kubernetesEquality = library({
  functions: [
    {
      name: "_==_",
      overloads: [], // Those that are there stay.
      estimate: (call) => {
        const [left, right] = call.args;
        const isOurs =
          left !== undefined && right !== undefined && sameType(left.type, right.type) && comparedAtOnce.some((type) => sameType(type, left.type));
        return isOurs ? { cost: fixed(1) } : comparison.estimate?.(call);
      },
    },
  ],
});
