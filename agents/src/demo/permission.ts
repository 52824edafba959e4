import type { Composer } from "./composer.ts";
import type { Decision, Hooks } from "./hooks.ts";

export type Asking = { composer: Composer; hooks: Hooks };

/** Asks on the screen and by the hook at once; who answers first decides, and the hook is left to itself then. */
export async function askPermission({ composer, hooks }: Asking, command: string): Promise<Decision> {
  const answered = new AbortController();
  const byHook = hooks.ask({ tool_name: "Bash", tool_input: { command } });
  const byPerson = composer.confirm(`Do you want to run '${command}'? [y/n]`, answered.signal);
  const decision = await Promise.race([decided(byHook), byPerson.then((yes): Decision => ({ behavior: yes ? "allow" : "deny" }))]);
  answered.abort();
  return decision;
}

/** One of the choices; the last one when nobody answers. */
export async function askQuestion({ composer, hooks }: Asking, question: string, choices: readonly string[]): Promise<string> {
  const options = choices.map((label) => ({ label }));
  const byHook = hooks.ask({ tool_name: "AskUserQuestion", tool_input: { questions: [{ question, options }] } });
  const answered = new AbortController();
  const answer = decided(byHook).then(({ updatedInput, message }) => updatedInput?.answers?.[question] ?? message ?? "nothing");
  const said = await Promise.race([answer, composer.choose(question, choices, answered.signal)]);
  answered.abort();
  return said;
}

/** Never ends when it decides nothing: then the screen does. */
function decided(byHook: Promise<Decision | undefined>): Promise<Decision> {
  return new Promise((resolve) => void byHook.then((decision) => decision && resolve(decision)));
}
