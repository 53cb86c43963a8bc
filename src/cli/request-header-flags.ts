/** Flags of the authenticating proxy. Names and defaults are kube-apiserver's. */
import type { RequestHeaderOptions } from "../authentication/contract.ts";
import { stringSlice, unlessEmpty } from "./flag-values.ts";
import type { Flag } from "./flags.ts";

type Lists = {
  [Key in keyof RequestHeaderOptions as RequestHeaderOptions[Key] extends readonly string[]
    ? Key
    : never]: readonly string[];
};

const list = (key: keyof Lists): Flag["set"] => {
  return (text, { server }) => {
    server.requestHeader = { ...server.requestHeader, [key]: [...server.requestHeader[key], ...stringSlice(text)] };
  };
};

export const requestHeaderFlags: readonly Flag[] = [
  {
    term: "--requestheader-client-ca-file <file>",
    help: "PEM file with the certificate authorities of authenticating proxies; the headers of a client with a certificate from one of them name the user. The file is reloaded when it changes.",
    set: (text, { server }) => {
      server.requestHeader = { ...server.requestHeader, clientCaFile: unlessEmpty(text) };
    },
  },
  {
    term: "--requestheader-allowed-names <names>",
    help: "Comma-separated list of allowed common names of proxy certificates. If unset, any.",
    set: list("allowedNames"),
  },
  {
    term: "--requestheader-username-headers <names>",
    help: "Comma-separated list of headers with the user name; the first with a value is used. X-Remote-User is common.",
    set: list("usernameHeaders"),
  },
  {
    term: "--requestheader-uid-headers <names>",
    help: "Comma-separated list of headers with the user's UID; the first with a value is used. The list must include X-Remote-Uid.",
    set: list("uidHeaders"),
  },
  {
    term: "--requestheader-group-headers <names>",
    help: "Comma-separated list of headers with the user's groups. X-Remote-Group is suggested.",
    set: list("groupHeaders"),
  },
  {
    term: "--requestheader-extra-headers-prefix <prefixes>",
    help: "Comma-separated list of prefixes of headers with extra attributes of the user. X-Remote-Extra- is suggested.",
    set: list("extraHeaderPrefixes"),
  },
];
