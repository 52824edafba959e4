/**
 * Dialogs that an agent shows before it works, such as folder trust and login, as data of its profile. A choice is identified by its words: the mark
 * is moved to it, checked on the screen, and only then confirmed. The default choice does not matter.
 */
import { inOneLine, type Screen } from "@holdfast/contract";
import { unframed } from "./dialog.ts";

export interface StartDialog {
  for: "trust" | "login";
  /** The dialog's first line, and its last, which is also the last on the screen. */
  from: RegExp;
  to: RegExp;
  /**
   * For a dialog about the folder alone: the choice that trusts it and nothing more, and the choice that does not. Without it the inbox shows the
   * dialog, but it is answered on the screen.
   */
  choices?: { allow: RegExp; deny: RegExp };
  /** For a dialog whose choices neither allow nor deny anything: the lines that can be chosen. */
  offers?: RegExp;
}

export interface ShownDialog {
  dialog: StartDialog;
  /** Its lines without frames and mark, so the text does not depend on the mark's position. */
  text: string;
  /** The subject of the dialog, in one line. */
  about: string;
  /** The choice that Enter takes; undefined if none or several are marked. */
  marked: string | undefined;
}

const MARK = /^[❯›●▶>] +(?=\S)/;

/** Undefined: there is no dialog, or not all of it is on the screen. */
export function startDialogOn(
  dialogs: readonly StartDialog[] | undefined,
  { what, screen }: { what: StartDialog["for"]; screen: Pick<Screen, "lines"> },
): ShownDialog | undefined {
  const lines = screen.lines.filter((line) => line.trim() !== "");
  for (const dialog of dialogs ?? []) {
    if (dialog.for !== what || !dialog.to.test(lines.at(-1) ?? "")) continue;
    const begin = lines.findLastIndex((line) => dialog.from.test(line));
    if (begin < 0) continue;
    const own = lines.slice(begin).map(unframed).filter(Boolean);
    const marked = own.filter((line) => MARK.test(line)).map((line) => line.replace(MARK, ""));
    const first = own.findIndex((line) => isChoice(dialog, line.replace(MARK, "")));
    const about = (first > 0 ? own.slice(0, first) : own).join(" · ").replaceAll(/\s+/g, " ");
    const text = own.map((line) => line.replace(MARK, "")).join("\n");
    return { dialog, text, about: inOneLine(about), marked: marked.length === 1 ? marked[0] : undefined };
  }
  return undefined;
}

function isChoice({ choices, offers }: StartDialog, words: string): boolean {
  return [choices?.allow, choices?.deny, offers].some((choice) => choice?.test(words));
}

const NUMBER = /^(\d+)\. +/;

/** The choices of a dialog, as shown; undefined if none is known. */
export function choicesIn(
  dialogs: readonly StartDialog[] | undefined,
  text: string,
): { dialog: StartDialog; choices: string[] } | undefined {
  const lines = text.split("\n");
  for (const dialog of dialogs ?? []) {
    const known = lines.filter((line) => isChoice(dialog, line));
    if (known.length === 0) continue;
    if (dialog.offers) return { dialog, choices: known };
    if (known.every((line) => NUMBER.test(line))) return { dialog, choices: lines.filter((line) => NUMBER.test(line)) };
    // Without numbers, the choices are consecutive lines above the last one, which names the keys.
    const first = lines.findIndex((line) => isChoice(dialog, line));
    return { dialog, choices: lines.slice(first, -1) };
  }
  return undefined;
}

/** Finds a choice by its words or its number: the number shown, else its position. */
export function choiceOf(choices: readonly string[], wanted: string): string | undefined {
  const words = wanted.trim().toLowerCase();
  const byWords = choices.filter((choice) => [choice, choice.replace(NUMBER, "")].some((each) => each.toLowerCase() === words));
  if (byWords.length === 1) return byWords[0];
  if (!/^\d+$/.test(words)) return undefined;
  return (
    choices.find((choice) => NUMBER.exec(choice)?.[1] === words) ??
    (choices.some((choice) => NUMBER.test(choice)) ? undefined : choices[Number(words) - 1])
  );
}
