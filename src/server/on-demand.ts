/**
 * Code that only some options need, loaded as one module with the first of them: OpenID Connect issuers and their
 * proxies, authorization configuration files, authentication and authorization webhooks.
 */
export { followAuthenticators } from "../authentication/configuration/follow-configuration.ts";
export { authenticationSettings } from "../authentication/configuration/settings.ts";
export { openEgressSelector } from "../authentication/egress/selector.ts";
export { parseAuthorizationConfiguration } from "../authorization/configuration/configuration.ts";
export { followConfiguration } from "../authorization/configuration/follow-configuration.ts";
export { openWebhook } from "../authorization/webhook/open-webhook.ts";
export { openTokenWebhook } from "./token-webhook.ts";
