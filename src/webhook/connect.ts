/**
 * Opens a connection to a webhook and verifies its certificate, with the error messages of Go's
 * net, crypto/tls and crypto/x509.
 */
import type { X509Certificate } from "node:crypto";
import net from "node:net";
import tls from "node:tls";
import { ipVersion } from "../lib/ip-range/ip-version.ts";
import { authorityHint } from "./authority-hint.ts";
import { legacyCommonName, reportFlaws } from "./certificate-flaws.ts";
import { type Address, type CertificateObserver, WebhookError, type WebhookErrorKind } from "./contract.ts";

/** The timeout of Go's default dialer. */
const connectTimeoutMs = 30_000;

interface ConnectOptions extends Address {
  /** The limit for opening the connection; 30 s by default. */
  readonly timeoutMs?: number;
  /** Closes the connection before it is open. It aborts with a WebhookError, which is thrown. */
  readonly signal?: AbortSignal;
  /** Undefined for a connection without TLS. */
  readonly tls?: {
    readonly context: tls.SecureContext;
    /** The name or address that the certificate must be valid for. */
    readonly serverName: string;
    readonly insecureSkipTlsVerify: boolean;
    /** PEM of the trusted authorities; undefined for those of the system. */
    readonly ca?: string | undefined;
    /** See `WebhookEndpoint.pinned`. */
    readonly pinned?: (() => readonly Buffer[]) | undefined;
    readonly observer?: CertificateObserver | undefined;
  };
}

/**
 * Opens a connection.
 *
 * @throws WebhookError of kind `connect`, `tls` or `timeout`, or that of the signal; callers add the
 *   request to the message
 */
export function connect(options: ConnectOptions): Promise<net.Socket> {
  const { host, port, timeoutMs = connectTimeoutMs, signal } = options;
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const socket =
      options.tls === undefined ? net.connect({ host, port }) : tls.connect({ host, port, ...tlsOptions(options.tls) });
    let opened = options.tls === undefined;
    const pinned = options.tls?.pinned?.();
    const abort = (): void => fail(signal?.reason);
    const fail = (error: WebhookError): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
      socket.destroy();
      reject(error);
    };
    signal?.addEventListener("abort", abort);
    const timer = setTimeout(
      () => fail(new WebhookError("timeout", `dial tcp ${formatAddress(options)}: i/o timeout`)),
      timeoutMs,
    ).unref();
    socket.once("connect", () => {
      opened = true;
    });
    const onError = (error: NodeJS.ErrnoException): void =>
      fail(opened && options.tls !== undefined ? tlsError(error) : dialError(error, options));
    socket.once("error", onError);
    socket.once(options.tls === undefined ? "connect" : "secureConnect", () => {
      const problem =
        options.tls === undefined ? undefined : observedProblem(socket as tls.TLSSocket, options.tls, pinned);
      if (problem !== undefined)
        return fail(new WebhookError("tls", `tls: failed to verify certificate: x509: ${problem}`));
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
      socket.off("error", onError);
      resolve(socket);
    });
  });
}

function tlsOptions({ context, serverName }: NonNullable<ConnectOptions["tls"]>): tls.ConnectionOptions {
  return {
    secureContext: context,
    ALPNProtocols: ["http/1.1"],
    ...(ipVersion(serverName) === 0 && { servername: serverName }), // SNI does not allow addresses.
    rejectUnauthorized: false, // certificateProblem verifies it with Go's messages.
  };
}

function observedProblem(
  socket: tls.TLSSocket,
  options: NonNullable<ConnectOptions["tls"]>,
  pinned: readonly Buffer[] | undefined,
): string | undefined {
  const problem = certificateProblem(socket, options, pinned);
  const leaf = options.observer && socket.getPeerX509Certificate();
  if (leaf !== undefined && options.observer !== undefined) reportFlaws(leaf, rejectionOf(problem), options.observer);
  return problem;
}

function rejectionOf(problem: string | undefined): Parameters<typeof reportFlaws>[1] {
  if (problem === undefined) return undefined;
  if (problem === legacyCommonName) return "legacy name";
  return problem.startsWith(unknownAuthority) ? "authority" : "other";
}

/**
 * Verifies in Go's order: validity period, name, authority.
 *
 * @param pinnedBefore the pinned certificates at the start of the handshake
 */
function certificateProblem(
  socket: tls.TLSSocket,
  { serverName, insecureSkipTlsVerify, ca, pinned }: NonNullable<ConnectOptions["tls"]>,
  pinnedBefore: readonly Buffer[] = [],
): string | undefined {
  if (insecureSkipTlsVerify) return undefined;
  const certificate = socket.getPeerX509Certificate();
  if (certificate === undefined) return "no certificate"; // Unreachable: a TLS server always sends a certificate.
  if (pinned !== undefined) {
    const isPinned = [...pinnedBefore, ...pinned()].some((one) => one.equals(certificate.raw));
    return isPinned ? undefined : unknownAuthority;
  }
  const problem = timeProblem(certificate) ?? nameProblem(certificate, serverName);
  if (problem !== undefined || socket.authorized) return problem;
  const known = chainProblems.get(String(socket.authorizationError));
  return known ?? unknownAuthority + authorityHint(certificate, ca);
}

const unknownAuthority = "certificate signed by unknown authority";

/** All other errors, such as an expired authority, are reported as an unknown authority. */
const chainProblems: ReadonlyMap<string, string> = new Map([
  ["INVALID_PURPOSE", "certificate specifies an incompatible key usage"],
]);

