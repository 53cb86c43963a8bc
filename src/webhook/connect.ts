/** One connection to a webhook: looked up, opened, and its certificate checked before anything is sent. Source: Go's net, crypto/tls and crypto/x509 */
import { X509Certificate } from "node:crypto";
import net, { isIP } from "node:net";
import tls from "node:tls";
import { type Address, WebhookError, type WebhookErrorKind } from "./contract.ts";

/** As Go's dialer has it. */
const connectTimeoutMs = 30_000;

export interface ConnectOptions extends Address {
  /** Longest that opening the connection may take, 30 s by default. */
  readonly timeoutMs?: number;
  /** Undefined: without TLS. */
  readonly tls?: {
    readonly context: tls.SecureContext;
    /** What the certificate must be for: a name or an address. */
    readonly serverName: string;
    readonly insecureSkipTlsVerify: boolean;
  };
}

/** @throws WebhookError of kind `connect`, `tls` or `timeout`, whose message lacks the request it was for */
export function connect(options: ConnectOptions): Promise<net.Socket> {
  const { host, port, timeoutMs = connectTimeoutMs } = options;
  return new Promise((resolve, reject) => {
    const socket =
      options.tls === undefined ? net.connect({ host, port }) : tls.connect({ host, port, ...tlsOptions(options.tls) });
    let opened = options.tls === undefined;
    const fail = (error: WebhookError): void => {
      clearTimeout(timer);
      socket.destroy();
      reject(error);
    };
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
      const problem = options.tls === undefined ? undefined : certificateProblem(socket as tls.TLSSocket, options.tls);
      if (problem !== undefined)
        return fail(new WebhookError("tls", `tls: failed to verify certificate: x509: ${problem}`));
      clearTimeout(timer);
      socket.off("error", onError);
      resolve(socket);
    });
  });
}

function tlsOptions({ context, serverName }: NonNullable<ConnectOptions["tls"]>): tls.ConnectionOptions {
  return {
    secureContext: context,
    ALPNProtocols: ["http/1.1"],
    ...(isIP(serverName) === 0 && { servername: serverName }), // An address may not be sent as a name.
    rejectUnauthorized: false, // It is looked at afterwards, in Go's order and words.
  };
}

/** In Go's order: the time, the name, the authority. */
function certificateProblem(
  socket: tls.TLSSocket,
  { serverName, insecureSkipTlsVerify }: NonNullable<ConnectOptions["tls"]>,
): string | undefined {
  if (insecureSkipTlsVerify) return undefined;
  const { raw } = socket.getPeerCertificate();
  if (raw === undefined) return "no certificate"; // Cannot happen: servers always show one.
  const certificate = new X509Certificate(raw);
  const problem = timeProblem(certificate) ?? nameProblem(certificate, serverName);
  if (problem !== undefined || socket.authorized) return problem;
  return chainProblems.get(String(socket.authorizationError)) ?? "certificate signed by unknown authority";
}

/** All others, an authority that has expired among them, come to one that is not known. */
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

/** The common name does not count, as in Go. */
function nameProblem(certificate: X509Certificate, serverName: string): string | undefined {
  const names = (certificate.subjectAltName ?? "").split(", ");
  if (isIP(serverName) !== 0) {
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
  const reached = "address" in first && typeof first.address === "string" ? first.address : address.host; // A name's first address.
  return new WebhookError(
    "connect",
    `dial tcp ${formatAddress({ host: reached, port: address.port })}: ${dialProblems.get(code) ?? first.message}`,
  );
}

/** What goes wrong in a handshake; after it, `streamError` tells. */
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

/** Of a connection that was open. Undefined: it is none of its errors. */
export function streamError(error: NodeJS.ErrnoException): WebhookError | undefined {
  const { code = "", syscall, message } = error;
  const told = (kind: WebhookErrorKind, text: string): WebhookError => new WebhookError(kind, text);
  if (code === "ECONNRESET")
    return syscall === undefined ? told("closed", "EOF") : told("reset", `${syscall}: connection reset by peer`);
  if (code === "EPIPE") return told("reset", "write: broken pipe");
  if (code.startsWith("HPE_")) return told("malformed", `net/http: HTTP/1.x transport connection broken: ${message}`);
  if (code.startsWith("ERR_SSL_")) {
    const alert = /alert ([a-z ]+)/.exec(message);
    return told("tls", alert === null ? `tls: ${message}` : `remote error: tls: ${(alert[1] as string).trim()}`);
  }
  return code === "ETIMEDOUT" ? told("closed", "read: connection timed out") : undefined;
}

/** As Go joins them. */
export function formatAddress({ host, port }: Address): string {
  return isIP(host) === 6 ? `[${host}]:${port}` : `${host}:${port}`;
}
