/** Sends requests whose answers are JSON objects. */
import { JsonSyntaxError, parseEncoded } from "../../lib/json/parse.ts";

/** Sends one request; implemented by `client/client.ts`. */
export interface Sender {
  send(request: {
    method: string;
    path: string;
    headers?: Record<string, string>;
    body?: object;
  }): Promise<{ status: number; body: Buffer }>;
}

/** The server answered with an error. */
export class RequestRejected extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.name = "RequestRejected";
    this.status = status;
  }
}

// biome-ignore lint/suspicious/noExplicitAny: answers are read member by member.
export type Json = Record<string, any>;

/** Sends a request and decodes the answer. @throws RequestRejected with the server's message */
export async function ask(
  server: Sender,
  method: string,
  path: string,
  more: { body?: object; accept?: string } = {},
): Promise<Json> {
  const { body, accept } = more;
  const answer = await server.send({
    method,
    path,
    ...(accept !== undefined && { headers: { accept } }),
    ...(body !== undefined && { body }),
  });
  const decoded = parseObject(answer.body);
  if (answer.status < 300 && decoded !== undefined) return decoded;
  throw new RequestRejected(
    answer.status,
    decoded?.message ?? `${method} ${path}: the server answered ${answer.status}`,
  );
}

/** Returns the JSON object of a body, with bigint for unsafe integers; undefined if it is none. */
export function parseObject(body: Buffer | string): Json | undefined {
  try {
    const value = parseEncoded(Buffer.from(body));
    return typeof value === "object" && value !== null ? (value as Json) : undefined;
  } catch (error) {
    if (error instanceof JsonSyntaxError) return undefined;
    throw error;
  }
}
