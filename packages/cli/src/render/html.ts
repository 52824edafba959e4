// A recording's lines as one self-contained HTML file: no script, no link, no address. All text is escaped.
import type { IBufferLine } from "@xterm/headless";
import { inert } from "./inert.ts";
import {
  BOLD,
  colorParts,
  DEFAULT,
  DIM,
  INVERSE,
  INVISIBLE,
  ITALIC,
  isPlain,
  OVERLINE,
  runsOf,
  STRIKETHROUGH,
  type Style,
  UNDERLINE,
} from "./style.ts";

const TEXT = "#d4d4d4";
const BACKGROUND = "#1e1e1e";

export function htmlHead(title: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width">
<meta name="generator" content="Holdfast">
<title>${escaped(title)}</title>
<style>
body { margin: 0; background: ${BACKGROUND}; color: ${TEXT}; }
pre { margin: 0; padding: 1em; white-space: pre-wrap; overflow-wrap: anywhere; font: 14px/1.3 ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; }
</style>
</head>
<body>
<pre dir="ltr">
`;
}

/** A note of Holdfast's own between the lines. */
export function htmlNote(text: string): string {
  return `<span style="opacity:.6;font-style:italic">${escaped(inert(text))}</span>`;
}

export const HTML_END = "</pre>\n</body>\n</html>\n";

export function htmlRow(row: IBufferLine): string {
  let html = "";
  for (const run of runsOf(row)) {
    const text = escaped(inert(run.text));
    html += isPlain(run) ? text : `<span style="${css(run)}">${text}</span>`;
  }
  return html;
}

export function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

function css(style: Style): string {
  const { attributes } = style;
  const swap = (attributes & INVERSE) !== 0;
  const foreground = swap ? (colorOf(style.background) ?? BACKGROUND) : colorOf(style.foreground);
  const background = swap ? (colorOf(style.foreground) ?? TEXT) : colorOf(style.background);
  const lines = [
    (attributes & UNDERLINE) !== 0 && "underline",
    (attributes & STRIKETHROUGH) !== 0 && "line-through",
    (attributes & OVERLINE) !== 0 && "overline",
  ].filter((line) => line !== false);
  return [
    foreground && `color:${foreground}`,
    background && `background:${background}`,
    (attributes & BOLD) !== 0 && "font-weight:bold",
    (attributes & DIM) !== 0 && "opacity:.6",
    (attributes & ITALIC) !== 0 && "font-style:italic",
    (attributes & INVISIBLE) !== 0 && "visibility:hidden",
    lines.length > 0 && `text-decoration:${lines.join(" ")}`,
  ]
    .filter(Boolean)
    .join(";");
}

const SIXTEEN =
  "#000000 #cd3131 #0dbc79 #e5e510 #2472c8 #bc3fbc #11a8cd #e5e5e5 #666666 #f14c4c #23d18b #f5f543 #3b8eea #d670d6 #29b8db #ffffff".split(
    " ",
  );

function colorOf(color: number): string | undefined {
  if (color === DEFAULT) return undefined;
  const parts = colorParts(color);
  if (parts === undefined) return undefined;
  return "rgb" in parts ? hex(parts.rgb) : (SIXTEEN[parts.palette] ?? hex(paletteColor(parts.palette)));
}

/** The 256-colour palette: a cube with six steps per colour, then greys. */
function paletteColor(index: number): number {
  if (index >= 232) return (8 + (index - 232) * 10) * 0x010101;
  const step = (place: number) => [0, 95, 135, 175, 215, 255][Math.floor((index - 16) / place) % 6] ?? 0;
  return (step(36) << 16) | (step(6) << 8) | step(1);
}

function hex(color: number): string {
  return `#${color.toString(16).padStart(6, "0")}`;
}
