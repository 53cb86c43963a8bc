/** Go's texts for failures of requests to a backend. */
import { quoteGo } from "../../lib/json/quote.ts";
import { streamError } from "../../webhook/connect.ts";
import { WebhookError } from "../../webhook/contract.ts";
import { headerBytesMax } from "./send-request.ts";

/** @returns undefined for errors that are bugs of this server */
export function failureText(error: unknown): string | undefined {
  if (error instanceof WebhookError) return error.message;
  const { code = "", rawPacket } = error as NodeJS.ErrnoException & { rawPacket?: Buffer };
  if (code === "HPE_HEADER_OVERFLOW")
    return `net/http: HTTP/1.x transport connection broken: net/http: server response headers exceeded ${headerBytesMax} bytes; aborted`;
  if (code.startsWith("HPE_")) {
    const [line = ""] = (rawPacket ?? Buffer.alloc(0)).subarray(0, lineMax).toString("latin1").split(/\r?\n/, 1);
    const what = line.startsWith("HTTP/1") ? (error as Error).message : malformedLine(line);
    return `net/http: HTTP/1.x transport connection broken: ${what}`;
  }
  return streamError(error as NodeJS.ErrnoException)?.message;
}

/**
 * The text for a request for an upgrade, which upstream sends and reads with its own code.
 * @returns undefined for errors that are bugs of this server
 */
export function upgradeFailureText(error: unknown): string | undefined {
  const text = failureText(error);
  return text === "EOF" ? "unexpected EOF" : text?.replace(transportBroken, "");
}

const transportBroken = "net/http: HTTP/1.x transport connection broken: ";

/** The error for a first line of another protocol. Source: `ReadResponse` in Go's net/http. */
function malformedLine(line: string): string {
  const [version = "", ...rest] = line.split(" ");
  const [status] = rest.join(" ").trimStart().split(" ");
  if (rest.length === 0) return `malformed HTTP response ${quoteGo(line)}`;
  if (!/^\d{3}$/.test(status as string)) return `malformed HTTP status code ${quoteGo(status as string)}`;
  return `malformed HTTP version ${quoteGo(version)}`;
}

/** The longest line of a malformed response that is quoted, in bytes. */
const lineMax = 256;
