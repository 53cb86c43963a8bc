/** Checks the lines of a recording, which can come from anyone. */
import { isObject } from "../../lib/json/values.ts";
import { type Line, recordedHeaders } from "./format.ts";

/** Whether a value is a line of a recording, with members that can be used. */
export function isLine(value: unknown): value is Line {
  if (!isObject(value) || !Number.isSafeInteger(value.n)) return false;
  if ("request" in value) return isRequest(value.request);
  if ("answer" in value) return isAnswer(value.answer);
  return isBody(value.body) || isBody(value.event) || value.end === true;
}

function isRequest(value: unknown): boolean {
  if (!isObject(value) || typeof value.method !== "string" || typeof value.path !== "string") return false;
  const { query, body } = value;
  return Array.isArray(query) && query.every(isParameter) && (body === undefined || isBody(body));
}

function isParameter(value: unknown): boolean {
  return Array.isArray(value) && value.length === 2 && value.every((one) => typeof one === "string");
}

function isAnswer(value: unknown): boolean {
  if (!isObject(value) || !isObject(value.headers)) return false;
  const { status, headers, body } = value;
  return isStatus(status) && Object.entries(headers).every(isHeader) && (body === undefined || isBody(body));
}

/** Answers below 200 are not final, except that of an upgrade. */
function isStatus(value: unknown): boolean {
  return Number.isInteger(value) && (value === 101 || ((value as number) >= 200 && (value as number) < 600));
}

/** Others, such as Content-Length, could damage the answer. Source: RFC 9110, section 5.5. */
function isHeader([name, value]: [string, unknown]): boolean {
  return recordedHeaders.includes(name) && typeof value === "string" && /^[\t\x20-\x7e\x80-\xff]*$/.test(value);
}

function isBody(value: unknown): boolean {
  if (!isObject(value)) return false;
  return "json" in value || [value.text, value.base64, value.omitted].some((text) => typeof text === "string");
}
