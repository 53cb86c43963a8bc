/**
 * The kind EncryptionConfiguration.
 * Source: k8s.io/apiserver@v0.36.0/pkg/apis/apiserver/v1/types_encryption.go.
 */

/** The kind EncryptionConfiguration. Lists that are missing in the file are empty. */
export interface EncryptionConfiguration {
  readonly resources: readonly ResourceConfiguration[];
}

/** How the objects of some resources are encrypted. */
export interface ResourceConfiguration {
  /** `secrets`, `deployments.apps`, `*.apps`, `*.` for the core group, or `*.*`. */
  readonly resources: readonly string[];
  /** The first one encrypts, and all decrypt. */
  readonly providers: readonly ProviderConfiguration[];
}

/** One provider: a single field is set. */
export interface ProviderConfiguration {
  readonly aesgcm?: KeysConfiguration;
  readonly aescbc?: KeysConfiguration;
  readonly secretbox?: KeysConfiguration;
  readonly identity?: Readonly<Record<string, never>>;
  readonly kms?: KmsConfiguration;
}

export interface KeysConfiguration {
  readonly keys: readonly { readonly name: string; readonly secret: string }[];
}

/** A key management service. */
export interface KmsConfiguration {
  readonly apiVersion: string;
  readonly name: string;
  readonly cachesize?: number;
  /** A URL with the scheme `unix`. */
  readonly endpoint: string;
  readonly timeoutMs: number;
}
