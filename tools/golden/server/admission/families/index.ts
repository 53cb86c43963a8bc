/** All families by name; each is a fixture. */
import type { Family } from "./builders.ts";
import { eventRates } from "./event-rates.ts";
import { imagePolicies, imagePoliciesFailingOpen } from "./image-policies.ts";
import { limitRanger } from "./limit-ranger.ts";
import { mutatingPolicies } from "./mutating-policies.ts";
import { namespaceAutoProvision, namespaceExists } from "./namespace-plugins.ts";
import { optionalObjects } from "./optional-objects.ts";
import { ownerReferences } from "./owner-references.ts";
import { podDefaults, podDefaultsWithoutGates } from "./pod-defaults.ts";
import { podGroups } from "./pod-groups.ts";
import { podResizes, podResizesWithoutGates } from "./pod-resizes.ts";
import {
  nodeSelectorsConfigured,
  restrictionsWithoutConfiguration,
  tolerationsConfigured,
} from "./pod-restrictions.ts";
import { podSecurity } from "./pod-security.ts";
import { podSecurityConfiguration } from "./pod-security-configuration.ts";
import { policyBindings } from "./policy-bindings.ts";
import { policyExpressions } from "./policy-expressions.ts";
import { policyRequests } from "./policy-requests.ts";
import { randomScenarios } from "./random.ts";
import { resourceQuota, resourceQuotaLimited } from "./resource-quota.ts";
import { serviceAccounts } from "./service-accounts.ts";
import { podGroupProtection, storagePlugins } from "./storage-plugins.ts";
import { webhookAnswers } from "./webhook-answers.ts";
import { webhookMatching } from "./webhook-matching.ts";
import { webhookOrder, webhookPatches } from "./webhook-patches.ts";
import { webhookRequests } from "./webhook-requests.ts";

export const families: Readonly<Record<string, Family>> = {
  "webhook-requests": webhookRequests,
  "webhook-answers": webhookAnswers,
  "webhook-matching": webhookMatching,
  "webhook-patches": webhookPatches,
  "webhook-order": webhookOrder,
  "policy-expressions": policyExpressions,
  "policy-bindings": policyBindings,
  "policy-requests": policyRequests,
  "mutating-policies": mutatingPolicies,
  random: randomScenarios,
  "optional-objects": optionalObjects,
  "namespace-auto-provision": namespaceAutoProvision,
  "namespace-exists": namespaceExists,
  "owner-references": ownerReferences,
  "pod-security": podSecurity,
  "pod-security-configuration": podSecurityConfiguration,
  "limit-ranger": limitRanger,
  "resource-quota": resourceQuota,
  "resource-quota-limited": resourceQuotaLimited,
  "pod-defaults": podDefaults,
  "pod-defaults-without-gates": podDefaultsWithoutGates,
  "pod-groups": podGroups,
  "pod-resizes": podResizes,
  "pod-resizes-without-gates": podResizesWithoutGates,
  "service-accounts": serviceAccounts,
  "node-selectors": nodeSelectorsConfigured,
  tolerations: tolerationsConfigured,
  "restrictions-without-configuration": restrictionsWithoutConfiguration,
  "event-rates": eventRates,
  "image-policies": imagePolicies,
  "image-policies-failing-open": imagePoliciesFailingOpen,
  "storage-plugins": storagePlugins,
  "pod-group-protection": podGroupProtection,
};