function timeProblem({ validFromDate, validToDate }: X509Certificate): string | undefined {
  const now = new Date();
  const format = (time: Date): string => `${time.toISOString().slice(0, 19)}Z`;
  const what = "certificate has expired or is not yet valid: current time";
  if (now < validFromDate) return `${what} ${format(now)} is before ${format(validFromDate)}`;
  return now > validToDate ? `${what} ${format(now)} is after ${format(validToDate)}` : undefined;
}

/** As Go, accepts no common name, and says so where it would be valid. */
function nameProblem(certificate: X509Certificate, serverName: string): string | undefined {
  const hasLegacyName = certificate.subjectAltName === undefined && certificate.checkHost(serverName) !== undefined;
  if (hasLegacyName) return legacyCommonName;
  const names = (certificate.subjectAltName ?? "").split(", ");
  if (ipVersion(serverName) !== 0) {
    if (certificate.checkIP(serverName) !== undefined) return undefined;
    const addresses = after(names, "IP Address:");
    if (addresses.length === 0)
      return `cannot validate certificate for ${serverName} because it doesn't contain any IP SANs`;
    return `certificate is valid for ${addresses.join(", ")}, not ${serverName}`;
  }
  if (certificate.checkHost(serverName, { subject: "never" }) !== undefined) return undefined;
  const hosts = after(names, "DNS:");
  if (hosts.length === 0) return `certificate is not valid for any names, but wanted to match ${serverName}`;
  return `certificate is valid for ${hosts.join(", ")}, not ${serverName}`;
}

function after(names: readonly string[], prefix: string): string[] {
  return names.filter((name) => name.startsWith(prefix)).map((name) => name.slice(prefix.length));
}

const dialProblems: ReadonlyMap<string, string> = new Map([
  ["ECONNREFUSED", "connect: connection refused"],
  ["ECONNRESET", "connect: connection reset by peer"],
  ["EHOSTUNREACH", "connect: no route to host"],
  ["ENETUNREACH", "connect: network is unreachable"],
  ["EADDRNOTAVAIL", "connect: cannot assign requested address"],
  ["ETIMEDOUT", "connect: connection timed out"],
]);

function dialError(error: NodeJS.ErrnoException, address: Address): WebhookError {
  const first =
    error instanceof AggregateError ? (error.errors[0] as NodeJS.ErrnoException & Partial<{ address: string }>) : error;
  const { code = "" } = first;
  if (code === "ENOTFOUND") return new WebhookError("connect", `dial tcp: lookup ${address.host}: no such host`);
  if (code === "EAI_AGAIN") return new WebhookError("connect", `dial tcp: lookup ${address.host}: server misbehaving`);
  // The first address of a name.
  const reached = "address" in first && typeof first.address === "string" ? first.address : address.host;
  return new WebhookError(
    "connect",
    `dial tcp ${formatAddress({ host: reached, port: address.port })}: ${dialProblems.get(code) ?? first.message}`,
  );
}

/** Converts an error of the handshake. `streamError` converts later errors. */
function tlsError(error: NodeJS.ErrnoException): WebhookError {
  const { code = "", message } = error;
  if (
    code === "ERR_SSL_WRONG_VERSION_NUMBER" ||
    code === "ERR_SSL_PACKET_LENGTH_TOO_LONG" ||
    message.includes("wrong version number")
  )
    return new WebhookError("tls", "http: server gave HTTP response to HTTPS client");
  const alert = /alert ([a-z ]+)/.exec(message);
  if (alert !== null && code.startsWith("ERR_SSL_"))
    return new WebhookError("tls", `remote error: tls: ${(alert[1] as string).trim()}`);
  return streamError(error) ?? new WebhookError("tls", `tls: ${message}`);
}

/** Converts an error of an open connection. @returns undefined for other errors */
export function streamError(error: NodeJS.ErrnoException): WebhookError | undefined {
  const { code = "", syscall, message } = error;
  const failure = (kind: WebhookErrorKind, text: string): WebhookError => new WebhookError(kind, text);
  if (code === "ECONNRESET")
    return syscall === undefined ? failure("closed", "EOF") : failure("reset", `${syscall}: connection reset by peer`);
  if (code === "EPIPE") return failure("reset", "write: broken pipe");
  if (code === "UND_ERR_SOCKET" && closedMessages.has(message)) return failure("closed", "EOF");
  if (code === "UND_ERR_RES_CONTENT_LENGTH_MISMATCH") return failure("closed", "unexpected EOF");
  if (error.name === "HTTPParserError" || code.startsWith("UND_ERR_") || code === "ERR_ASSERTION")
    return failure("malformed", `net/http: HTTP/1.x transport connection broken: ${message}`);
  if (code.startsWith("ERR_SSL_")) {
    const alert = /alert ([a-z ]+)/.exec(message);
    return failure("tls", alert === null ? `tls: ${message}` : `remote error: tls: ${(alert[1] as string).trim()}`);
  }
  return code === "ETIMEDOUT" ? failure("closed", "read: connection timed out") : undefined;
}

/** Other errors of a socket are responses that HTTP does not allow. */
const closedMessages: ReadonlySet<string> = new Set(["other side closed", "closed"]);

/** Joins host and port as Go's net.JoinHostPort does. */
export function formatAddress({ host, port }: Address): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}
