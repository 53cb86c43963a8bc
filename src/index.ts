/**
 * A Kubernetes API server in this process. Start with `startServer`.
 *
 * @packageDocumentation
 */

export { defaultOptions } from "./server/default-options.ts";
export type * from "./server/public-types.ts";
export { startServer } from "./server/start-server.ts";
