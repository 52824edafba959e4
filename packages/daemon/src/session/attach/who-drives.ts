/** Pure: decides which attachment drives a session. */

/** A present attachment; the list is in order of arrival. */
export interface Present {
  /** It arrived since the last look, and requests control from any driver. */
  takes: boolean;
  /** The journal records it as the driver. */
  recorded: boolean;
  /** Its host lets it type. */
  drives: boolean;
  /** It asked only to observe: it drives only if it is given control. */
  readOnly: boolean;
  /** Its principal may type here; otherwise it never drives. */
  mayType: boolean;
}

/**
 * Priority: an attachment that came to take control; the driver in the journal, which completes a change that a daemon's death interrupted; the one
 * that its host lets type; the first that wanted to drive.
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
