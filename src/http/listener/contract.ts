/** How the listener speaks TLS. */
export interface TlsOptions {
  /** `VersionTLS12`, `VersionTLS13`, or older ones, which mean the first. Empty: the first. */
  readonly minVersion: string;
  /** Names of Go's crypto/tls; those of TLS 1.3 have no effect, as there. None: a good choice. */
  readonly cipherSuites: readonly string[];
  /** Numbers of Go's crypto/tls. None: a good choice. */
  readonly curvePreferences: readonly number[];
  /** Certificates for some names or addresses. */
  readonly named: readonly NamedCertificateFiles[];
}

export interface NamedCertificateFiles {
  readonly certFile: string;
  readonly keyFile: string;
  /** Patterns of names, and addresses; none: those that the certificate says. */
  readonly names: readonly string[];
}
