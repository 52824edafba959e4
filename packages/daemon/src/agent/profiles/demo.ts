import { join } from "node:path";
import type { Profile } from "../profile.ts";

export const demo: Profile = {
  name: "demo",
  description: "a scripted stand-in for a coding agent, for trying things out",
  kind: "terminal",
  command: ({ node, programs }) => [node, join(programs, "demo.mjs")],
  prompt: ["{prompt}"],
  interrupt: ["Escape"],
};
