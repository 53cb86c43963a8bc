/**
 * Calls etcd's API at one of several members. While none can be reached, calls wait for one, as those
 * of etcd's own client (`defaultWaitForReady` in `go.etcd.io/etcd/client/v3@v3.6.8/options.go`).
 * Source of which calls may be repeated: `retry_interceptor.go` there.
 */
import { type ClientDuplexStream, Client as GrpcClient, Metadata, type ServiceError } from "@grpc/grpc-js";
import type { Clock } from "../../../apimachinery/clock.ts";
import { decodeMessage, encodeMessage, type Message } from "../../../lib/grpc/codec.ts";
import { callUnary } from "../../../lib/grpc/unary-call.ts";
import type { Integer } from "../../../lib/json/values.ts";
import { SharedStoreError, StorageUnavailable } from "../../contract.ts";
import { checkHeader, checkRange, checkStatus, checkTxn, checkWatch } from "./check-answers.ts";
import { type Endpoint, type EtcdTls, endpointOf } from "./endpoints.ts";
import { answerOf, isFailedMember, isTimeout, isUnsent } from "./errors.ts";
import {
  compactRequest,
  compactResponse,
  type Header,
  type LeaseGrantResponse,
  type LeaseTimeResponse,
  leaseGrantRequest,
  leaseGrantResponse,
  leaseTimeRequest,
  leaseTimeResponse,
  type RangeRequest,
  type RangeResponse,
  rangeRequest,
  rangeResponse,
  type StatusResponse,
  statusRequest,
  statusResponse,
  type TxnRequest,
  type TxnResponse,
  txnRequest,
  txnResponse,
  type WatchRequest,
  type WatchResponse,
  watchRequest,
  watchResponse,
} from "./messages.ts";
import { tracedCall } from "./traced-call.ts";

export interface EtcdClientOptions {
  /** URLs of members: `http://`, `https://` or `unix://`. */
  readonly servers: readonly string[];
  readonly tls?: EtcdTls;
  readonly clock: Clock;
}

/** A watch stream: sends requests until it ends. */
export interface WatchCall {
  send(request: WatchRequest): void;
  /** Ends it, without a call of `end`. */
  close(): void;
  /** Asks the member for its status, and ends the stream if it does not answer in time. */
  probe(timeoutMs: number): Promise<void>;
}

export interface WatchHandler {
  response(response: WatchResponse): void;
  /** Reports that the member or the connection ended the stream. */
  end(error: Error): void;
}

interface Method<Request, Response> {
  readonly path: string;
  readonly request: Message;
  readonly response: Message;
  /** @throws StorageUnavailable when the response cannot be used */
  readonly check?: (response: Response, request: Request) => void;
}

export const rangeMethod: Method<RangeRequest, RangeResponse> = {
  path: "/etcdserverpb.KV/Range",
  request: rangeRequest,
  response: rangeResponse,
  check: checkRange,
};
const txnMethod: Method<TxnRequest, TxnResponse> = {
  path: "/etcdserverpb.KV/Txn",
  request: txnRequest,
  response: txnResponse,
  check: checkTxn,
};
const compactMethod: Method<{ revision: number; physical: boolean }, { header: Header }> = {
  path: "/etcdserverpb.KV/Compact",
  request: compactRequest,
  response: compactResponse,
  check: checkHeader,
};
const grantMethod: Method<{ TTL: number }, LeaseGrantResponse> = {
  path: "/etcdserverpb.Lease/LeaseGrant",
  request: leaseGrantRequest,
  response: leaseGrantResponse,
};
const leaseTimeMethod: Method<{ ID: Integer }, LeaseTimeResponse> = {
  path: "/etcdserverpb.Lease/LeaseTimeToLive",
  request: leaseTimeRequest,
  response: leaseTimeResponse,
};
const statusMethod: Method<object, StatusResponse> = {
  path: "/etcdserverpb.Maintenance/Status",
  request: statusRequest,
  response: statusResponse,
  check: checkStatus,
};

