/**
 * Sequences of writes of one object with the answers of a server. Values that depend on the server,
 * the time and the name are placeholders: `$name` is the object, `$u0` the first UID, `$r2` the
 * third resourceVersion, `$t3` three seconds after the start.
 */

/** One request and its answer, recorded by tools/golden/server/apply-sequences. */
export interface SequenceStep {
  /** Seconds since the start. */
  readonly at: number;
  /** `PATCH /api/v1/namespaces/n/configmaps/$name?fieldManager=m` */
  readonly line: string;
  /** Content-Type. */
  readonly type?: string;
  /** User-Agent. */
  readonly agent?: string;
  readonly body?: unknown;
  readonly status: number;
  readonly warnings?: string;
  readonly answer: unknown;
  /** The object after the request, if the answer does not show it; null if it was deleted. */
  readonly after?: unknown;
}

export interface WriteSequence {
  readonly kind: string;
  readonly seed: number;
  /** Of the object. */
  readonly path: string;
  readonly steps: readonly SequenceStep[];
}

/** Later times, in seconds since the start, do not belong to the sequence. */
const secondsMax = 100;

/** Replaces the server-specific values of a sequence by placeholders. */
export class Disguise {
  readonly #name: string;
  readonly #startMs: number;
  readonly #uids: string[] = [];
  readonly #versions: string[] = [];

  /** @param startMs the start of the sequence, a whole second */
  constructor(name: string, startMs: number) {
    this.#name = name;
    this.#startMs = startMs;
  }

  /**
   * Inserts placeholders. UIDs with the prefix `11111111` or `21111111` are those of the client and
   * are kept.
   */
  hide(value: unknown): unknown {
    if (value === undefined) return undefined;
    const text = JSON.stringify(value)
      .replaceAll(this.#name, "$name")
      .replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, (uid) =>
        /^\d1111111/.test(uid) ? uid : `$u${known(this.#uids, uid)}`,
      )
      .replace(
        /(resourceVersion\\*"(?:: ?|,"value":)\\*")([1-9]\d+)(\\*")/g,
        (_all, before, version, after) => `${before}$r${known(this.#versions, version)}${after}`,
      )
      .replace(/20[23]\d-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, (time) => this.#hideTime(time));
    return JSON.parse(text);
  }

  #hideTime(time: string): string {
    const seconds = (Date.parse(time) - this.#startMs) / 1000;
    return seconds >= 0 && seconds < secondsMax ? `$t${seconds}` : time;
  }

  /** Replaces placeholders by values; unknown ones remain. */
  fill(value: unknown): unknown {
    if (value === undefined) return undefined;
    const text = JSON.stringify(value)
      .replaceAll("$name", this.#name)
      .replace(/\$u(\d+)/g, (all, index) => this.#uids[Number(index)] ?? all)
      .replace(/\$r(\d+)/g, (all, index) => this.#versions[Number(index)] ?? all)
      .replace(/\$t(\d+)/g, (_all, seconds) =>
        new Date(this.#startMs + Number(seconds) * 1000).toISOString().replace(".000Z", "Z"),
      );
    return JSON.parse(text);
  }
}

function known(list: string[], one: string): number {
  const index = list.indexOf(one);
  return index < 0 ? list.push(one) - 1 : index;
}

/**
 * Sorts causes and lines of errors, whose order upstream does not define, and removes patched
 * objects, whose order differs.
 */
export function inOrder(answer: unknown): unknown {
  const status = answer as { message?: string; details?: { causes?: { field?: string; message: string }[] } };
  const { details, message } = status;
  if (details?.causes?.[0]?.field === "patch") {
    status.message = withoutPatched(message ?? "");
    for (const cause of details.causes) cause.message = withoutPatched(cause.message);
  }
  details?.causes?.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  if (message?.includes(": errors:\n")) {
    const [first = "", ...lines] = message.split("\n");
    status.message = [first, ...lines.sort()].join("\n");
  }
  return answer;
}

const withoutPatched = (text: string): string =>
  text.replace(/Invalid value: (?:\{|"|map\[).*(?:\}|"|\]): /s, "Invalid value: …: ");
