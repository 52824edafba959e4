/** What the files of a Working Context begin as: a heading, and one line on what belongs there. And what an agent is told of them. */
import { CONTEXT_FILES, type ContextFileName } from "@holdfast/contract";

const TEMPLATES: Readonly<Record<ContextFileName, readonly [heading: string, belongs: string]>> = {
  "background.md": ["Background", "What this work is for, what is known about it, and what must not be forgotten."],
  "plan.md": ["Plan", "What is to be done, step by step, and which steps are done."],
  "working-log.md": ["Working log", "What was done, decided and found out, the newest last; also what did not work."],
  "results-summary.md": ["Results", "What came of it, in the end: what changed, how it was checked, what is left."],
};

export function template(name: ContextFileName): string {
  const [heading, belongs] = TEMPLATES[name];
  return `# ${heading}\n\n${belongs}\n`;
}

/** `about`: what somebody wants done, in their own words. */
export function backgroundOf(about: string): string {
  return `${template("background.md")}\n## As it was asked for\n\n${about.trim()}\n`;
}

/** Nothing was added to how it began. */
export function isEmpty(name: ContextFileName, text: string): boolean {
  const written = text.trim();
  return written === "" || written === template(name).trim();
}

/** Follows the user's own words in a session's first prompt. One paragraph: it must not be taken for the task. */
export function pointerTo(directory: string): string {
  const [background, plan, log, results] = CONTEXT_FILES;
  return (
    `[Working Context: ${directory}/ keeps what is known of this work, also by agents before you. First read ${background} (what it is for), ${plan} ` +
    `(what to do), ${log} (what was done and found out) and ${results} there. Keep ${plan} and ${log} up to date as you work, and write ` +
    `${results} at the end. Git ignores them: do not commit them, and where a tool refuses ignored files, use the shell.]`
  );
}
