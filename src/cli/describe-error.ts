/** Describes errors of commands and of the start: what, where, and what to do. Loaded only then. */
import { findListener, formatProcess } from "../lib/processes/find-process.ts";

/** An error of the system: its code, and what was attempted. */
type SystemError = NodeJS.ErrnoException & { readonly address?: string; readonly port?: number };

/** Describes an error in one sentence, with what resolves it if that is known. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // A connection to several addresses of a name fails with several errors, and without a message.
  if (error instanceof AggregateError && error.message === "") return describeError(error.errors[0]);
  const { syscall, path } = error as SystemError;
  if (syscall === "listen") return listenProblem(error);
  if (syscall === "connect" && path === undefined) return connectProblem(error);
  return syscall !== undefined && path !== undefined ? fileProblem(error) : error.message;
}

function listenProblem(error: SystemError): string {
  const { code, address, port = 0 } = error;
  if (code === "EADDRINUSE")
    return `port ${port} of ${address} is taken by ${listenerOf(port)}: choose another one with --secure-port`;
  if (code === "EACCES")
    return `port ${port} of ${address} is not allowed for this user: choose a port above 1023 with --secure-port`;
  if (code === "EADDRNOTAVAIL") return `${address} is not an address of this machine: choose one with --bind-address`;
  return error.message;
}

function connectProblem(error: SystemError): string {
  const { code, address, port, message } = error;
  if (address === undefined || port === undefined) return message;
  const place = `${address.includes(":") ? `[${address}]` : address}:${port}`;
  return `${place} does not answer (${code}): check that the server runs, and the address in the kubeconfig`;
}

/** The process if it is known, or else the command that shows it. */
function listenerOf(port: number): string {
  const owner = findListener(port);
  if (owner?.process !== undefined) return formatProcess(owner.process);
  if (owner !== undefined && owner.uid !== process.getuid?.())
    return `a process of the user ${owner.uid} (\`sudo ss -ltnp sport = :${port}\` names it)`;
  const command = process.platform === "linux" ? `ss -ltnp sport = :${port}` : `lsof -nP -iTCP:${port} -sTCP:LISTEN`;
  return `another process (\`${command}\` names it)`;
}

const attempts: Readonly<Record<string, string>> = {
  mkdir: "created",
  open: "opened",
  rename: "written",
  scandir: "read",
  stat: "read",
  write: "written",
};

/** What the codes of the system mean. */
export const reasons: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EISDIR: "it is a directory",
  EMFILE: "this process has too many open files (ulimit -n)",
  ENOENT: "no such file or directory",
  ENOSPC: "no space is left on the device",
  ENOTDIR: "a part of its path is not a directory",
  EPERM: "operation not permitted",
  EROFS: "the file system is read-only",
};

/** Node's messages begin with a code: `EACCES: permission denied, open '/x'`. */
function fileProblem({ code = "", syscall = "", path, message }: SystemError): string {
  const attempt = attempts[syscall];
  const reason = reasons[code];
  return attempt === undefined || reason === undefined ? message : `${path} cannot be ${attempt}: ${reason}`;
}
