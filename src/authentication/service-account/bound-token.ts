/**
 * Tokens that are bound to objects. Source: k8s.io/kubernetes@v1.36.0/pkg/serviceaccount/claims.go.
 */

import { serviceAccountGroups, serviceAccountUser } from "../../apimachinery/service-account.ts";
import type { UserInfo } from "../../apimachinery/user.ts";
import { quoteGo } from "../../lib/json/quote.ts";
import { isObject } from "../../lib/json/values.ts";
import type { NamedObject } from "../contract.ts";
import type { LiveObject, LiveObjects } from "./live-objects.ts";

/** The objects that a token is bound to. */
export interface BoundClaims {
  readonly namespace: string;
  readonly account: NamedObject;
  readonly pod: NamedObject | undefined;
  readonly secret: NamedObject | undefined;
  readonly node: NamedObject | undefined;
  readonly jti: string;
}

/** @returns undefined when the claims are not those of a bound token */
export function readBoundClaims(payload: Readonly<Record<string, unknown>>): BoundClaims | undefined {
  const own = payload["kubernetes.io"];
  if (!isObject(own) || typeof own.namespace !== "string") return undefined;
  const account = readRef(own.serviceaccount);
  if (account === undefined || account.name === "" || account.uid === "") return undefined;
  if (payload.sub !== serviceAccountUser(own.namespace, account.name)) return undefined;
  for (const kind of ["pod", "secret", "node"])
    if (own[kind] !== undefined && readRef(own[kind]) === undefined) return undefined;
  const jti = typeof payload.jti === "string" ? payload.jti : "";
  return {
    namespace: own.namespace,
    account,
    pod: readRef(own.pod),
    secret: readRef(own.secret),
    node: readRef(own.node),
    jti,
  };
}

/** Reads the renewal time. @returns seconds since 1970; undefined when the token has none */
export function readWarnAfter(payload: Readonly<Record<string, unknown>>): number | undefined {
  const own = payload["kubernetes.io"];
  return isObject(own) && typeof own.warnafter === "number" && own.warnafter !== 0 ? own.warnafter : undefined;
}

function readRef(value: unknown): NamedObject | undefined {
  if (!isObject(value)) return undefined;
  const { name = "", uid = "" } = value;
  return typeof name === "string" && typeof uid === "string" ? { name, uid } : undefined;
}

const invalidated = "service account token has been invalidated";

/**
 * Checks that the objects exist.
 *
 * @param deletedBefore milliseconds since 1970; objects whose deletion started before are treated
 *   as deleted
 * @returns undefined when all objects exist
 */
export function boundProblem(
  { namespace, account, pod, secret, node }: BoundClaims,
  live: LiveObjects,
  deletedBefore: number,
): string | undefined {
  const isDeleted = ({ deletedAt }: LiveObject): boolean => deletedAt !== undefined && deletedAt < deletedBefore;
  const found = live.find("serviceaccounts", namespace, account.name);
  if (found === undefined) return `serviceaccounts ${quoteGo(account.name)} not found`;
  if (found.uid !== account.uid) return `service account UID (${found.uid}) does not match claim (${account.uid})`;
  if (isDeleted(found)) return `service account ${namespace}/${account.name} has been deleted`;
  const refs = [
    ["secret", "secrets", namespace, secret],
    ["pod", "pods", namespace, pod],
    // As upstream, the node of a pod is not checked.
    ["node", "nodes", "", pod === undefined ? node : undefined],
  ] as const;
  for (const [what, resource, where, ref] of refs) {
    if (ref === undefined) continue;
    const object = live.find(resource, where, ref.name);
    if (object === undefined) return invalidated;
    if (object.uid !== ref.uid)
      return `${what} UID (${object.uid}) does not match service account ${what} ref claim (${ref.uid})`;
    if (isDeleted(object)) return invalidated;
  }
  return undefined;
}

/**
 * Creates the user, with the bound objects as extra.
 * Source: k8s.io/apiserver@v0.36.0/pkg/authentication/serviceaccount/util.go.
 */
export function boundUser({ namespace, account, pod, node, jti }: BoundClaims): UserInfo {
  const extra = new Map<string, readonly string[]>();
  if (pod !== undefined && pod.name !== "" && pod.uid !== "") {
    extra.set("authentication.kubernetes.io/pod-name", [pod.name]);
    extra.set("authentication.kubernetes.io/pod-uid", [pod.uid]);
  }
  if (jti !== "") extra.set("authentication.kubernetes.io/credential-id", [`JTI=${jti}`]);
  if (node !== undefined && node.name !== "") {
    extra.set("authentication.kubernetes.io/node-name", [node.name]);
    if (node.uid !== "") extra.set("authentication.kubernetes.io/node-uid", [node.uid]);
  }
  return {
    name: serviceAccountUser(namespace, account.name),
    uid: account.uid,
    groups: serviceAccountGroups(namespace),
    extra,
  };
}
