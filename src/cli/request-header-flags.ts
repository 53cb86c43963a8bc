/** Whose headers name the callers of a proxy that authenticates. Names and defaults are kube-apiserver's. */
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
    help: "PEM file with authorities; who shows a client certificate signed by one of them is a proxy, whose headers name its callers. Changes count at once.",
    set: (text, { server }) => {
      server.requestHeader = { ...server.requestHeader, clientCaFile: unlessEmpty(text) };
    },
  },
  {
    term: "--requestheader-allowed-names <names>",
    help: "Common names that the client certificate of a proxy may have, with commas between. If unset, any.",
    set: list("allowedNames"),
  },
  {
    term: "--requestheader-username-headers <names>",
    help: "Headers that name the user, with commas between: the first with a value counts. X-Remote-User is common.",
    set: list("usernameHeaders"),
  },
  {
    term: "--requestheader-uid-headers <names>",
    help: "Headers that tell the user's uid, with commas between: the first with a value counts. X-Remote-Uid must be among them.",
    set: list("uidHeaders"),
  },
  {
    term: "--requestheader-group-headers <names>",
    help: "Headers that name the user's groups, with commas between. X-Remote-Group is suggested.",
    set: list("groupHeaders"),
  },
  {
    term: "--requestheader-extra-headers-prefix <prefixes>",
    help: "What the names of headers with more about the user begin with, with commas between. X-Remote-Extra- is suggested.",
    set: list("extraHeaderPrefixes"),
  },
];
