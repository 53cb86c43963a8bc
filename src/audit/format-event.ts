/**
 * Formats events as JSON or in the legacy format.
 * Source: k8s.io/apiserver@v0.36.0/pkg/apis/audit/v1/types.go and pkg/audit/format.go.
 */
import { formatMicroTime } from "../apimachinery/clock.ts";
import type { UserInfo } from "../apimachinery/user.ts";
import { encodeAny, encodeString } from "../lib/json/encode-any.ts";
import { quoteGo } from "../lib/json/quote.ts";
import { trimEndOf } from "../lib/text/trim.ts";
import type { ResponseStatus } from "../request/audit.ts";
import type { AuditEvent, ObjectReference } from "./contract.ts";

const typeMeta = '"kind":"Event","apiVersion":"audit.k8s.io/v1",';

/** Formats an event as a line of JSON, including the newline, with fields in upstream's order. */
export function formatJsonEvent(event: AuditEvent): string {
  return `{${typeMeta}${formatFields(event)}}\n`;
}

/** Formats an event as an item of an EventList: without kind, apiVersion and newline. */
export function formatListedEvent(event: AuditEvent): string {
  return `{${formatFields(event)}}`;
}

/** Formats an EventList. @param events items formatted by {@link formatListedEvent} */
export function formatEventList(events: readonly string[]): string {
  return `{"kind":"EventList","apiVersion":"audit.k8s.io/v1","metadata":{},"items":[${events.join(",")}]}\n`;
}

function formatFields(event: AuditEvent): string {
  let text = `"level":"${event.level}","auditID":${encodeString(event.auditId)},"stage":"${event.stage}"`;
  text += `,"requestURI":${encodeString(event.requestUri)},"verb":${encodeString(event.verb)},"user":${userJson(event.user)}`;
  if (event.impersonatedUser !== undefined) text += `,"impersonatedUser":${userJson(event.impersonatedUser)}`;
  if (event.impersonationConstraint !== "")
    text += `,"authenticationMetadata":{"impersonationConstraint":${encodeString(event.impersonationConstraint)}}`;
  if (event.sourceIps.length > 0) text += `,"sourceIPs":${listJson(event.sourceIps)}`;
  if (event.userAgent !== "") text += `,"userAgent":${encodeString(event.userAgent)}`;
  if (event.objectRef !== undefined) text += `,"objectRef":${referenceJson(event.objectRef)}`;
  if (event.responseStatus !== undefined) text += `,"responseStatus":${statusJson(event.responseStatus)}`;
  if (event.requestObject !== undefined) text += `,"requestObject":${event.requestObject}`;
  if (event.responseObject !== undefined) text += `,"responseObject":${event.responseObject}`;
  text += `,"requestReceivedTimestamp":"${formatMicroTime(event.requestReceivedAt)}","stageTimestamp":"${formatMicroTime(event.stageAt)}"`;
  return event.annotations.size === 0 ? text : `${text},"annotations":${mapJson(event.annotations, encodeString)}`;
}

function userJson(user: UserInfo | undefined): string {
  if (user === undefined) return "{}";
  const fields: string[] = [];
  if (user.name !== "") fields.push(`"username":${encodeString(user.name)}`);
  if (user.uid !== "") fields.push(`"uid":${encodeString(user.uid)}`);
  if (user.groups.length > 0) fields.push(`"groups":${listJson(user.groups)}`);
  if (user.extra.size > 0) fields.push(`"extra":${mapJson(user.extra, listJson)}`);
  return `{${fields.join(",")}}`;
}

function listJson(texts: readonly string[]): string {
  return `[${texts.map(encodeString).join(",")}]`;
}

function mapJson<T>(map: ReadonlyMap<string, T>, encode: (value: T) => string): string {
  const keys = [...map.keys()].sort();
  return `{${keys.map((key) => `${encodeString(key)}:${encode(map.get(key) as T)}`).join(",")}}`;
}

const referenceFields = [
  "resource",
  "namespace",
  "name",
  "uid",
  "apiGroup",
  "apiVersion",
  "resourceVersion",
  "subresource",
] as const;

function referenceJson(reference: ObjectReference): string {
  let text = "";
  for (const field of referenceFields) {
    if (reference[field] !== "") text += `${text === "" ? "" : ","}"${field}":${encodeString(reference[field])}`;
  }
  return `{${text}}`;
}

function statusJson({ status = "", message = "", reason = "", details, code = 0 }: ResponseStatus): string {
  let text = '{"metadata":{}';
  if (status !== "") text += `,"status":${encodeString(status)}`;
  if (message !== "") text += `,"message":${encodeString(message)}`;
  if (reason !== "") text += `,"reason":${encodeString(reason)}`;
  if (details !== undefined) text += `,"details":${encodeAny(details)}`;
  return code === 0 ? `${text}}` : `${text},"code":${code}}`;
}

/** Formats an event as a line of the legacy format, including the newline. */
export function formatLegacyEvent(event: AuditEvent): string {
  const { user, impersonatedUser: as } = event;
  const hasUser = user !== undefined && user.name !== "";
  const values: [name: string, value: string][] = [
    ["id", event.auditId],
    ["stage", event.stage],
    ["ip", event.sourceIps[0] ?? "<unknown>"],
    ["method", event.verb],
    ["user", hasUser ? user.name : "<none>"],
    ["groups", hasUser && user.groups.length > 0 ? quotedList(user.groups) : "<none>"],
    ["as", as?.name ?? "<self>"],
    ["asgroups", as === undefined || as.groups.length === 0 ? "<lookup>" : quotedList(as.groups)],
    ["user-agent", event.userAgent],
    ["namespace", event.objectRef?.namespace || "<none>"],
    ["uri", event.requestUri],
    ["response", event.responseStatus === undefined ? "<deferred>" : String(event.responseStatus.code ?? 0)],
  ];
  const time = trimEndOf(trimEndOf(new Date(event.requestReceivedAt).toISOString(), "0Z"), ".");
  return `${time}Z AUDIT: ${values.map(([name, value]) => `${name}=${quoteGo(value)}`).join(" ")}\n`;
}

function quotedList(texts: readonly string[]): string {
  return texts.map(quoteGo).join(",");
}
