/**
 * What only options ask for, loaded as one piece where there is such an option: issuers of tokens and the ways to them, files that name authorizers,
 * webhooks that know whose a token is or what somebody may do.
 */
export { followAuthenticators } from "../authentication/configuration/follow-configuration.ts";
export { authenticationSettings } from "../authentication/configuration/settings.ts";
export { openEgressSelector } from "../authentication/egress/selector.ts";
export { parseAuthorizationConfiguration } from "../authorization/configuration/configuration.ts";
export { followConfiguration } from "../authorization/configuration/follow-configuration.ts";
export { openWebhook } from "../authorization/webhook/open-webhook.ts";
export { openTokenWebhook } from "./token-webhook.ts";
