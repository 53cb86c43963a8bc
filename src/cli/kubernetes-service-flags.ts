/** Flags of the Service `kubernetes` and its endpoints. Names and defaults are kube-apiserver's. */
import type { EndpointReconcilerType } from "../controllers/bootstrap/kubernetes-service/contract.ts";
import { FlagValueError, integerWithin } from "./flag-values.ts";
import type { Flag } from "./flags.ts";

const reconcilers: readonly EndpointReconcilerType[] = ["master-count", "lease", "none"];
const anyInteger = { min: Number.MIN_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER };

export const kubernetesServiceFlags: readonly Flag[] = [
  {
    term: "--endpoint-reconciler-type <type>",
    help: "How the endpoints of the Service kubernetes are maintained: lease (the servers that run), master-count (deprecated: as many as --apiserver-count) or none.",
    shown: "lease",
    choices: reconcilers,
    set: (text, { server }) => {
      const type = reconcilers.find((one) => one === (text || "lease"));
      if (type === undefined) throw new FlagValueError(`Reconciler not implemented: ${text}`);
      server.endpointReconciler = type;
    },
  },
  {
    term: "--apiserver-count <int>",
    help: "Number of servers in the cluster, for --endpoint-reconciler-type=master-count.",
    shown: "1",
    deprecated: "apiserver-count is deprecated and will be removed in a future version.",
    set: (text, { server }) => {
      server.apiserverCount = integerWithin(text, anyInteger);
    },
  },
  {
    term: "--kubernetes-service-node-port <int>",
    help: "If not 0, the Service kubernetes is created with the type NodePort and this port.",
    shown: "0",
    set: (text, { server }) => {
      server.kubernetesServiceNodePort = integerWithin(text, anyInteger);
    },
  },
];
