/** A position in the journal: everything up to and including `seq` of `epoch` has been seen. */
export interface Cursor {
  epoch: string;
  seq: number;
}

export function formatCursor(cursor: Cursor): string {
  return `${cursor.epoch}:${cursor.seq}`;
}

/** Parses `EPOCH:SEQ`, or `SEQ` alone for the current epoch; undefined if the text is neither. */
export function parseCursor(text: string): { epoch: string | undefined; seq: number } | undefined {
  const match = /^(?:([a-z0-9]+):)?(\d{1,15})$/.exec(text);
  if (!match) return undefined;
  return { epoch: match[1], seq: Number(match[2]) };
}
