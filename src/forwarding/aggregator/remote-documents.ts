/** What discovery and OpenAPI documents of other servers have in common. */
import type { Clock } from "../../apimachinery/clock.ts";
import type { Logger } from "../../apimachinery/logger.ts";
import { formatGroupVersion } from "../../apimachinery/object.ts";
import type { ApiServices, BackendAnswer, Backends } from "./contract.ts";

/** The dependencies of a component that fetches documents. */
export interface RemoteDocumentOptions {
  readonly apiServices: Pick<ApiServices, "remotes" | "find" | "onChange">;
  readonly backends: Pick<Backends, "get">;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Calls `run` with the group version of each remote APIService, and again after each change, also
 * when another server does not serve it any more. The core group is always this server's.
 *
 * @returns a function that ends the calls
 */
export function followRemotes(
  apiServices: RemoteDocumentOptions["apiServices"],
  run: (groupVersion: string) => void,
): () => void {
  const report = ({ group, version }: { readonly group: string; readonly version: string }): void => {
    if (group !== "") run(formatGroupVersion(group, version));
  };
  const stop = apiServices.onChange((old, next) => {
    // The group and the version are immutable.
    const remote = [next, old].find((one) => one?.service !== undefined);
    if (remote !== undefined) report(remote);
  });
  for (const remote of apiServices.remotes()) report(remote);
  return stop;
}

/** Messages can quote the server. */
const reasonLengthMax = 1024;

/** The message of any failure, including a document that cannot be decoded: all are the server's. */
export function failureReason(error: unknown): string {
  return (error as Error).message.slice(0, reasonLengthMax);
}

const etagLengthMax = 256;

/** The ETag of an answer, which is sent back to the same server only; empty if it is not usable. */
export function etagOf({ headers }: BackendAnswer): string {
  const [etag = ""] = [headers.etag].flat();
  return etag.length <= etagLengthMax && /^[\x21-\x7e]*$/.test(etag) ? etag : "";
}
