/** resource.k8s.io: strategies of its kinds, some of which have CEL selectors. */
import type { Strategy } from "../../catalog/strategy-contract.ts";
import { deviceClassWith } from "./device-class.ts";
import { deviceTaintRule } from "./device-taint-rule.ts";
import { resourcePoolStatusRequest } from "./pool-status-request.ts";
import { resourceClaimTemplateWith, resourceClaimWith } from "./resource-claim.ts";
import { resourceSlice } from "./resource-slice.ts";
import type { LoadSelectorChecker } from "./selector-checker.ts";

/**
 * Makes the strategies of the group.
 *
 * @param load loads the checker of selectors; without it they are not checked
 * @returns strategies by `group/resource`
 */
export function resourceKinds(load: LoadSelectorChecker | undefined): Readonly<Record<string, Strategy>> {
  return {
    "resource.k8s.io/deviceclasses": deviceClassWith(load),
    "resource.k8s.io/devicetaintrules": deviceTaintRule,
    "resource.k8s.io/resourceclaims": resourceClaimWith(load),
    "resource.k8s.io/resourceclaimtemplates": resourceClaimTemplateWith(load),
    "resource.k8s.io/resourcepoolstatusrequests": resourcePoolStatusRequest,
    "resource.k8s.io/resourceslices": resourceSlice,
  };
}
