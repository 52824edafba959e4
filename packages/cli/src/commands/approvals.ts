import type { Noun } from "../command.ts";

export const command: Noun = {
  name: "approvals",
  summary: "list and answer permission requests",
  section: "Send and answer",
  onlyPrints: true,
  usage: "[VERB] …",
  description:
    "The longest-waiting request is first. ID is an id, the beginning of one, or the name of a session with exactly one open request. A request answered on the agent's own screen disappears from the list. Rules in config.toml can answer requests: [[approvals.rules]].\n\nFolder-trust dialogs are listed too; one answer covers all worktrees that Holdfast makes of that repository. answer ID takes the text or the number of any choice in such a dialog. To log in, use attach.",
  examples: [
    ["holdfast approvals", "list open requests with tool, arguments, directory and age"],
    ["holdfast approvals show fix-login", "show one request in full"],
    ["holdfast approvals allow", "allow the only open request, once"],
    ["holdfast approvals allow fix-login", "allow the request of one session, once"],
    ["holdfast approvals deny k3f --reason 'use the staging database'", "deny a request; the agent reads the reason and continues"],
    ["holdfast approvals answer fix-login Blue", "answer a question"],
    ["holdfast approvals answer fix-login 2", "pick the second choice of a dialog"],
    ["holdfast approvals watch", "print requests and answers as they happen"],
  ],
  verbs: {
    ls: () => import("./approvals/ls.ts"),
    show: () => import("./approvals/show.ts"),
    allow: () => import("./approvals/allow.ts"),
    deny: () => import("./approvals/deny.ts"),
    answer: () => import("./approvals/answer.ts"),
    watch: () => import("./approvals/watch.ts"),
  },
};
