/** Pure: who of those at a session drives. */

/** One of those who are there, in the order they came. */
export interface Present {
  /** It came since the last look, and wants control whoever has it. */
  takes: boolean;
  /** The journal has it as the driver. */
  recorded: boolean;
  /** Its host lets it type. */
  drives: boolean;
  /** It asked for no more than to look: it drives only when somebody gives it that. */
  readOnly: boolean;
  /** Whoever it stands for may type here: without that it never drives. */
  mayType: boolean;
}

/**
 * Whoever came to take it; else whom the journal names, so that what a daemon's death cut short is brought to its end; else whoever came
 * first, or has waited longest, of those that wanted to.
 */
export function whoDrives<P extends Present>(all: readonly P[]): P | undefined {
  const present = all.filter(({ mayType }) => mayType);
  return (
    present.findLast(({ takes }) => takes) ??
    present.find(({ recorded }) => recorded) ??
    present.find(({ drives }) => drives) ??
    present.find(({ readOnly }) => !readOnly)
  );
}
