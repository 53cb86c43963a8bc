import { privilegedPolicy } from "../../../lib/pod-security/policy.ts";
import type { PodSecurityConfiguration } from "./contract.ts";

/** Without a configuration, only labels of namespaces restrict pods. */
export const defaultConfiguration: PodSecurityConfiguration = {
  defaults: privilegedPolicy,
  exemptions: { usernames: new Set(), namespaces: new Set(), runtimeClasses: new Set() },
};
