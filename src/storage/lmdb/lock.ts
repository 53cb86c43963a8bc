/** One server per data directory. A socket that somebody listens on is the lock: it goes with the process, however that ends. */
import { createHash } from "node:crypto";
import { realpathSync, unlinkSync } from "node:fs";
import net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface DirectoryLock {
  release(): Promise<void>;
}

/** The longest path a Unix socket may have everywhere. */
const socketPathMax = 100;

/** @throws Error naming the directory when another server holds it */
export async function lockDirectory(directory: string): Promise<DirectoryLock> {
  const path = socketPath(directory);
  const held = new Error(`the data directory ${directory} is in use by another server`);
  for (let attempt = 0; attempt < 3; attempt++) {
    const server = await tryListen(path);
    if (server !== undefined) return { release: () => new Promise((resolve) => server.close(() => resolve())) };
    if (await answers(path)) throw held;
    removeStale(path); // Left behind by a process that was killed.
  }
  throw held;
}

function socketPath(directory: string): string {
  const real = realpathSync(directory);
  if (process.platform === "win32") return `\\\\.\\pipe\\coxswain-${digest(real)}`;
  const inside = join(real, "lock.sock");
  return inside.length <= socketPathMax ? inside : join(tmpdir(), `coxswain-${digest(real)}.sock`);
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 32);
}

function tryListen(path: string): Promise<net.Server | undefined> {
  return new Promise((resolve, reject) => {
    const server = net.createServer((socket) => socket.destroy());
    server.once("error", (error: NodeJS.ErrnoException) => (error.code === "EADDRINUSE" ? resolve(undefined) : reject(error)));
    server.listen(path, () => {
      server.unref();
      resolve(server);
    });
  });
}

function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect(path);
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}

function removeStale(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}
