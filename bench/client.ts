/** The HTTP/2 client for all servers under test, so that only the servers differ. */
import { readFileSync } from "node:fs";
import http2 from "node:http2";

export interface Target {
  readonly url: string;
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

export interface BenchRequest {
  readonly method: string;
  readonly path: string;
  readonly body?: string | Buffer;
  readonly contentType?: string;
  /** Lower-case names. */
  readonly headers?: Readonly<Record<string, string>>;
}

function connect({ url, ca, cert, key }: Target): http2.ClientHttp2Session {
  const session = http2.connect(url, { ca, cert, key, settings: { initialWindowSize: 16 << 20 } });
  session.setMaxListeners(0);
  session.on("error", () => {}); // Every request of the session has the error, too.
  session.on("connect", () => session.setLocalWindowSize(64 << 20));
  return session;
}

export class BenchClient {
  readonly #target: Target;
  #session: http2.ClientHttp2Session;

  constructor(target: Target) {
    this.#target = target;
    this.#session = connect(target);
  }

  /** The connection; a new one when the server has closed the last, which was idle. */
  #open(): http2.ClientHttp2Session {
    if (this.#session.closed) this.#session = connect(this.#target);
    return this.#session;
  }

  /** @returns the status and the body */
  async send(request: BenchRequest): Promise<{ status: number; body: string }> {
    const { status, bytes } = await this.sendRaw(request);
    return { status, body: bytes.toString() };
  }

  /** @returns the status, and the body as it was sent */
  sendRaw({ method, path, body, contentType, headers: given }: BenchRequest): Promise<{
    status: number;
    bytes: Buffer;
    encoding: string | undefined;
  }> {
    return new Promise((resolve, reject) => {
      const headers = {
        ":method": method,
        ":path": path,
        accept: "application/json",
        ...(body !== undefined && { "content-type": contentType ?? "application/json" }),
        ...given,
      };
      const stream = this.#open().request(headers, { endStream: body === undefined });
      let status = 0;
      let encoding: string | undefined;
      const pieces: Buffer[] = [];
      stream.on("response", (answer) => {
        status = Number(answer[":status"]);
        encoding = answer["content-encoding"];
      });
      stream.on("data", (piece: Buffer) => pieces.push(piece));
      stream.on("end", () => resolve({ status, bytes: Buffer.concat(pieces), encoding }));
      stream.on("error", reject);
      if (body !== undefined) stream.end(body);
    });
  }

  /**
   * Reads and discards a response.
   * @returns milliseconds until its first byte and until its end, and its length
   */
  read(
    path: string,
    { method = "GET", accept = "application/json" } = {},
  ): Promise<{ firstMs: number; ms: number; bytes: number }> {
    return new Promise((resolve, reject) => {
      const startedAt = performance.now();
      const stream = this.#open().request({ ":method": method, ":path": path, accept }, { endStream: true });
      let firstMs = 0;
      let bytes = 0;
      stream.on("response", (answer) => {
        if (answer[":status"] !== 200) reject(new Error(`${path}: status ${answer[":status"]}`));
      });
      stream.on("data", (piece: Buffer) => {
        if (bytes === 0) firstMs = performance.now() - startedAt;
        bytes += piece.length;
      });
      stream.on("end", () => resolve({ firstMs, ms: performance.now() - startedAt, bytes }));
      stream.on("error", reject);
    });
  }

  /**
   * Reads a list page by page.
   * @param path with the limit
   * @returns milliseconds until the first page and until the last, and the length of all
   */
  async readPages(path: string): Promise<{ firstMs: number; ms: number; bytes: number }> {
    const startedAt = performance.now();
    let firstMs = 0;
    let bytes = 0;
    let next = "";
    do {
      const { body } = await this.send({ method: "GET", path: `${path}${next === "" ? "" : `&continue=${next}`}` });
      if (bytes === 0) firstMs = performance.now() - startedAt;
      bytes += body.length;
      next = /"continue":"([^"]*)"/.exec(body.slice(0, 500))?.[1] ?? "";
    } while (next !== "");
    return { firstMs, ms: performance.now() - startedAt, bytes };
  }

  /** Opens a watch. @param seen called with each chunk of the response */
  follow(path: string, seen: (piece: Buffer) => void): http2.ClientHttp2Stream {
    const stream = this.#open().request({ ":path": path, accept: "application/json" });
    stream.on("error", () => stream.destroy());
    stream.on("data", seen);
    return stream;
  }

  /** Opens a watch. @returns a function that waits until that many events were received */
  watch(path: string): Promise<(events: number) => Promise<void>> {
    return new Promise((resolve, reject) => {
      const stream = this.#open().request({ ":path": path, accept: "application/json" });
      let seen = 0;
      let expected = Number.POSITIVE_INFINITY;
      let done = (): void => {};
      stream.on("error", reject);
      stream.on("data", (piece: Buffer) => {
        for (let at = piece.indexOf(10); at >= 0; at = piece.indexOf(10, at + 1)) seen++;
        if (seen >= expected) done();
      });
      stream.on("response", (answer) => {
        if (answer[":status"] !== 200) return reject(new Error(`watch: status ${answer[":status"]}`));
        resolve((events) => {
          expected = events;
          return new Promise<void>((finished) => {
            done = finished;
            if (seen >= expected) finished();
          });
        });
      });
    });
  }

  /** @param concurrency number of concurrent requests */
  async run(
    count: number,
    concurrency: number,
    request: (index: number) => BenchRequest,
    wantStatus: number,
  ): Promise<void> {
    let next = 0;
    const worker = async (): Promise<void> => {
      while (next < count) {
        const message = request(next++);
        const { status, body } = await this.send(message);
        if (status !== wantStatus)
          throw new Error(`${message.method} ${message.path}: status ${status}: ${body.slice(0, 300)}`);
      }
    };
    await Promise.all(Array.from({ length: concurrency }, worker));
  }

  close(): void {
    this.#session.destroy();
  }
}

/** Reads the inline certificates of a kubeconfig written by this server. */
export function targetOfKubeconfig(text: string): Target {
  const field = (name: string): string => {
    const match = new RegExp(`${name}: "?([^"\\s]+)"?`).exec(text);
    if (match === null) throw new Error(`the kubeconfig has no ${name}`);
    return match[1] as string;
  };
  const pem = (name: string): string => Buffer.from(field(name), "base64").toString();
  return {
    url: field("server"),
    ca: pem("certificate-authority-data"),
    cert: pem("client-certificate-data"),
    key: pem("client-key-data"),
  };
}

export function targetOfKubeconfigFile(file: string): Target {
  return targetOfKubeconfig(readFileSync(file, "utf8"));
}
