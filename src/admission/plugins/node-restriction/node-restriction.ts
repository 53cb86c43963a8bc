/**
 * The plugin NodeRestriction limits a node to its own Node, the pods bound to it, and objects that
 * belong to it.
 * Source: k8s.io/kubernetes@v1.36.0/plugin/pkg/admission/noderestriction/admission.go.
 */
import { nodeIdentity } from "../../../apimachinery/node-identity.ts";
import { quoteGo } from "../../../lib/json/quote.ts";
import type { AdmissionPlugin } from "../../contract.ts";
import { rejection } from "../../rejection.ts";
import { checkClaim } from "./claims.ts";
import type { Check, NodeRestrictionNeeds } from "./contract.ts";
import { objectFinder } from "./find-object.ts";
import { checkNode } from "./nodes.ts";
import { checkCsiNode, checkLease, checkResourceSlice } from "./own-objects.ts";
import { checkPodCertificateRequest } from "./pod-certificate-requests.ts";
import { checkPod } from "./pods.ts";
import { checkServiceAccount } from "./service-accounts.ts";
import { checkSigningRequest } from "./signing-requests.ts";

/** By group and resource. The authorizer alone decides about other resources. */
const checks: Readonly<Record<string, Check>> = {
  "/pods": checkPod,
  "/nodes": checkNode,
  "/persistentvolumeclaims": checkClaim,
  "/serviceaccounts": checkServiceAccount,
  "certificates.k8s.io/podcertificaterequests": checkPodCertificateRequest,
  "certificates.k8s.io/certificatesigningrequests": checkSigningRequest,
  "coordination.k8s.io/leases": checkLease,
  "storage.k8s.io/csinodes": checkCsiNode,
  "resource.k8s.io/resourceslices": checkResourceSlice,
};

/** @returns the plugin NodeRestriction */
export function nodeRestriction(needs: NodeRestrictionNeeds): AdmissionPlugin {
  const find = objectFinder(needs.catalog);
  return {
    name: "NodeRestriction",
    mutate(attributes) {
      const node = nodeIdentity(attributes.user);
      if (node === undefined || attributes.operation === "CONNECT") return;
      if (node === "")
        throw rejection(attributes, `could not determine node from user ${quoteGo(attributes.user.name)}`);
      const { group, resource } = attributes.target.resource.definition;
      return checks[`${group}/${resource}`]?.({ node, attributes, find, needs });
    },
  };
}
