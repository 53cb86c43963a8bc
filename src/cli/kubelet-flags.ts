/** Flags of connections to kubelets. Names and defaults are kube-apiserver's. */

import type { KubeletOptions } from "../forwarding/kubelet/contract.ts";
import { defaultOptions } from "../server/default-options.ts";
import { boolValue, integerWithin, stringSlice, unlessEmpty } from "./flag-values.ts";
import type { Flag } from "./flags.ts";

const file = (key: "certificateAuthorityFile" | "clientCertificateFile" | "clientKeyFile"): Flag["set"] => {
  return (text, { server }) => {
    server.kubelet = { ...server.kubelet, [key]: unlessEmpty(text) };
  };
};

const port = { min: 0, max: Number.MAX_SAFE_INTEGER };
const willBeRemoved = (name: string): string => `${name} is deprecated and will be removed.`;
const { preferredAddressTypes: defaultTypes }: KubeletOptions = defaultOptions.kubelet;

export const kubeletFlags: readonly Flag[] = [
  {
    term: "--kubelet-certificate-authority <file>",
    help: "PEM file with the certificate authorities of the serving certificates of kubelets. If unset, these are not verified. The file is reloaded when it changes.",
    set: file("certificateAuthorityFile"),
  },
  {
    term: "--kubelet-client-certificate <file>",
    help: "PEM file with the client certificate for kubelets. The file is reloaded when it changes.",
    set: file("clientCertificateFile"),
  },
  {
    term: "--kubelet-client-key <file>",
    help: "PEM file with the key of --kubelet-client-certificate. The file is reloaded when it changes.",
    set: file("clientKeyFile"),
  },
  {
    term: "--kubelet-preferred-address-types <types>",
    help: "Comma-separated list of types of node addresses, the most preferred first: the address of a kubelet is the first one of these types.",
    shown: defaultTypes.join(","),
    set: (text, { server }) => {
      const { preferredAddressTypes: before } = server.kubelet;
      const preferredAddressTypes = [...(before === defaultTypes ? [] : before), ...stringSlice(text)];
      server.kubelet = { ...server.kubelet, preferredAddressTypes };
    },
  },
  {
    term: "--kubelet-port <int>",
    help: "The port of kubelets whose nodes report none.",
    unset: "10250",
    deprecated: willBeRemoved("kubelet-port"),
    set: (text, { server }) => {
      server.kubelet = { ...server.kubelet, port: integerWithin(text, port) };
    },
  },
  {
    term: "--kubelet-check-addresses [bool]",
    help: "Rejects logs, exec, attach and port-forward of kubelets at loopback, link-local, multicast, broadcast and unspecified addresses, which are always rejected for proxies.",
    shown: "false",
    set: (text, { server }) => {
      server.kubelet = { ...server.kubelet, checksAddresses: boolValue(text) };
    },
  },
  {
    term: "--kubelet-read-only-port <int>",
    help: "Without effect, in upstream, too.",
    unset: "10255",
    deprecated: willBeRemoved("kubelet-read-only-port"),
    set: (text) => void integerWithin(text, port),
  },
];
