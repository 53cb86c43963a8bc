/**
 * Encodes AdmissionReviews as Go encodes upstream's structs. Source:
 * k8s.io/apiserver@v0.36.0/pkg/admission/plugin/webhook/request/admissionreview.go,
 * k8s.io/api@v0.36.0/admission/v1/types.go.
 */
import type { GroupVersionKind, GroupVersionResource } from "../../apimachinery/object.ts";
import type { UserInfo } from "../../apimachinery/user.ts";
import { encodeAny, encodeSorted, encodeString } from "../../lib/json/encode-any.ts";
import type { AdmissionAttributes } from "../../registry/admission-attributes.ts";
import type { Match } from "../matching/contract.ts";
import { requestedKind, requestedResource } from "../matching/kinds.ts";
import type { ReviewedObjects, ReviewVersion } from "./contract.ts";

interface ReviewOptions extends ReviewedObjects {
  readonly version: ReviewVersion;
  readonly uid: string;
  readonly match: Match;
}

/** Encodes a review of a request. */
export function encodeReview(attributes: AdmissionAttributes, options: ReviewOptions): Buffer {
  const { object, oldObject } = options;
  return Buffer.concat([
    Buffer.from(`${headOf(attributes, options)}"object":`),
    object ?? none,
    oldObjectLabel,
    oldObject ?? none,
    Buffer.from(tailOf(attributes)),
  ]);
}

const none = Buffer.from("null");
const oldObjectLabel = Buffer.from(',"oldObject":');

function headOf(attributes: AdmissionAttributes, { version, uid, match }: ReviewOptions): string {
  const { operation, name, namespace, subresource, user } = attributes;
  return (
    `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/${version}","request":{"uid":"${uid}",` +
    `"kind":${encodeKind(match.kind)},"resource":${encodeResource(match.resource)},` +
    optional("subResource", subresource) +
    `"requestKind":${encodeKind(requestedKind(attributes))},` +
    `"requestResource":${encodeResource(requestedResource(attributes))},` +
    optional("requestSubResource", subresource) +
    optional("name", name) +
    optional("namespace", namespace) +
    `"operation":"${operation}","userInfo":${userOf(user)},`
  );
}

function tailOf({ dryRun, options }: AdmissionAttributes): string {
  return `,"dryRun":${dryRun},"options":${encodeAny(options())}}}\n`;
}

function optional(field: string, text: string): string {
  return text === "" ? "" : `"${field}":${encodeString(text)},`;
}

function encodeKind({ group, version, kind }: GroupVersionKind): string {
  return `{"group":${encodeString(group)},"version":${encodeString(version)},"kind":${encodeString(kind)}}`;
}

function encodeResource({ group, version, resource }: GroupVersionResource): string {
  return `{"group":${encodeString(group)},"version":${encodeString(version)},"resource":${encodeString(resource)}}`;
}

/** A client sends many requests as the same user. */
const encodedUsers = new WeakMap<UserInfo, string>();

function userOf(user: UserInfo): string {
  let json = encodedUsers.get(user);
  if (json === undefined) {
    json = encodeUser(user);
    encodedUsers.set(user, json);
  }
  return json;
}

function encodeUser({ name, uid, groups, extra }: UserInfo): string {
  const members = [
    ...(name === "" ? [] : [`"username":${encodeString(name)}`]),
    ...(uid === "" ? [] : [`"uid":${encodeString(uid)}`]),
    ...(groups.length === 0 ? [] : [`"groups":${encodeAny(groups)}`]),
    ...(extra.size === 0 ? [] : [`"extra":${encodeSorted(Object.fromEntries(extra))}`]),
  ];
  return `{${members.join(",")}}`;
}
