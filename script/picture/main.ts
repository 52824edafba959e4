/**
 * Records the session and draws docs/images/demo.svg. `--keep DIR` keeps the recordings as asciicasts; `--cast FILE FILE` draws existing
 * recordings instead of a new one.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { ROOT } from "../../tests/home.ts";
import { readCast, writeCast } from "./cast.ts";
import { filmOf } from "./frames.ts";
import { record } from "./record.ts";
import { svgOf } from "./svg.ts";

const { values, positionals } = parseArgs({ options: { cast: { type: "boolean" }, keep: { type: "string" } }, allowPositionals: true });
const casts = values.cast ? positionals.map((file) => readCast(readFileSync(file, "utf8"))) : await record();
if (values.keep !== undefined) {
  mkdirSync(values.keep, { recursive: true });
  for (const [index, cast] of casts.entries()) writeFileSync(path.join(values.keep, `${index + 1}.cast`), writeCast(cast));
}
const film = filmOf(casts);
const svg = svgOf(film, {
  title:
    "Three coding agents start in a terminal. The terminal is closed and a new one opens. holdfast ls shows all three, holdfast next attaches to the one that waits, and its permission request is approved.",
  closed: "The terminal is closed. The agents keep running.",
});
const file = path.join(ROOT, "docs/images/demo.svg");
mkdirSync(path.dirname(file), { recursive: true });
writeFileSync(file, svg);
console.log(
  `${path.relative(ROOT, file)}: ${film.frames.length} frames, ${film.duration.toFixed(1)} s, ${Math.ceil(svg.length / 1024)} KB`,
);
