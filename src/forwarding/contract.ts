/** The contract of requests that other servers answer: kubelets, pods, services and nodes. */
import type { KubeObject } from "../apimachinery/object.ts";
import type { RegistryContext } from "../registry/contract.ts";
import type { RequestState } from "../request/context.ts";

/**
 * Serves a connection that authorization and admission allow.
 * @param connection the options of the connection; undefined for `log`
 * @throws ApiError
 */
export type Connect = (
  context: RequestState,
  registry: RegistryContext,
  connection: KubeObject | undefined,
) => Promise<void>;
