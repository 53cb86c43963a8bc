/** What a file of authorizers and webhooks need, loaded where there are some: expressions, the client of webhooks. */
export { openWebhook } from "../webhook/open-webhook.ts";
export { parseAuthorizationConfiguration } from "./configuration.ts";
export { followConfiguration } from "./follow-configuration.ts";
