/** Attachments as text. */
import type { Attachment } from "@holdfast/contract/session/session";
import { formatDuration } from "../text/duration.ts";
import { plain } from "../text/plain.ts";

/** `user:ada drives, for 3 min, on /dev/pts/3 from 192.0.2.7` */
export function attachmentText({ principal, role, since, terminal, from }: Attachment, now: number): string {
  const parts = [
    `${principal} ${role === "driver" ? "drives" : "watches"}`,
    `for ${formatDuration(Math.max(0, now - Date.parse(since)))}`,
    [terminal === null ? "" : `on ${terminal}`, from === null ? "" : `from ${from}`].filter(Boolean).join(" "),
  ];
  return parts.filter(Boolean).join(", ");
}

/** Table cell: the driver and the number of observers. */
export function attachedCell(attachments: readonly Attachment[]): string {
  const driver = attachments.find(({ role }) => role === "driver");
  const others = attachments.filter((each) => each !== driver).length;
  return [driver && plain(driver.principal), others > 0 && `${others} watching`].filter(Boolean).join(" + ");
}
