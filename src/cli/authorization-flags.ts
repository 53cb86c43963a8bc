/** The flags of authorization. Names and defaults are kube-apiserver's. */
import type { Flag } from "./flags.ts";

export const authorizationFlags: readonly Flag[] = [
  {
    term: "--authorization-mode <modes>",
    help: "Ordered list of authorizers with commas between: ABAC, AlwaysAllow, AlwaysDeny, Node, RBAC; may be repeated. If unset, Node,RBAC. Members of system:masters may always do all.",
    set: (text, { server }) => {
      server.authorizationModes = [...server.authorizationModes, ...text.split(",").filter((mode) => mode !== "")];
    },
  },
  {
    term: "--authorization-policy-file <file>",
    help: "File with a policy in JSON per line, for --authorization-mode=ABAC.",
    set: (text, { server }) => {
      server.authorizationPolicyFile = text;
    },
  },
];
