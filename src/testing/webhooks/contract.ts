/**
 * Webhooks of tests: which requests they get, and what they answer. Source: Kubernetes docs, "Dynamic Admission Control"
 * and "Versions in CustomResourceDefinitions", https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/.
 */
import type { GroupVersionKind, GroupVersionResource } from "../../apimachinery/object.ts";

export type { GroupVersionKind, GroupVersionResource } from "../../apimachinery/object.ts";

/** Which requests a webhook gets. Exactly one of the fields is set. */
export type WebhookSpec =
  | { readonly validating: AdmissionWebhookSpec }
  | { readonly mutating: AdmissionWebhookSpec }
  | { readonly conversion: ConversionWebhookSpec };

/**
 * An entry of `webhooks` of a ValidatingWebhookConfiguration or MutatingWebhookConfiguration, without `clientConfig`. All
 * its fields can be set; `name` is generated, `sideEffects` is `None` and `admissionReviewVersions` is `["v1"]` if unset.
 */
export interface AdmissionWebhookSpec {
  /** Such as `names.example.com`, with at least two dots. */
  readonly name?: string;
  /** Which operations on which resources. */
  readonly rules: readonly WebhookRule[];
  /** Only objects of this namespace: a short form of a `namespaceSelector`. */
  readonly namespace?: string;
  /** Any other field of the API, such as `failurePolicy`, `matchConditions` and `timeoutSeconds`. */
  readonly [field: string]: unknown;
}

/** Which operations on which resources a webhook gets. */
export interface WebhookRule {
  /** `CREATE` and `UPDATE` by default. */
  readonly operations?: readonly string[];
  /** The core group, which is empty, by default. */
  readonly apiGroups?: readonly string[];
  /** All by default. */
  readonly apiVersions?: readonly string[];
  /** Such as `pods`. */
  readonly resources: readonly string[];
  /** `*` by default. */
  readonly scope?: string;
}

/** The conversion of a custom resource. */
export interface ConversionWebhookSpec {
  /** The name of the definition, such as `widgets.example.com`, which exists. */
  readonly definition: string;
  /** `["v1"]` by default. */
  readonly conversionReviewVersions?: readonly string[];
}

/** An object as a webhook gets it. */
// biome-ignore lint/suspicious/noExplicitAny: tests read what they expect.
export type WebhookObject = any;

/** The `request` of an AdmissionReview. */
export interface AdmissionRequest {
  readonly uid: string;
  readonly kind: GroupVersionKind;
  readonly resource: GroupVersionResource;
  readonly subResource?: string;
  readonly requestKind?: GroupVersionKind;
  readonly requestResource?: GroupVersionResource;
  readonly requestSubResource?: string;
  readonly name?: string;
  readonly namespace?: string;
  readonly operation: "CREATE" | "UPDATE" | "DELETE" | "CONNECT";
  readonly userInfo: AdmissionUser;
  /** Null for DELETE. A mutating webhook may change it and return it. */
  readonly object: WebhookObject;
  /** Null for CREATE and CONNECT. */
  readonly oldObject: WebhookObject;
  readonly dryRun?: boolean;
  readonly options?: WebhookObject;
}

/** Who sends a request. */
export interface AdmissionUser {
  readonly username?: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** What an admission webhook answers. Without `denied`, the request is allowed. */
export interface AdmissionAnswer {
  /** Rejects the request, with this message. */
  readonly denied?: string;
  /** The status code of a rejection; 403 by default. */
  readonly code?: number;
  /** The reason of a rejection, such as `Forbidden`. */
  readonly reason?: string;
  /** Shown to the client. */
  readonly warnings?: readonly string[];
  /** Added to the audit event. */
  readonly auditAnnotations?: Readonly<Record<string, string>>;
  /** Only mutating webhooks: the object as it should be. The kit sends the difference as a JSON Patch. */
  readonly object?: WebhookObject;
  /** Only mutating webhooks: a JSON Patch. */
  readonly patch?: readonly object[];
}

/** Answers reviews. When it throws, the call fails, and `failurePolicy` decides. */
export type AdmissionHandler = (
  request: AdmissionRequest,
) => AdmissionAnswer | undefined | Promise<AdmissionAnswer | undefined>;

/** Converts an object, which it may change. When it throws, the conversion fails with the message. */
export type ConversionHandler = (
  object: WebhookObject,
  desiredVersion: string,
) => WebhookObject | Promise<WebhookObject>;

/** The handler of a webhook. */
export type WebhookHandler<S extends WebhookSpec> = S extends { readonly conversion: unknown }
  ? ConversionHandler
  : AdmissionHandler;

/** A webhook that the server calls. */
export interface TestWebhook {
  /** Of the configuration that has it. */
  readonly name: string;
  /** The kind of this configuration; `CustomResourceDefinition` for conversions. */
  readonly kind: string;
  /** Where the server calls it. */
  readonly url: string;
  /** The server does not call it any more. Can be called again. @throws Error when the configuration cannot be deleted */
  remove(): Promise<void>;
}
