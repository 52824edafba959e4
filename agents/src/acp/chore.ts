import { resolve } from "node:path";
import { type Turn, text } from "./turn.ts";

/** Answers a prompt that is not a script like a coding agent: it thinks, reads a file, pretends to change it, and reports. */
export async function playChore(turn: Turn): Promise<void> {
  const { prompt, number, session } = turn;
  const name = `src/${/[a-z]{4,}/i.exec(prompt)?.[0].toLowerCase() ?? "main"}.ts`;
  const path = resolve(session.cwd, name);
  const work = (ms: number) => turn.pause(session.fast ? 0 : ms);
  await turn.think(`I look at ${name} first.`);
  await work(600);
  await turn.call({ title: `Read ${name}`, kind: "read", path }, async () => {
    await work(300);
    return [text("export const done = false;")];
  });
  await turn.call({ title: `Edit ${name}`, kind: "edit", path }, async () => {
    await work(300);
    return [{ type: "diff", path, oldText: "export const done = false;\n", newText: "export const done = true;\n" }];
  });
  await turn.call({ title: "Run npm test", kind: "execute", input: { command: "npm test" } }, async () => {
    await work(600);
    return [text("all tests pass")];
  });
  const [first = "", ...more] = prompt.split("\n");
  const quote = more.length > 0 ? `“${first} …” (${more.length + 1} lines)` : `“${first}”`;
  await turn.say(`Turn ${number}: ${quote} is done. I changed ${name}; the tests pass.`);
}
