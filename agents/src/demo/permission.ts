import type { Composer } from "./composer.ts";
import type { Decision, Hooks } from "./hooks.ts";

export type Asking = { composer: Composer; hooks: Hooks };

/** Asks on the screen and through the hook at once. The first answer counts; the hook is then left running. */
export async function askPermission({ composer, hooks }: Asking, command: string): Promise<Decision> {
  const answered = new AbortController();
  const byHook = hooks.ask({ tool_name: "Bash", tool_input: { command } });
  const byPerson = composer.confirm(`Do you want to run '${command}'? [y/n]`, answered.signal);
  const decision = await Promise.race([decided(byHook), byPerson.then((yes): Decision => ({ behavior: yes ? "allow" : "deny" }))]);
  answered.abort();
  return decision;
}

/** Returns one of the choices; the last one if nobody answers. */
export async function askQuestion({ composer, hooks }: Asking, question: string, choices: readonly string[]): Promise<string> {
  const options = choices.map((label) => ({ label }));
  const byHook = hooks.ask({ tool_name: "AskUserQuestion", tool_input: { questions: [{ question, options }] } });
  const answered = new AbortController();
  const answer = decided(byHook).then(({ updatedInput, message }) => updatedInput?.answers?.[question] ?? message ?? "nothing");
  const said = await Promise.race([answer, composer.choose(question, choices, answered.signal)]);
  answered.abort();
  return said;
}

/** Never resolves if the hook decides nothing; the screen decides then. */
function decided(byHook: Promise<Decision | undefined>): Promise<Decision> {
  return new Promise((resolve) => void byHook.then((decision) => decision && resolve(decision)));
}
