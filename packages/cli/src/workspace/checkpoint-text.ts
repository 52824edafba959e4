/** Checkpoints as text. */
import type { Checkpoint, LeftOut } from "@holdfast/contract/checkpoint/checkpoint";
import { counted } from "@holdfast/platform/units";
import { columns } from "../text/columns.ts";
import { formatDuration } from "../text/duration.ts";
import { plain } from "../text/plain.ts";

/** `nameOf`: a session's name; undefined if it was removed. */
export function checkpointTable(checkpoints: readonly Checkpoint[], nameOf: (session: string) => string | undefined): string {
  const noted = checkpoints.some(({ note }) => note !== null);
  const rows = checkpoints.map((checkpoint) => [
    String(checkpoint.number),
    `${formatDuration(Math.max(0, Date.now() - Date.parse(checkpoint.at)))} ago`,
    whyText(checkpoint, nameOf),
    String(checkpoint.files),
    checkoutText(checkpoint),
    ...(noted ? [plain(checkpoint.note ?? "")] : []),
  ]);
  return columns(["NUMBER", "WHEN", "WHY", "FILES", "ON", ...(noted ? ["NOTE"] : [])], rows);
}

function whyText({ why, session, turn, rewoundTo }: Checkpoint, nameOf: (session: string) => string | undefined): string {
  const name = session === null ? "" : plain(nameOf(session) ?? session);
  if (why === "turn") return `turn ${turn} of ${name}`;
  if (why === "start") return `before the first turn of ${name}`;
  return why === "rewind" ? `before the rewind to ${rewoundTo}` : "manual";
}

function checkoutText({ head, branch }: Checkpoint): string {
  if (head === null) return `${plain(branch ?? "")} without a commit`;
  return branch === null ? head.slice(0, 10) : `${plain(branch)} ${head.slice(0, 10)}`;
}

const WHY_NOT: Record<LeftOut["why"], string> = {
  large: "new and larger than 50 MB",
  unreadable: "cannot be read",
  repository: "a nested git repository",
};

const MOST_NAMED = 5;

/** Files that the checkpoint does not contain. */
export function leftOutText({ leftOut }: Pick<Checkpoint, "leftOut">): string[] {
  const named = leftOut.slice(0, MOST_NAMED).map(({ path, why }) => `note: not included: ${plain(path)} (${WHY_NOT[why]})`);
  return leftOut.length > MOST_NAMED ? [...named, `note: ${leftOut.length - MOST_NAMED} more not included`] : named;
}

export function changedText({ since, files }: { since: number; files: number }): string {
  return files === 0 ? `No changes since checkpoint ${since}.` : `${counted(files, "file")} changed since checkpoint ${since}.`;
}
