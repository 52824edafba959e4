/**
 * A film as one animated SVG without script: CSS keyframes only, so that it plays where an image is shown. Every row of the terminal is a
 * strip of all its contents, one below the other, that moves by whole lines; a row that changes costs one keyframe and its new content.
 */
import { BOLD, colorParts, DIM, INVERSE, ITALIC, type Run, UNDERLINE } from "../../packages/cli/src/render/style.ts";
import type { Film, Row } from "./frames.ts";
import { shapeOf } from "./shapes.ts";

const WIDTH = 800;
const LINE = 19;
const TITLE = 34;
const FOOT = 46;
const MARGIN = 20;
const FADE_S = 0.25;

const MONO = "ui-monospace,'JetBrains Mono',SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono','Liberation Mono',monospace";
const SANS = "Inter,-apple-system,BlinkMacSystemFont,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif";
const PANEL = "#0c0e11";
const BAR = "#13161b";
const EDGE = "#242a33";
const TEXT = "#e7eaf0";
const MUTED = "#a3acba";
const FAINT = "#7f8998";
const SELECTED = "#6ea8fe";
const SIXTEEN =
  "#242a33 #f16a6a #4cc38a #f5a524 #6ea8fe #c297ff #5cc8d6 #d5dae2 #7f8998 #ff8f8f #6fdca6 #ffc15e #9cc4ff #d9bcff #8ce0ea #ffffff".split(
    " ",
  );

