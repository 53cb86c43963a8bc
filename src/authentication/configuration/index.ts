/** What tokens of identity providers need, loaded where there may be some: expressions, key sets, ways to issuers. */
export { openEgressSelector } from "../egress/selector.ts";
export { followAuthenticators } from "./follow-configuration.ts";
export { authenticationSettings } from "./settings.ts";
