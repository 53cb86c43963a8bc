/** Requests the discovery document of an APIService. */
import type { Backends, RemoteApiService } from "../../forwarding/aggregator/contract.ts";
import { formatAddress } from "../../webhook/connect.ts";
import { WebhookError } from "../../webhook/contract.ts";

/** The user may read every discovery document. */
const user = { name: "system:kube-aggregator", groups: ["system:masters"] };
const attempts = 5;
const timeoutMs = 5_000;

/**
 * Probes the server several times at once. Redirects are failures.
 *
 * @returns undefined after the first success, or the message of the last failure
 */
export async function probeDiscovery(backends: Backends, remote: RemoteApiService): Promise<string | undefined> {
  const ended = new AbortController();
  let last = "";
  const attempt = async (): Promise<void> => {
    const failure = await probe(backends, remote, ended.signal);
    if (failure === undefined) return;
    last = failure;
    throw new FailedProbe(failure);
  };
  try {
    await Promise.any(Array.from({ length: attempts }, attempt));
    return undefined;
  } catch (error) {
    if (!(error instanceof AggregateError)) throw error;
    const internal = error.errors.find((one) => !(one instanceof FailedProbe));
    if (internal !== undefined) throw internal;
    return last;
  } finally {
    ended.abort();
  }
}

class FailedProbe extends Error {}

/** @returns the message of a failure */
async function probe(backends: Backends, remote: RemoteApiService, signal: AbortSignal): Promise<string | undefined> {
  const path = remote.group === "" ? `/api/${remote.version}` : `/apis/${remote.group}/${remote.version}`;
  let url = "";
  try {
    const address = await backends.resolve(remote);
    url = `https://${formatAddress(address)}${path}`;
    const status = await backends.status(remote, { path, user, timeoutMs, signal, address });
    if (status >= 200 && status < 300) return undefined;
    return `failing or missing response from ${url}: bad status from ${url}: ${status}`;
  } catch (error) {
    if (!(error instanceof WebhookError)) throw error;
    if (error.kind === "resolve") return error.message;
    const hint = error.kind === "timeout" ? " (Client.Timeout exceeded while awaiting headers)" : "";
    return `failing or missing response from ${url}: ${error.message}${hint}`;
  }
}
