/**
 * Where the lines of the log go: all to standard error, or errors there and the others to standard output, which can wait
 * in a buffer. Source: k8s.io/component-base@v0.36.0/logs/api/v1/text.go and logs/json/json.go.
 */
import type { LogOptions } from "./flags/contract.ts";
import type { Severity } from "./logger.ts";

/** Accepts lines. */
export interface LogOutput {
  write(line: string, severity: Severity): void;
  /** Writes what waits. */
  flush(): void;
}

interface Streams {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
}

/** @param every calls a function again and again without holding the process */
export function logOutput(
  options: LogOptions,
  { out, err }: Streams,
  every: (ms: number, run: () => void) => void,
): LogOutput {
  const { splitStream, infoBufferSize } = options[options.format];
  if (!splitStream) return { write: err, flush() {} };
  if (infoBufferSize <= 0) return { write: (line, severity) => (severity === "error" ? err : out)(line), flush() {} };
  let waiting: string[] = [];
  let bytes = 0;
  const flush = (): void => {
    if (waiting.length > 0) out(waiting.join(""));
    waiting = [];
    bytes = 0;
  };
  every(options.flushMs, flush);
  return {
    write(line, severity) {
      if (severity === "error") return err(line);
      const size = Buffer.byteLength(line);
      if (bytes + size > infoBufferSize) flush();
      waiting.push(line);
      bytes += size;
    },
    flush,
  };
}
