/** Where a subcommand prints. */
export interface Output {
  /** Writes to standard output. */
  readonly out: (text: string) => void;
  /** Writes to standard error. */
  readonly err: (text: string) => void;
  /** Whether texts for standard output are colored; unset: they are not. */
  readonly outColors?: boolean;
  /** Whether texts for standard error are colored; unset: they are not. */
  readonly errColors?: boolean;
}
