import type { Noun } from "../command.ts";

export const command: Noun = {
  name: "token",
  summary: "create, list and revoke tokens",
  section: "Administration",
  onlyPrints: true,
  usage: "[VERB] …",
  description:
    "A token lets a program or a person act under its name, within its scope. owner: everything. driver: start, type into and stop sessions. approver: answer approvals. observer: read. The token is shown once; only its hash is stored. Put it into HOLDFAST_TOKEN.",
  examples: [
    ["holdfast token create --scope observer --name dashboard --expires 30d", "print a new token, once"],
    ["holdfast token ls", "list the tokens"],
    ["holdfast token revoke dashboard", "revoke a token and end its streams"],
  ],
  verbs: {
    ls: () => import("./token/ls.ts"),
    create: () => import("./token/create.ts"),
    revoke: () => import("./token/revoke.ts"),
  },
};
