/**
 * Decides whether a long response may be compressed: only for reads, if the client accepts it. Gate
 * APIResponseCompression.
 */
import type { Filter } from "../../request/context.ts";
import { acceptsGzip } from "../../request/gzip.ts";

/** Lets large responses be compressed for clients that accept gzip. */
export const compressionFilter: Filter = (context) => {
  const { verb } = context.info;
  context.gzip = (verb === "get" || verb === "list") && acceptsGzip(context.exchange.header("accept-encoding"));
};
