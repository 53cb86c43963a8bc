/** Finds out whether a long answer may be compressed: reads only, and only by who asks for it. Source: resource-api §4.4, gate APIResponseCompression. */
import type { Filter } from "../contract.ts";
import { acceptsGzip } from "../representation/gzip.ts";

export const compressionFilter: Filter = (context) => {
  const { verb } = context.info;
  context.gzip = (verb === "get" || verb === "list") && acceptsGzip(context.exchange.header("accept-encoding"));
};
