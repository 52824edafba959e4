import { stripVTControlCharacters } from "node:util";

/** What a person could have typed of it: a key that is hidden in a paste (Esc, Ctrl+C) would act, and colours of a log say nothing to a model. */
export function asTyped(text: string): string {
  return stripVTControlCharacters(text)
    .replaceAll(/\r\n?/g, "\n")
    .replaceAll(/(?![\n\t])\p{Cc}/gu, "");
}

/**
 * Letters as agents and terminals show them: composed or not, without what has no width or is a control character, which some leave out and
 * some show as U+FFFD.
 */
export function asShown(text: string): string {
  return text.normalize("NFC").replaceAll(/\p{Cf}|\p{Variation_Selector}|\ufffd|(?!\s)\p{Cc}/gu, "");
}
