/** The timeline: what clients asked of a server, what it answered, and what changed. */
import type { WebhookReview } from "../../request/webhook-review.ts";

/** A position in the timeline, for {@link Timeline.entries}. */
export type TimelineMark = number;

/**
 * Records the requests of all clients, within limits of number and bytes; the oldest are dropped.
 *
 * Values of Secrets, request bodies and headers, and so credentials, are never part of it.
 */
export interface Timeline {
  /** Entries that were dropped, because newer ones took their place. */
  readonly dropped: number;
  /** The current end: entries since this mark are those of requests that begin later, and of watches that end later. */
  mark(): TimelineMark;
  /**
   * The entries, oldest first.
   * @param options `since`: only entries since this mark, and watches that ended since
   */
  entries(options?: { readonly since?: TimelineMark }): readonly TimelineEntry[];
  /** The watches that are open now, with the number of events that they have got, oldest first. */
  openWatches(): readonly TimelineRequest[];
  /**
   * The entries as text for a terminal: a line for each request, and indented lines for what it changed. Equal requests
   * that change nothing, such as polls, are one line; writes of the server itself to other objects and namespaces
   * are only counted. Control characters are escaped.
   */
  format(options?: { readonly since?: TimelineMark }): string;
}

/** One entry of the timeline. */
export type TimelineEntry = TimelineRequest | TimelineServerWrite | TimelineFault | TimelineClock | TimelineReview;

/** What all entries have. */
export interface TimelineEntryBase {
  /** Increases by one for each entry. */
  readonly sequence: number;
  /** When it began: milliseconds since 1970, by the clock of the server. */
  readonly at: number;
}

/** A request of a client. Watches are requests, too. */
export interface TimelineRequest extends TimelineEntryBase {
  readonly kind: "request";
  /** `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`, or the method of other paths. */
  readonly verb: string;
  /** Without the query. */
  readonly path: string;
  /** These are empty where the path has none, and for paths that name no resource. */
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  readonly fieldSelector: string;
  readonly labelSelector: string;
  /** The user whose rights apply; empty if authentication failed. */
  readonly user: string;
  readonly userAgent: string;
  /** The address of the client. */
  readonly client: string;
  /** The status code; 0 until there is an answer, and if the connection closed before. */
  readonly code: number;
  /** The reason of an error, such as `Conflict`; empty for other answers. */
  readonly reason: string;
  /** The message of an error; empty for errors about Secrets, which can contain values, except when rights are missing. */
  readonly message: string;
  /** By the clock of the server; undefined until the end. */
  readonly durationMs: number | undefined;
  readonly dryRun: boolean;
  /** For watches: the events sent so far. */
  readonly events: number | undefined;
  /** The rule of `faults` that changed the answer; undefined for others. */
  readonly fault: string | undefined;
  /** What the request changed in the store. */
  readonly changes: readonly TimelineChange[];
  /** Changes beyond the limit, which are only counted. */
  readonly moreChanges: number;
}

/** A write that the server made by itself, such as of its garbage collector. */
export interface TimelineServerWrite extends TimelineEntryBase {
  readonly kind: "server";
  readonly change: TimelineChange;
}

/** A rule of `faults` was added or removed, or changed the answer to a request. */
export interface TimelineFault extends TimelineEntryBase {
  readonly kind: "fault";
  readonly action: "added" | "removed" | "hit";
  /** The id of the rule. */
  readonly rule: string;
  /** The rule as text; for a hit, the request. */
  readonly text: string;
}

/** A client began to move the virtual clock of the server. */
export interface TimelineClock extends TimelineEntryBase {
  readonly kind: "clock";
  /** How, such as `advanced by 1h`. */
  readonly text: string;
}

/** The server called a webhook. The message is empty for reviews of Secrets, which can contain values. */
export interface TimelineReview extends TimelineEntryBase, WebhookReview {
  readonly kind: "review";
}

/** A change of one object. */
export interface TimelineChange {
  readonly action: "created" | "updated" | "deleted";
  /** At the storage version. */
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  /** For updates: fields that differ, without managedFields and resourceVersion. */
  readonly fields: readonly ChangedField[];
  /** Fields beyond the limit, which are only counted. */
  readonly moreFields: number;
}

/** A field before and after an update. */
export interface ChangedField {
  /** Such as `spec.containers[web].image`: items of lists are named by name, type or index. */
  readonly path: string;
  /** JSON, shortened; undefined when the field was absent. `(hidden)` for values of Secrets. */
  readonly before: string | undefined;
  /** As `before`. */
  readonly after: string | undefined;
}

/** The limits of a timeline. */
export interface TimelineLimits {
  /** 20,000 by default. */
  readonly entriesMax?: number;
  /** Approximate bytes of entries, and of objects before and after changes; 16 MiB by default. */
  readonly bytesMax?: number;
}
