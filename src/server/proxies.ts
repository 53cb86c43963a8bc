/** Builds the proxies to pods, services and nodes. The first request loads their code. */
import type { Connect } from "../forwarding/contract.ts";
import type { FindNodeKubelet, ResourceProxies } from "../forwarding/proxy/resource-proxies.ts";
import type { ServerOptions } from "./options.ts";

/** @returns the connections by `resource/subresource` of the core group */
export function proxies(
  { proxiedAddresses }: Pick<ServerOptions, "proxiedAddresses">,
  findKubelet: FindNodeKubelet,
): Readonly<Record<string, Connect>> {
  let opened: Promise<ResourceProxies> | undefined;
  const open = async (): Promise<ResourceProxies> => {
    const { resourceProxies } = await import("../forwarding/proxy/resource-proxies.ts");
    return resourceProxies({ policy: proxiedAddresses, findKubelet });
  };
  const through =
    (resource: keyof ResourceProxies): Connect =>
    async (...request) => {
      opened ??= open();
      return (await opened)[resource](...request);
    };
  return { "pods/proxy": through("pods"), "services/proxy": through("services"), "nodes/proxy": through("nodes") };
}
