/** What only a server with a TracingConfiguration loads. */
export { readTracingConfiguration } from "../http/tracing/configuration.ts";
export { openTracing } from "../http/tracing/open-tracing.ts";
