/** Types text into a program, in one piece, and only if the program can take it. */
import { HoldfastError } from "@holdfast/contract";
import type { Host, RunId, Typed } from "../../host/host.ts";

/** A program that reads a paste redraws before it takes the next key: without a pause, some take Enter as part of the paste. */
const AFTER_PASTE_MS = 80;

export async function sendText(
  host: Host,
  options: { run: RunId; name: string; text: string; enter: boolean; force: boolean; enterAfterMs?: number | undefined },
): Promise<{ bytes: number; pasted: boolean; waitingBytes: number | null }> {
  const text = withoutPasteEnd(options.text);
  const { bracketedPaste } = await host.screen(options.run);
  if (!bracketedPaste && !options.force && /[\r\n]/.test(text)) {
    throw new HoldfastError("paste_refused", `${options.name} would run each line as a command: it does not accept pastes`, {
      hint: "send one line, or type them anyway with --force",
    });
  }
  const { bytes, waiting } = await (bracketedPaste ? paste(host, { ...options, text }) : type(host, { ...options, text }));
  return { bytes, pasted: bracketedPaste, waitingBytes: waiting };
}

/** Text and Enter in one write: if the daemon dies here, the program gets all or nothing, never a half line that the next input completes. */
async function type(host: Host, { run, text, enter }: { run: RunId; text: string; enter: boolean }): Promise<Typed & { bytes: number }> {
  // A terminal sends a carriage return for each typed line.
  const typed = text.replaceAll(/\r?\n/g, "\r");
  const bytes = Buffer.byteLength(typed);
  if (typed === "" && !enter) return { bytes, waiting: 0 };
  return { bytes, ...(await host.write(run, Buffer.from(enter ? `${typed}\r` : typed), { paste: false })) };
}

async function paste(
  host: Host,
  { run, text, enter, enterAfterMs = AFTER_PASTE_MS }: { run: RunId; text: string; enter: boolean; enterAfterMs?: number | undefined },
): Promise<Typed & { bytes: number }> {
  const bytes = Buffer.from(text);
  let typed: Typed = { waiting: 0 };
  if (bytes.length > 0) typed = await host.write(run, bytes, { paste: true });
  if (enter) {
    if (bytes.length > 0) await new Promise((resolve) => setTimeout(resolve, enterAfterMs));
    typed = await host.write(run, Buffer.from("\r"), { paste: false });
  }
  return { bytes: bytes.length, ...typed };
}

/** An end-of-paste mark inside the text would turn the rest of it into keys. Removing one mark can form another. */
export function withoutPasteEnd(text: string): string {
  const marks = ["\x1b[200~", "\x1b[201~"];
  let clean = text;
  while (marks.some((mark) => clean.includes(mark))) clean = marks.reduce((rest, mark) => rest.replaceAll(mark, ""), clean);
  return clean;
}
