/** Writes random request headers, one JSON object a line; main.go adds the user that upstream authenticates. */
import { seededRandom } from "../../../test/support/seeded-random.ts";

const random = seededRandom(7);
const pick = <T>(list: readonly T[]): T => list[random(list.length)] as T;
const some = (max: number, make: () => string): string[] => Array.from({ length: random(max + 1) }, make);

const standard = {
  usernames: ["X-Remote-User"],
  uids: ["X-Remote-Uid"],
  groups: ["X-Remote-Group"],
  extras: ["X-Remote-Extra-"],
};
const several = {
  usernames: ["x-a", "X-Remote-User"],
  uids: ["X-Remote-Uid", "X-B"],
  groups: ["X-Remote-Group", "x-c"],
  extras: ["X-Remote-Extra-", "X-D-"],
};
const overlapping = {
  usernames: ["X-Remote-User"],
  uids: [],
  groups: ["X-Remote-Extra-Group", "X-Remote-User"],
  extras: ["X-Remote-Extra-"],
};
const names = [
  "X-Remote-User",
  "X-Remote-Uid",
  "X-Remote-Group",
  "X-A",
  "X-B",
  "X-C",
  "X_Remote_User",
  "X-Remote-Users",
  "X-Remote-Extra",
  "X-Remote-Extra-Group",
];
/** Each at most once in a request, because upstream orders the values of equal keys at random. */
const keys = [
  "",
  "a",
  "acme.com%2Fproject",
  "%41",
  "%zz",
  "100%",
  "%",
  "%e2%98%83",
  "%C3%28",
  "a+b",
  "__proto__",
  "%5f_proto__",
];
const values = [
  "ann",
  "system:masters",
  "",
  " ",
  " padded\t",
  "a,b",
  "a, b",
  "ä",
  "☃",
  "%41",
  '"quoted"',
  "x".repeat(300),
  "a b",
];

const inSomeCase = (name: string): string => pick([name, name.toLowerCase(), name.toUpperCase()]);
for (let index = 0; index < 400; index++) {
  const extras = keys
    .filter(() => random(7) === 0)
    .map((key) => `${inSomeCase(`${pick(["X-Remote-Extra-", "X-D-"])}${key}`)}: ${pick(values)}`);
  const lines = [...extras, ...some(6, () => `${inSomeCase(pick(names))}:${pick(["", " "])}${pick(values)}`)];
  for (let at = lines.length - 1; at > 0; at--) lines.push(...lines.splice(random(at + 1), 1));
  process.stdout.write(`${JSON.stringify({ ...pick([standard, several, overlapping]), lines })}\n`);
}
