import { structuredFor, USUAL_MODEL } from "../own-agent.ts";
import type { Profile } from "../profile.ts";

const ours = { model: USUAL_MODEL };

export const model: Profile = {
  name: "model",
  description: "any model, set by OPENAI_* or ANTHROPIC_* in the environment; only for conversations",
  kind: "terminal",
  command: structuredFor(ours),
  structured: structuredFor(ours),
  ours,
  chatOnly: true,
};
