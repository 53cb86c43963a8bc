/** The socket as the rest sees it, and what a request carries on its way. */
import type { UserInfo } from "../apimachinery/user.ts";
import type { RequestAudit } from "../audit/contract.ts";
import type { AuditAnnotations } from "../authentication/contract.ts";
import type { Resolved } from "../catalog/contract.ts";
import type { Authorities } from "../lib/x509/authorities.ts";
import type { Encoding } from "./representation/contract.ts";

/** Lower-case names; a list becomes a header line each. */
export type AnswerHeaders = Record<string, string | string[]>;

/** One request and its answer, the same over HTTP/1.1 and HTTP/2. */
export interface Exchange {
  readonly method: string;
  /** Path and query as sent. */
  readonly target: string;
  readonly protocol: "HTTP/1.1" | "HTTP/2.0";
  /** Lower-case name. Repeated headers are joined with `, `. */
  header(name: string): string | undefined;
  /** Names, in any case, and values by turns, each line of its own. */
  readonly rawHeaders: readonly string[];
  /** From here on the request has no such headers: what was meant for this server goes to nobody behind it. @param isMeant gets lower-case names */
  forgetHeaders(isMeant: (name: string) => boolean): void;
  readonly remoteAddress: string;
  /** The client's certificate as its connection presented it, undefined when none; computed once per connection. */
  readonly peerCertificate: PeerCertificate | undefined;
  /** Reads the body. @throws ApiError 413 beyond the limit, 400 when the client went away */
  body(bytesMax: number): Promise<Buffer>;
  /** The whole answer at once. `content-length` is added. What comes after an answer, since the request took too long, goes nowhere. */
  respond(status: number, headers: AnswerHeaders, body?: Buffer): void;
  /** An answer in pieces (lists, watches), on the same terms. */
  stream(status: number, headers: AnswerHeaders): BodyStream;
  /** There when the client wants to go on over a WebSocket and may; over HTTP/2 it never is. */
  readonly webSocket: WebSocketRequest | undefined;
  /** The connection takes no further request. Called before the answer. */
  endConnection(): void;
  /** Called once when the client is gone or the answer is complete. */
  onClose(run: () => void): void;
  readonly closed: boolean;
  /** Whether something was already answered. */
  readonly answered: boolean;
  /** Of the answer; 0 before it. */
  readonly status: number;
  /** Bytes of the answer's body so far. */
  readonly sentBytes: number;
  /** Bytes of the request's body; -1 as long as it has not been read to its end. */
  readonly receivedBytes: number;
}

export interface BodyStream {
  /**
   * @param taken called when the socket has taken the piece, whose memory may be used again; never when the client is gone before
   * @returns false when the caller should wait for `drained` before writing more
   */
  write(piece: Buffer, taken?: () => void): boolean;
  /** Resolves when the socket took what was written, or the client is gone. */
  drained(): Promise<void>;
  /** Bytes written and not yet taken by the socket. */
  readonly pendingBytes: number;
  end(): void;
  /** Cuts the connection or the stream, for a client that does not read. */
  abort(): void;
}

/** Refused by any other answer, which also ends the connection. Source: RFC 6455 §4. */
export interface WebSocketRequest {
  /** The sub-protocols asked for, without those that carry a token. */
  readonly protocols: readonly string[];
  /** Tokens sent as sub-protocols, in base64url; more than one, or one that nobody knows, is for authentication to refuse. No answer repeats them. */
  readonly bearerTokens: readonly string[];
  /**
   * Goes on over a WebSocket. What the client sends is thrown away.
   * @param protocol one of those asked for
   * @returns takes whole frames, and ends with a close frame
   * @throws ApiError 400 when the request is no proper handshake
   */
  accept(protocol: string | undefined): Promise<BodyStream>;
}

export interface PeerCertificate {
  readonly commonName: string;
  readonly organizations: readonly string[];
  /** What the subject says under the identifier of user uids. */
  readonly uids: readonly string[];
  /** SHA-256 of the DER, hex: the credential id. */
  readonly fingerprint: string;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
  /** Whether it is for client use, within its dates by now, and leads to one of these. */
  isTrustedBy(authorities: Authorities): boolean;
}

/** What a path and a method mean. Source: resource-api §4.1, §4.2; upstream's request info. */
export interface RequestInfo {
  readonly isResourceRequest: boolean;
  readonly path: string;
  /** get list watch create update patch delete deletecollection proxy, or the lower-case method for non-resource paths. */
  readonly verb: string;
  /** `api` or `apis` for resource requests. */
  readonly apiPrefix: string;
  readonly group: string;
  readonly version: string;
  readonly namespace: string;
  readonly resource: string;
  readonly subresource: string;
  readonly name: string;
  /** The rest of the path after the subresource (proxy). */
  readonly parts: readonly string[];
  readonly fieldSelector: string;
  readonly labelSelector: string;
  readonly query: URLSearchParams;
}

/** What `Accept` and `pretty` ask for. Source: resource-api §4.4. */
export interface Representation {
  readonly shape: Shape;
  readonly encoding: Encoding;
}

/** What is shown of objects. */
export type Shape =
  | { readonly kind: "object" }
  | {
      readonly kind: "table";
      readonly version: "v1" | "v1beta1";
      readonly includeObject: "None" | "Metadata" | "Object";
    }
  /** `list`: whether it was asked for under the name of the list. */
  | { readonly kind: "metadata"; readonly version: "v1" | "v1beta1"; readonly list: boolean };

export interface RequestContext {
  /** Once a request is audited, one that tells of the answer. */
  exchange: Exchange;
  readonly info: RequestInfo;
  readonly receivedAt: number;
  readonly auditId: string;
  /** Set by the authentication filter; before it nobody may ask. */
  user: UserInfo;
  /** Set once the path was found in the catalogue. */
  resolved: Resolved | undefined;
  /** What this server can write, the first where nothing is asked for. */
  readonly encodings: readonly Encoding[];
  /** In what form the answer is wanted; set once the path was found. */
  representation: Representation;
  /** What is recorded of the request; undefined while, and where, nothing is. */
  audit: RequestAudit | undefined;
  /** What authentication has to say for that. */
  annotations: AuditAnnotations | undefined;
  /** Whether a long answer may be compressed; false until the filter for it ran. */
  gzip: boolean;
  /** Become `Warning` headers, each once, in order. */
  readonly warnings: string[];
  /** Headers every answer to this request carries. */
  readonly headers: AnswerHeaders;
}

/** Looks at a request on its way to the endpoint. @throws ApiError to refuse it */
export type Filter = (context: RequestContext) => void | Promise<void>;
