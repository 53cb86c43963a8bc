/**
 * Creates a backup from a snapshot of the store. A server may write to the store during the backup.
 */
import { DamagedStore } from "../../contract.ts";
import { revisionOf } from "../../embedded/ledger.ts";
import { decodeExpiry, decodePosition } from "../pointers.ts";
import { type RecordRules, readHead, recordProblem } from "../record.ts";
import { openSnapshot } from "../snapshot.ts";
import { backupName, type DamagedObject, encodeFrame } from "./format.ts";

/** The result of a backup. */
export interface BackupSummary {
  readonly revision: number;
  readonly objects: number;
  /** Number of objects that could not be backed up. */
  readonly damagedObjects: number;
  /** The first hundred of them. */
  readonly damaged: readonly DamagedObject[];
}

/** Damaged objects in the summary; the backup itself contains all. */
const listedMax = 100;

/**
 * Yields the backup, one entry at a time. The snapshot is open until the iteration ends.
 * @param dir the directory of the store
 * @param now milliseconds since 1970
 * @param report called after the last piece
 * @throws DamagedStore when the marks are damaged, or the list of objects is not whole
 * @throws Error when the directory has no store, or that of a newer server
 */
export async function* backupPieces(
  dir: string,
  now: number,
  report: (summary: BackupSummary) => void,
): AsyncGenerator<Buffer> {
  const snapshot = await openSnapshot(dir);
  const { marks, transaction, log, current, expiry, objects } = snapshot;
  try {
    yield backupName;
    yield encodeFrame("begin", [marks.revision, now]);
    const damaged: DamagedObject[] = [];
    const counts = { records: 0, expiries: 0, damaged: 0 };
    for (const { key, value } of current.getRange({ start: "", transaction })) {
      const position = decodePosition(key, value, value.length, marks);
      const record = position < 0 ? undefined : log.get(position, { transaction });
      const problem = problemOf(key, position, record, marks);
      if (problem === undefined) {
        counts.records++;
        yield encodeFrame("record", [position], record);
        continue;
      }
      const found: DamagedObject = { key, ...(position >= 0 && { revision: revisionOf(position) }), problem };
      if (counts.damaged++ < listedMax) damaged.push(found);
      yield encodeFrame("damaged", [], Buffer.from(JSON.stringify(found)));
    }
    const found = counts.records + counts.damaged;
    if (found !== objects)
      throw new DamagedStore(
        `${dir} is damaged: of its ${objects} objects, ${found} are found; see "A store that does not open" in docs/reliability.md`,
      );
    for (const { key, value } of expiry.getRange({ start: [0, 0], transaction })) {
      const [at, position] = key;
      const entry = decodeExpiry(at, position, value, marks);
      if (entry === undefined) continue; // Damaged. The server does not expire that key, either.
      counts.expiries++;
      yield encodeFrame("expiry", [at, position], Buffer.from(entry.key));
    }
    yield encodeFrame("end", [counts.records, counts.expiries, counts.damaged]);
    report({ revision: marks.revision, objects: counts.records, damagedObjects: counts.damaged, damaged });
  } finally {
    await snapshot.close();
  }
}

/** Returns why the record of a key cannot be read; undefined when it can. */
export function problemOf(
  key: string,
  position: number,
  record: Buffer | undefined,
  rules: RecordRules,
): string | undefined {
  if (position < 0) return "the position of its record is damaged";
  if (record === undefined) return "the log has no record of it";
  const problem = recordProblem(position, record, rules);
  if (problem !== undefined) return problem;
  const head = readHead(position, record);
  return head.key === key && head.type === "put" ? undefined : `its position has a record of ${head.key}`;
}
