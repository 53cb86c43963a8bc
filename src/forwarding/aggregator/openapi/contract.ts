/** The contract of the OpenAPI documents of other servers. */
import type { RemoteApiService } from "../contract.ts";

/** The OpenAPI v2 document of the server of an APIService. */
export interface RemoteDocument {
  readonly remote: RemoteApiService;
  /** Changes with the document. */
  readonly hash: string;
  /** The document in its canonical form, with all paths of the server. */
  read(): Promise<{ readonly [key: string]: unknown }>;
}

/** An entry of the index of OpenAPI v3 documents. */
export interface RemoteEntry {
  readonly remote: RemoteApiService;
  /** Where clients find the document at this server, usually with a hash. */
  readonly serverRelativeUrl: string;
  /** For servers without v3: the v2 document to convert. Undefined if the server has the document. */
  readonly converted: RemoteDocument | undefined;
}

/** The OpenAPI documents of other servers, as they were last fetched. */
export interface RemoteOpenApi {
  /** Incremented by every change. */
  readonly generation: number;
  /** v2 documents in the order in which they are merged. */
  documents(): readonly RemoteDocument[];
  /** v3 documents by path, such as `apis/example.com/v1`. */
  entries(): ReadonlyMap<string, RemoteEntry>;
}
