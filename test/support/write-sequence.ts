/**
 * Sequences of writes of one object with a server's answers, told so that another server, another time and another name can be held against
 * them: what is its own in an answer is a placeholder. `$name` is the object, `$u0` the first uid that was told, `$r2` the third
 * resourceVersion, `$t3` three seconds after the beginning.
 */

/** One request and what was answered to it. Made by tools/golden/server/apply-sequences. */
export interface SequenceStep {
  /** Seconds since the beginning. */
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
  /** The object then, where the answer does not show it; null when it is gone. */
  readonly after?: unknown;
}

export interface WriteSequence {
  readonly kind: string;
  readonly seed: number;
  /** Of the object. */
  readonly path: string;
  readonly steps: readonly SequenceStep[];
}

/** Beyond that a time is no time of the sequence. */
const secondsMax = 100;

/** What of one sequence is one server's own. */
export class Disguise {
  readonly #name: string;
  readonly #startMs: number;
  readonly #uids: string[] = [];
  readonly #versions: string[] = [];

  /** @param startMs of the beginning, a whole second */
  constructor(name: string, startMs: number) {
    this.#name = name;
    this.#startMs = startMs;
  }

  /** @returns the value with placeholders for what is the server's own. Uids that begin with `11111111` or `21111111` are the sender's. */
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

  /** The reverse. What has not been told yet stays a placeholder. */
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

/** Causes, and lines of mistakes, which upstream tells in no order, by text; patched objects, which it shows in an order of its own, are left out. */
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
