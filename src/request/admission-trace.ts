/** What admission did to a request, for clients that ask for an explanation. */

/** The request header, whose value is `admission`; also of the response that has an explanation. */
export const explainHeader = "coxswain-explain";

/** Receives what plugins, webhooks and policies do to one request, in order. */
export interface AdmissionTrace {
  add(step: TraceStep): void;
}

/** What a plugin, or one of its webhooks or policies, did to a request. */
export interface TraceStep {
  /** The name of the plugin. */
  readonly plugin: string;
  readonly phase: "mutating" | "validating";
  /** The webhook or policy; undefined for the plugin as a whole. */
  readonly part?: string;
  /**
   * The objects that the step shows: configuration, binding, parameters. Users who cannot get one
   * of them do not see the step.
   */
  readonly objects?: readonly TracedObject[];
  /** `skipped`: it does not match the request, for the reason in `message`. */
  readonly outcome: "skipped" | "unchanged" | "changed" | "allowed" | "rejected" | "failed";
  readonly message?: string;
  /** The change as a JSON Patch. */
  readonly patch?: readonly object[];
  readonly seconds: number;
}

/** An object that a step of an explanation shows. */
export interface TracedObject {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
}

/** What admission plugins did to the request of a client that requested an explanation. */
export interface AdmissionExplanation {
  readonly trace: AdmissionTrace;
  /** Sends the explanation instead of the response, which it contains. */
  answer(status: number, contentType: string, body: Buffer): void;
}