/** How long a read may take: longer than a request, so that the limit of requests applies. */
const readTimeoutMs = 65_000;
/** How long one member may take for a read before another is asked. */
const attemptTimeoutMs = 3_000;
/** How long a write may take. It is not repeated, because the member may have made it. */
const writeTimeoutMs = 10_000;
/** How long a write waits for a member that can be reached: upstream's limit of requests that write. */
const unsentTimeoutMs = 34_000;
/** The time between two attempts. */
const retryMs = 25;
/** Attempts of a read that members answer with errors. */
const attemptsMax = 100;

/** Calls the members of a cluster: the same one until it fails, then the next. */
export class EtcdClient {
  readonly #clock: Clock;
  readonly #endpoints: readonly Endpoint[];
  readonly #clients: (GrpcClient | undefined)[];
  #at = 0;
  #closed = false;
  #waits = true;

  /** @throws Error when a URL is not valid, or a file of TLS cannot be used */
  constructor({ servers, tls, clock }: EtcdClientOptions) {
    this.#clock = clock;
    this.#endpoints = servers.map((url) => endpointOf(url, tls));
    this.#clients = servers.map(() => undefined);
  }

  /** @throws StorageUnavailable · RevisionCompacted · RevisionInFuture */
  range(request: RangeRequest, timeoutMs = readTimeoutMs): Promise<RangeResponse> {
    return this.#read(rangeMethod, request, timeoutMs);
  }

  /**
   * Calls a transaction once, except at members that cannot be reached.
   * @throws StorageUnavailable when it is not known whether it was made · ValueTooLarge
   */
  txn(request: TxnRequest): Promise<TxnResponse> {
    return this.#write(txnMethod, request);
  }

  /** @throws StorageUnavailable · RevisionCompacted · RevisionInFuture */
  compact(revision: number): Promise<{ header: Header }> {
    return this.#write(compactMethod, { revision, physical: false });
  }

  /** @throws StorageUnavailable */
  grantLease(ttlSeconds: number): Promise<LeaseGrantResponse> {
    return this.#write(grantMethod, { TTL: ttlSeconds });
  }

  /** @throws StorageUnavailable */
  leaseTimeToLive(lease: Integer): Promise<LeaseTimeResponse> {
    return this.#read(leaseTimeMethod, { ID: lease }, readTimeoutMs);
  }

  /** The status of the member that is called. @throws StorageUnavailable */
  status(timeoutMs = readTimeoutMs): Promise<StatusResponse> {
    return this.#read(statusMethod, {}, timeoutMs);
  }

