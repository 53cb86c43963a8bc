/** Flags for requests that another server over the same store serves. Names are kube-apiserver's. */
import { integerWithin } from "./flag-values.ts";
import type { Flag } from "./flags.ts";

export const peerFlags: readonly Flag[] = [
  {
    term: "--peer-ca-file <file>",
    help: "PEM file with the certificate authorities of other servers over the same store. Requests for resources that only they serve are forwarded to them. Needs --proxy-client-cert-file. The file is reloaded when it changes.",
    set: (text, { server }) => {
      delete server.peerCaFile;
      if (text !== "") server.peerCaFile = text;
    },
  },
  {
    term: "--peer-advertise-ip <ip>",
    help: "Address at which other servers over the same store reach this one, with --peer-advertise-port. Without both, they use that of --advertise-address.",
    set: (text, { server }) => {
      delete server.peerAdvertiseIp;
      if (text !== "") server.peerAdvertiseIp = text;
    },
  },
  {
    term: "--peer-advertise-port <port>",
    help: "Port for --peer-advertise-ip.",
    set: (text, { server }) => {
      delete server.peerAdvertisePort;
      if (text !== "") server.peerAdvertisePort = integerWithin(text, { min: 1, max: 65_535 });
    },
  },
];
