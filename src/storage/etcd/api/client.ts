/**
 * Calls etcd's API at one of several members. While none can be reached, calls wait for one, as those
 * of etcd's own client (`defaultWaitForReady` in `go.etcd.io/etcd/client/v3@v3.6.8/options.go`).
 * Source of which calls may be repeated: `retry_interceptor.go` there.
 */
import { type Clock, systemClock } from "../../../apimachinery/clock.ts";
import type { Integer } from "../../../lib/json/values.ts";
import { SharedStoreError, StorageUnavailable } from "../../contract.ts";
import { callHeaders, callUnary, openCall } from "./call.ts";
import { Channel } from "./channel.ts";
import { decodeMessage, encodeMessage, type Message } from "./codec.ts";
import type { CallHeaders } from "./connection.ts";
import { type EtcdTls, endpointOf } from "./endpoints.ts";
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

interface Method {
  readonly path: string;
  readonly request: Message;
  readonly response: Message;
}

const methods = {
  watch: { path: "/etcdserverpb.Watch/Watch", request: watchRequest, response: watchResponse },
  range: { path: "/etcdserverpb.KV/Range", request: rangeRequest, response: rangeResponse },
  txn: { path: "/etcdserverpb.KV/Txn", request: txnRequest, response: txnResponse },
  compact: { path: "/etcdserverpb.KV/Compact", request: compactRequest, response: compactResponse },
  grant: { path: "/etcdserverpb.Lease/LeaseGrant", request: leaseGrantRequest, response: leaseGrantResponse },
  leaseTime: { path: "/etcdserverpb.Lease/LeaseTimeToLive", request: leaseTimeRequest, response: leaseTimeResponse },
  status: { path: "/etcdserverpb.Maintenance/Status", request: statusRequest, response: statusResponse },
} as const satisfies Record<string, Method>;

const streamEnded = "the member ended the watch stream";

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

/** A member, and the headers of calls of each method. */
interface Member {
  readonly channel: Channel;
  readonly headers: ReadonlyMap<Method, CallHeaders>;
}

function memberOf(channel: Channel): Member {
  const headersOf = (method: Method): [Method, CallHeaders] => [method, callHeaders(channel.endpoint, method.path)];
  return { channel, headers: new Map(Object.values(methods).map(headersOf)) };
}

/** Calls the members of a cluster: the same one until it fails, then the next. */
export class EtcdClient {
  readonly #clock: Clock;
  readonly #members: readonly Member[];
  #at = 0;
  #closed = false;
  #waits = true;

  /** @throws Error when a URL is not valid, or a file of TLS cannot be used */
  constructor({ servers, tls, clock }: EtcdClientOptions) {
    this.#clock = clock;
    // The time of networks is that of the system, also in a test that sets the time of the server.
    this.#members = servers.map((url) => memberOf(new Channel(endpointOf(url, tls), systemClock)));
  }

  /** @throws StorageUnavailable · RevisionCompacted · RevisionInFuture */
  range(request: RangeRequest, timeoutMs = readTimeoutMs): Promise<RangeResponse> {
    return this.#read(methods.range, request, timeoutMs);
  }

  /**
   * Calls a transaction once, except at members that cannot be reached.
   * @throws StorageUnavailable when it is not known whether it was made · ValueTooLarge
   */
  txn(request: TxnRequest): Promise<TxnResponse> {
    return this.#write(methods.txn, request);
  }

  /** @throws StorageUnavailable · RevisionCompacted · RevisionInFuture */
  compact(revision: number): Promise<{ header: Header }> {
    return this.#write(methods.compact, { revision, physical: false });
  }

  /** @throws StorageUnavailable */
  grantLease(ttlSeconds: number): Promise<LeaseGrantResponse> {
    return this.#write(methods.grant, { TTL: ttlSeconds });
  }

  /** @throws StorageUnavailable */
  leaseTimeToLive(lease: Integer): Promise<LeaseTimeResponse> {
    return this.#read(methods.leaseTime, { ID: lease }, readTimeoutMs);
  }

  /** The status of the member that is called. @throws StorageUnavailable */
  status(timeoutMs = readTimeoutMs): Promise<StatusResponse> {
    return this.#read(methods.status, {}, timeoutMs);
  }

  /** The status of each member. @throws StorageUnavailable when one does not answer */
  statuses(timeoutMs: number): Promise<StatusResponse[]> {
    return Promise.all(this.#members.map((_, at) => this.statusAt(at, timeoutMs)));
  }

  /** The status of one member. @throws StorageUnavailable when it does not answer */
  statusAt(at: number, timeoutMs: number): Promise<StatusResponse> {
    return this.#call(methods.status, {}, timeoutMs, at);
  }

  /** Opens a watch stream at the member that is called. It ends when that member has no leader. */
  watch(handler: WatchHandler): WatchCall {
    const at = this.#at;
    const { channel, headers } = this.#members[at] as Member;
    let ended = false;
    const end = (error: Error): void => {
      if (ended) return;
      ended = true;
      if (this.#at === at) this.#next();
      handler.end(error);
    };
    const call = openCall(channel, [...(headers.get(methods.watch) as CallHeaders), "hasleader", "true"], {
      message: (bytes) => receive(bytes),
      end: (error) => end(error === undefined ? new StorageUnavailable(streamEnded) : answerOf(error)),
    });
    const receive = (bytes: Buffer): void => {
      if (ended) return;
      let response: WatchResponse;
      try {
        response = decodeMessage(watchResponse, bytes);
      } catch (error) {
        call.cancel();
        return end(answerOf(error));
      }
      handler.response(response);
    };
    return {
      send(request) {
        if (!ended) call.send(encodeMessage(watchRequest, request));
      },
      close() {
        ended = true;
        call.cancel();
      },
      probe: async (timeoutMs) => {
        try {
          await this.#call(methods.status, {}, timeoutMs, at);
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
    for (const { channel } of this.#members) channel.close();
  }

  async #read<T>(method: Method, request: object, timeoutMs: number): Promise<T> {
    const until = this.#clock.now() + timeoutMs;
    /** Why members failed. The last attempt may have too little time to find out. */
    let reason: unknown;
    for (let failed = 0; ; ) {
      const at = this.#at;
      const left = until - this.#clock.now();
      try {
        return await this.#call<T>(
          method,
          request,
          this.#members.length > 1 ? Math.min(attemptTimeoutMs, left) : left,
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

  async #write<T>(method: Method, request: object): Promise<T> {
    const until = this.#clock.now() + unsentTimeoutMs;
    for (let attempt = 1; ; attempt++) {
      const at = this.#at;
      try {
        return await this.#call<T>(method, request, writeTimeoutMs, at);
      } catch (error) {
        if (isFailedMember(error) && this.#at === at) this.#next();
        if (!isUnsent(error) || !this.#waits) throw answerOf(error);
        if (this.#clock.now() + retryMs >= until)
          throw new SharedStoreError("context deadline exceeded", { isTimeout: true, cause: error });
      }
      if (attempt % this.#members.length === 0) await this.#pause();
    }
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => void this.#clock.after(retryMs, resolve));
  }

  #call<T>(method: Method, argument: object, timeoutMs: number, at: number): Promise<T> {
    if (this.#closed) return Promise.reject(new StorageUnavailable("the store is closed"));
    const { channel, headers } = this.#members[at] as Member;
    const request = encodeMessage(method.request, argument);
    return callUnary(channel, headers.get(method) as CallHeaders, request, timeoutMs).then((bytes) =>
      decodeMessage<T>(method.response, bytes),
    );
  }

  #next(): void {
    this.#at = (this.#at + 1) % this.#members.length;
  }
}
