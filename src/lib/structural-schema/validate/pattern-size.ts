interface Group {
  /** The size of the group so far. */
  size: number;
  /** The size of its last part, to which a repetition applies. */
  last: number;
}

/**
 * Estimates the size of the program that RE2 compiles from a pattern. RE2 unrolls counted
 * repetitions.
 * @param pattern any text
 * @returns about the number of instructions, seldom too low
 */
export function patternSize(pattern: string): number {
  const open: Group[] = [];
  let group: Group = { size: 0, last: 0 };
  const add = (size: number): void => {
    group.size += size;
    group.last = size;
  };
  for (let at = 0; at < pattern.length; at++) {
    switch (pattern[at]) {
      case "\\":
        at++;
        add(1);
        break;
      case "[":
        at = classEnd(pattern, at);
        add(1);
        break;
      case "(":
        open.push(group);
        group = { size: 2, last: 0 };
        break;
      case ")": {
        const { size } = group;
        group = open.pop() ?? group;
        add(size);
        break;
      }
      case "{": {
        const [text, least, more, most] = /^\{(\d{1,4})(,(\d{0,4}))?\}/.exec(pattern.slice(at, at + 12)) ?? [];
        if (text === undefined) add(1);
        else {
          const times = Math.max(more === undefined ? Number(least) : Number(most || Number(least) + 1), 1);
          group.size += group.last * (times - 1);
          group.last *= times;
          at += text.length - 1;
        }
        break;
      }
      default:
        add(1);
    }
  }
  return open.reduce((total, { size }) => total + size, group.size);
}

/** The offset of `]`, or the end of the pattern. */
function classEnd(pattern: string, start: number): number {
  let at = start + 1;
  if (pattern[at] === "^") at++;
  if (pattern[at] === "]") at++;
  for (; at < pattern.length && pattern[at] !== "]"; at++) {
    if (pattern[at] === "\\") at++;
    else if (pattern.startsWith("[:", at)) at = Math.max(at, pattern.indexOf(":]", at) + 1);
  }
  return at;
}
