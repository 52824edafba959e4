/**
 * Dialogs that an agent shows before it works: whether its folder may be trusted, how to log in. Data of its profile. A choice is taken by
 * its words: the mark is moved to it, seen there, and only then confirmed. Which choice is the default does not matter.
 */
import { inOneLine, type Screen } from "@holdfast/contract";
import { unframed } from "./dialog.ts";

export interface StartDialog {
  for: "trust" | "login";
  /** Its first line, and its last, below which there is nothing to read. */
  from: RegExp;
  to: RegExp;
  /**
   * Of a dialog about the folder alone: the words of the choice that trusts it and nothing more, and of the one that does not. Without it the dialog
   * is shown in the inbox, and answered on its screen.
   */
  choices?: { allow: RegExp; deny: RegExp };
  /** Of a dialog that offers several ways to go on, none of which allows or denies anything: the lines that can be chosen. */
  offers?: RegExp;
}

export interface ShownDialog {
  dialog: StartDialog;
  /** Its lines, without frames and without the mark: the same wherever that is. */
  text: string;
  /** What it asks about, in one line. */
  about: string;
  /** The words of the choice that Enter takes; undefined: none is marked, or several are. */
  marked: string | undefined;
}

const MARK = /^[❯›●▶>] +(?=\S)/;

/** Undefined: there is none, or not all of it is on the screen. */
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

/** The lines of a dialog that can be chosen, as they are shown; none where nobody knows which are. */
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
    // Without numbers they stand below each other, above the last line, which says which keys to press.
    const first = lines.findIndex((line) => isChoice(dialog, line));
    return { dialog, choices: lines.slice(first, -1) };
  }
  return undefined;
}

/** The one that is meant by its words, or by its number: the one that is shown, else its place. */
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
