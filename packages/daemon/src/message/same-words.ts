import { stripVTControlCharacters } from "node:util";

/**
 * The part of the text that a person could have typed: a key hidden in a paste (Esc, Ctrl+C) would act, and colours of a log mean nothing to a model.
 */
export function asTyped(text: string): string {
  return stripVTControlCharacters(text)
    .replaceAll(/\r\n?/g, "\n")
    .replaceAll(/(?![\n\t])\p{Cc}/gu, "");
}

/** Text as agents and terminals show it: composed, and without zero-width and control characters, which some omit and some show as U+FFFD. */
export function asShown(text: string): string {
  return text.normalize("NFC").replaceAll(/\p{Cf}|\p{Variation_Selector}|\ufffd|(?!\s)\p{Cc}/gu, "");
}
