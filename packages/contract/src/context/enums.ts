/** Enumerations of Working Contexts. No schema library here: the CLI's hot path loads this file. */

/** Files of a Working Context, in reading order. */
export const CONTEXT_FILES = ["background.md", "plan.md", "working-log.md", "results-summary.md"] as const;
export type ContextFileName = (typeof CONTEXT_FILES)[number];

/** State of such a file: missing, still the template, or with content. */
export const CONTEXT_STATES = ["missing", "empty", "written"] as const;
