import type { LoopbackCredentials } from "../../src/webhook/contract.ts";

/** For clients of webhooks that never call the server itself. */
export const noLoopback: LoopbackCredentials = { token: "loopback", userAgent: "loopback", pinned: () => [] };
