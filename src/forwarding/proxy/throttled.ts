/**
 * Limits the rate of the bytes of a stream. Source: `--max-connection-bytes-per-sec` in Kubernetes docs,
 * "kube-apiserver".
 */
import { pipeline, type Readable, Transform } from "node:stream";
import type { Clock } from "../../apimachinery/clock.ts";

/** Pieces of so many milliseconds at the permitted rate; shorter waits are left out, and added to the next one. */
const pieceMs = 50;

/**
 * The same bytes at the pace of the rate. It ends with its source, and is destroyed with it.
 * @param bytesPerSecondMax 0: the stream itself, without a limit
 */
export function throttled<Source extends Readable>(
  source: Source,
  bytesPerSecondMax: number,
  clock: Clock,
): Source | Readable {
  if (bytesPerSecondMax <= 0) return source;
  const pace = paced(bytesPerSecondMax, clock);
  pipeline(source, pace, () => {}); // Who reads the result sees its end.
  return pace;
}

function paced(bytesPerSecondMax: number, clock: Clock): Transform {
  const pieceMax = Math.max(1, Math.floor((bytesPerSecondMax * pieceMs) / 1000));
  /** When the bytes that have passed are within the rate. */
  let freeAt = 0;
  let cancel: (() => void) | undefined;
  return new Transform({
    transform(data: Buffer, _encoding, done) {
      const pass = (from: number): void => {
        for (let at = from; at < data.length; at += pieceMax) {
          const waitMs = freeAt - clock.now();
          if (waitMs >= pieceMs) {
            cancel = clock.after(waitMs, () => pass(at));
            return;
          }
          const piece = data.subarray(at, at + pieceMax);
          freeAt = Math.max(freeAt, clock.now()) + (piece.length / bytesPerSecondMax) * 1000;
          this.push(piece);
        }
        done();
      };
      pass(0);
    },
    destroy(error, done) {
      cancel?.();
      done(error);
    },
  });
}
