/** Initial text of the Working Context files (a heading and one line on their content), and the note that points agents to them. */
import { CONTEXT_FILES, type ContextFileName } from "@holdfast/contract";

const TEMPLATES: Readonly<Record<ContextFileName, readonly [heading: string, belongs: string]>> = {
  "background.md": ["Background", "The purpose of this work, the known facts, and the constraints."],
  "plan.md": ["Plan", "The steps to do, and which of them are done."],
  "working-log.md": ["Working log", "Work done, decisions and findings, the newest last; also failed attempts."],
  "results-summary.md": ["Results", "The outcome: the changes, how they were checked, and the open points."],
};

export function template(name: ContextFileName): string {
  const [heading, belongs] = TEMPLATES[name];
  return `# ${heading}\n\n${belongs}\n`;
}

/** `about`: the user's request in their own words. */
export function backgroundOf(about: string): string {
  return `${template("background.md")}\n## The request\n\n${about.trim()}\n`;
}

/** True if nothing was added to the template. */
export function isEmpty(name: ContextFileName, text: string): boolean {
  const written = text.trim();
  return written === "" || written === template(name).trim();
}

/** Follows the user's text in a session's first prompt. One paragraph, so that the agent does not take it for the task. */
export function pointerTo(directory: string): string {
  const [background, plan, log, results] = CONTEXT_FILES;
  return (
    `[Working Context: ${directory}/ keeps the knowledge about this work, also from earlier agents. First read ${background} (purpose), ${plan} ` +
    `(steps), ${log} (work done and findings) and ${results} there. Keep ${plan} and ${log} up to date as you work, and write ` +
    `${results} at the end. Git ignores these files: do not commit them. If a tool refuses ignored files, use the shell.]`
  );
}
