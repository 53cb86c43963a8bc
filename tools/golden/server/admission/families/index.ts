/** All families by name; each is a fixture. */
import type { Family } from "./builders.ts";
import { webhookRequests } from "./webhook-requests.ts";

export const families: Readonly<Record<string, Family>> = {
  "webhook-requests": webhookRequests,
};