export function svgOf(film: Film, { title, closed }: { title: string; closed: string }): string {
  const cell = (WIDTH - 2 * MARGIN) / film.columns;
  const height = TITLE + film.rows * LINE + 22 + FOOT;
  const strips = Array.from({ length: film.rows }, (_, y) => strip(film, y, cell));
  const captions = film.captions.map((caption, index) => ({ ...caption, to: film.captions[index + 1]?.at ?? film.duration }));
  const foot = height - FOOT;
  const segment = (WIDTH - 2 * MARGIN + 6) / captions.length;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-labelledby="title" xml:space="preserve">
<title id="title">${escaped(title)}</title>
<style>
text{font:${round(cell / 0.602)}px ${MONO};fill:${TEXT}}
.s{font-family:${SANS};font-size:13px}
.b{font-weight:700}.d{opacity:.62}.i{font-style:italic}.u{text-decoration:underline}
.a,.w,.x{animation-duration:${round(film.duration)}s;animation-iteration-count:infinite}
.a{animation-timing-function:step-end}.w,.x{animation-timing-function:linear}
.w{animation-name:w}.x{animation-name:x;opacity:0}
${fades("w", film)}
${strips.map(({ css }) => css).join("")}${captions.map((caption, index) => captionCss(film, caption, index)).join("")}
@media (prefers-reduced-motion:reduce){.a,.w,.x{animation:none}}
</style>
<rect x=".5" y=".5" width="${WIDTH - 1}" height="${height - 1}" rx="11" fill="${PANEL}" stroke="${EDGE}"/>
<text class="s x" x="${WIDTH / 2}" y="${TITLE + (film.rows * LINE) / 2}" text-anchor="middle" style="font-size:19px">${escaped(closed)}</text>
<g class="w">
<path d="M1 ${TITLE}V11.5A10.5 10.5 0 0 1 11.5 1h${WIDTH - 23}A10.5 10.5 0 0 1 ${WIDTH - 1} 11.5V${TITLE}z" fill="${BAR}"/>
<path d="M1 ${TITLE}.5H${WIDTH - 1}" stroke="${EDGE}"/>
${[0, 1, 2].map((dot) => `<circle cx="${MARGIN + 5 + dot * 18}" cy="${TITLE / 2 + 0.5}" r="5.5" fill="#333b47"/>`).join("")}
<text class="s" x="${WIDTH / 2}" y="${TITLE / 2 + 5}" text-anchor="middle" fill="${FAINT}" style="fill:${FAINT}">Terminal</text>
<svg x="${MARGIN}" y="${TITLE + 12}" width="${WIDTH - 2 * MARGIN}" height="${film.rows * LINE}">
${strips.map(({ svg }) => svg).join("\n")}
</svg>
</g>
<path d="M1 ${foot}.5H${WIDTH - 1}" stroke="${EDGE}"/>
${captions.map((_, index) => `<rect x="${round(MARGIN + index * segment)}" y="${foot - 1}" width="${round(segment - 6)}" height="3" rx="1.5" fill="${SELECTED}" class="a p${index}"/>`).join("")}
${captions.map(({ text }, index) => `<g class="a c${index}"><text class="s" x="${MARGIN}" y="${foot + 28}" style="fill:${FAINT}">${index + 1}/${captions.length}</text><text class="s b" x="${MARGIN + 34}" y="${foot + 28}" style="font-size:14.5px">${escaped(text)}</text></g>`).join("\n")}
</svg>
`;
}

/** All contents of one row, and the keyframes that show one at a time. */
function strip(film: Film, y: number, cell: number): { svg: string; css: string } {
  const contents = [""];
  const steps: { at: number; index: number }[] = [];
  for (const { at, rows } of film.frames) {
    const content = svgRow(rows[y] ?? { runs: [] }, cell);
    let index = contents.indexOf(content);
    if (index < 0) index = contents.push(content) - 1;
    if (steps.at(-1)?.index !== index) steps.push({ at, index });
  }
  if (contents.length === 1) return { svg: "", css: "" };
  const move = (index: number) => `transform:translateY(${-index * LINE}px)`;
  const keyframes = steps.map(({ at, index }) => `${percent(at, film)}{${move(index)}}`).join("");
  // Without animation the last frame shows.
  const css = `.r${y}{animation-name:r${y};${move(steps.at(-1)?.index ?? 0)}}@keyframes r${y}{${keyframes}}\n`;
  const lines = contents.map((content, index) => (content === "" ? "" : `<g transform="translate(0 ${index * LINE})">${content}</g>`));
  return { svg: `<svg y="${y * LINE}" width="100%" height="${LINE}"><g class="a r${y}">${lines.join("")}</g></svg>`, css };
}

function svgRow({ runs, cursor }: Row, cell: number): string {
  // Backgrounds first: one that is drawn later covers the edge of its neighbour's text.
  const parts = [...runs.map((run) => background(run, cell)), ...runs.map((run) => svgRun(run, cell))];
  if (cursor !== undefined) {
    parts.unshift(`<rect x="${round(cursor * cell)}" y="1" width="${round(cell)}" height="${LINE - 2}" fill="${MUTED}"/>`);
  }
  return parts.join("");
}

function svgRun(run: Run, cell: number): string {
  const foreground = isInverse(run) ? (colorOf(run.background) ?? PANEL) : colorOf(run.foreground);
  const classes = [
    run.attributes & BOLD && "b",
    run.attributes & DIM && "d",
    run.attributes & ITALIC && "i",
    run.attributes & UNDERLINE && "u",
  ];
  const names = classes.filter(Boolean).join(" ");
  const look = `${names && ` class="${names}"`}${foreground ? ` style="fill:${foreground}"` : ""}`;
  // Other fonts draw these characters with gaps or in another width: lines and blocks are shapes, the rest stands in its own cell.
  const pieces = run.text.matchAll(/[\u23bf\u23f8\u2500-\u257f]+|[\u2580-\u259f]+|[!-~](?: ?[!-~])*|[^ ]/gu);
  let texts = "";
  for (const { 0: piece, index } of pieces) {
    const x = (run.column + [...run.text.slice(0, index)].length) * cell;
    const shape = shapeOf(piece, { x, cell, line: LINE, color: foreground ?? TEXT });
    const length = piece.length > 1 ? ` textLength="${round(piece.length * cell)}"` : "";
    texts += shape ?? `<text x="${round(x)}" y="14"${length}${look}>${escaped(piece)}</text>`;
  }
  return texts;
}

function background(run: Run, cell: number): string {
  const color = isInverse(run) ? (colorOf(run.foreground) ?? MUTED) : colorOf(run.background);
  if (color === undefined) return "";
  return `<rect x="${round(run.column * cell)}" width="${round([...run.text].length * cell)}" height="${LINE}" fill="${color}"/>`;
}

function isInverse({ attributes }: Run): boolean {
  return (attributes & INVERSE) !== 0;
}

/** Fades the window out when its terminal is closed and in when the next one opens; the note does the opposite. */
function fades(name: string, film: Film): string {
  const points = film.windows.flatMap(({ from, to }, index) => [
    ...(index === 0 ? [] : [`${percent(from - FADE_S, film)}{opacity:0}${percent(from, film)}{opacity:1}`]),
    ...(index === film.windows.length - 1 ? [] : [`${percent(to, film)}{opacity:1}${percent(to + FADE_S, film)}{opacity:0}`]),
  ]);
  const shown = `@keyframes ${name}{0%{opacity:1}${points.join("")}100%{opacity:1}}`;
  const swapped = shown.replace(/opacity:(\d)/g, (_, value) => `opacity:${1 - Number(value)}`);
  return `${shown}\n${swapped.replace(`keyframes ${name}`, "keyframes x")}`;
}

/** The caption shows during its part only; its bar stays once it is reached. */
function captionCss(film: Film, { at, to }: { at: number; to: number }, index: number): string {
  const isLast = to >= film.duration;
  const from = index === 0 ? "" : "0%{opacity:0}";
  const bar = index === 0 ? "" : `0%{opacity:.18}`;
  return (
    `.c${index}{animation-name:c${index};opacity:${isLast ? 1 : 0}}.p${index}{animation-name:p${index}}` +
    `@keyframes c${index}{${from}${percent(index === 0 ? 0 : at, film)}{opacity:1}${isLast ? "" : `${percent(to, film)}{opacity:0}`}}` +
    `@keyframes p${index}{${bar}${percent(index === 0 ? 0 : at, film)}{opacity:1}}\n`
  );
}

function colorOf(color: number): string | undefined {
  const parts = colorParts(color);
  if (parts === undefined) return undefined;
  if ("rgb" in parts) return `#${parts.rgb.toString(16).padStart(6, "0")}`;
  return SIXTEEN[parts.palette] ?? cubeColor(parts.palette);
}

/** Of a terminal's 256 colours, those behind the first 16: a cube of six steps for each colour, then greys. */
function cubeColor(index: number): string {
  if (index >= 232) return `#${(8 + (index - 232) * 10).toString(16).padStart(2, "0").repeat(3)}`;
  const step = (place: number) => ([0, 95, 135, 175, 215, 255][Math.floor((index - 16) / place) % 6] ?? 0).toString(16).padStart(2, "0");
  return `#${step(36)}${step(6)}${step(1)}`;
}

function percent(at: number, film: Film): string {
  return `${Math.round((at / film.duration) * 100_000) / 1000}%`;
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
