import type { Command } from "./command.ts";

/** In the order of help. Each is loaded only when it is needed. */
export const COMMANDS: Readonly<Record<string, () => Promise<{ command: Command }>>> = {
  run: () => import("./commands/run.ts"),
  spawn: () => import("./commands/spawn.ts"),
  agents: () => import("./commands/agents.ts"),
  ls: () => import("./commands/ls.ts"),
  show: () => import("./commands/show.ts"),
  explain: () => import("./commands/explain.ts"),
  next: () => import("./commands/next.ts"),
  statusline: () => import("./commands/statusline.ts"),
  attach: () => import("./commands/attach.ts"),
  detach: () => import("./commands/detach.ts"),
  logs: () => import("./commands/logs.ts"),
  workspace: () => import("./commands/workspace.ts"),
  compare: () => import("./commands/compare.ts"),
  keep: () => import("./commands/keep.ts"),
  checkpoint: () => import("./commands/checkpoint.ts"),
  replay: () => import("./commands/replay.ts"),
  export: () => import("./commands/export.ts"),
  context: () => import("./commands/context.ts"),
  approvals: () => import("./commands/approvals.ts"),
  send: () => import("./commands/send.ts"),
  messages: () => import("./commands/messages.ts"),
  keys: () => import("./commands/keys.ts"),
  screen: () => import("./commands/screen.ts"),
  wait: () => import("./commands/wait.ts"),
  resume: () => import("./commands/resume.ts"),
  restore: () => import("./commands/restore.ts"),
  stop: () => import("./commands/stop.ts"),
  rm: () => import("./commands/rm.ts"),
  rename: () => import("./commands/rename.ts"),
  prune: () => import("./commands/prune.ts"),
  du: () => import("./commands/du.ts"),
  events: () => import("./commands/events.ts"),
  audit: () => import("./commands/audit.ts"),
  token: () => import("./commands/token.ts"),
  up: () => import("./commands/up.ts"),
  down: () => import("./commands/down.ts"),
  status: () => import("./commands/status.ts"),
  doctor: () => import("./commands/doctor.ts"),
  boot: () => import("./commands/boot.ts"),
  orphans: () => import("./commands/orphans.ts"),
  backup: () => import("./commands/backup.ts"),
  version: () => import("./commands/version.ts"),
  completion: () => import("./commands/completion.ts"),
  __complete: () => import("./commands/complete.ts"),
};

/** Only what is listed: every object also has a `constructor`. */
export function findCommand(name: string): (() => Promise<{ command: Command }>) | undefined {
  return Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
}