  /** The status of each member. @throws StorageUnavailable when one does not answer */
  statuses(timeoutMs: number): Promise<StatusResponse[]> {
    return Promise.all(this.#endpoints.map((_, at) => this.statusAt(at, timeoutMs)));
  }

  /** The status of one member. @throws StorageUnavailable when it does not answer */
  statusAt(at: number, timeoutMs: number): Promise<StatusResponse> {
    return this.#call(statusMethod, {}, timeoutMs, at);
  }

  /** Opens a watch stream at the member that is called. It ends when that member has no leader. */
  watch(handler: WatchHandler): WatchCall {
    const metadata = new Metadata();
    metadata.set("hasleader", "true");
    const at = this.#at;
    const call: ClientDuplexStream<WatchRequest, WatchResponse> = this.#clientAt(at).makeBidiStreamRequest(
      "/etcdserverpb.Watch/Watch",
      (request: WatchRequest) => encodeMessage(watchRequest, request),
      (bytes: Buffer) => decodeMessage<WatchResponse>(watchResponse, bytes),
      metadata,
    );
    let ended = false;
    const end = (error: Error): void => {
      if (ended) return;
      ended = true;
      if (this.#at === at) this.#next();
      handler.end(error);
    };
    call.on("data", (response: WatchResponse) => {
      if (ended) return;
      try {
        checkWatch(response);
        handler.response(response);
      } catch (error) {
        // Watches of a stream that cannot be read go on with a new one, after a delay.
        end(new StorageUnavailable(`a response of the watch stream cannot be used: ${(error as Error).message}`));
        call.cancel();
      }
    });
    call.on("error", (error: ServiceError) => end(answerOf(error)));
    call.on("end", () => end(new StorageUnavailable("the member ended the watch stream")));
    return {
      send(request) {
        if (!ended) call.write(request);
      },
      close() {
        ended = true;
        call.cancel();
      },
      probe: async (timeoutMs) => {
        try {
          await this.#call(statusMethod, {}, timeoutMs, at);
        } catch (error) {
          end(answerOf(error));
          call.cancel();
        }
      },
    };
  }

  /** Lets no call wait for a member that can be reached. */
  stopWaiting(): void {
    this.#waits = false;
  }

  /** Ends all calls. */
  close(): void {
    this.#closed = true;
    this.#waits = false;
    for (const client of this.#clients) client?.close();
  }

  async #read<Q extends object, T>(method: Method<Q, T>, request: Q, timeoutMs: number): Promise<T> {
    const until = this.#clock.now() + timeoutMs;
    /** Why members failed. The last attempt may have too little time to find out. */
    let reason: unknown;
    for (let failed = 0; ; ) {
      const at = this.#at;
      const left = until - this.#clock.now();
      try {
        return await this.#call(
          method,
          request,
          this.#endpoints.length > 1 ? Math.min(attemptTimeoutMs, left) : left,
          at,
        );
      } catch (error) {
        if (!isFailedMember(error) || !this.#waits) throw answerOf(error);
        if (!isTimeout(error)) reason = error;
        if (this.#at === at) this.#next();
        if (!isUnsent(error)) failed++;
        if (failed >= attemptsMax || this.#clock.now() + retryMs >= until) throw answerOf(reason ?? error);
      }
      await this.#pause();
    }
  }

  async #write<Q extends object, T>(method: Method<Q, T>, request: Q): Promise<T> {
    const until = this.#clock.now() + unsentTimeoutMs;
    for (let attempt = 1; ; attempt++) {
      const at = this.#at;
      try {
        return await this.#call(method, request, writeTimeoutMs, at);
      } catch (error) {
        if (isFailedMember(error) && this.#at === at) this.#next();
        if (!isUnsent(error) || !this.#waits) throw answerOf(error);
        if (this.#clock.now() + retryMs >= until)
          throw new SharedStoreError("context deadline exceeded", { isTimeout: true, cause: error });
      }
      if (attempt % this.#endpoints.length === 0) await this.#pause();
    }
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => void this.#clock.after(retryMs, resolve));
  }

  #call<Q extends object, T>(method: Method<Q, T>, argument: Q, timeoutMs: number, at: number): Promise<T> {
    if (this.#closed) return Promise.reject(new StorageUnavailable("the store is closed"));
    const channel = this.#clientAt(at).getChannel();
    const { path, request, response, check } = method;
    const sent = encodeMessage(request, argument);
    const send = (headers?: Readonly<Record<string, string>>): Promise<Buffer> =>
      callUnary(channel, path, sent, Date.now() + timeoutMs, { headers });
    return tracedCall({ path, request: sent }, send).then((bytes) => {
      const answer = decodeMessage<T>(response, bytes);
      check?.(answer, argument);
      return answer;
    });
  }

  #clientAt(at: number): GrpcClient {
    const { address, credentials, options } = this.#endpoints[at] as Endpoint;
    this.#clients[at] ??= new GrpcClient(address, credentials, options);
    return this.#clients[at] as GrpcClient;
  }

  #next(): void {
    this.#at = (this.#at + 1) % this.#endpoints.length;
  }
}
