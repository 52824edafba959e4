import { holdfast } from "./holdfast.mjs";

const ENDED = ["done", "failed", "stopped", "lost"];

/** Makes sure that a demo agent works in a session; answers its name and what was done, as a sentence. */
export function ensureDemo(options) {
  const sessions = JSON.parse(holdfast(["ls", "--all", "--json"], options));
  const running = sessions.find(
    (session) => session.agent === "demo" && /^demo(-\d+)?$/.test(session.name) && !ENDED.includes(session.status),
  );
  if (running)
    return { name: running.name, what: `session ${running.name} is already there, since ${running.startedAt ?? running.createdAt}` };

  const taken = sessions.find((session) => session.name === "demo");
  const name = taken ? freeName(sessions) : "demo";
  holdfast(["spawn", "demo", "--name", name], options);
  if (!taken) return { name, what: "started the demo agent in session demo" };
  const state = ENDED.includes(taken.status) ? `has ended (${taken.status})` : `runs something else (${taken.agent})`;
  return { name, what: `session demo ${state}: started the demo agent in session ${name}` };
}

function freeName(sessions) {
  const names = new Set(sessions.map((session) => session.name));
  let number = 2;
  while (names.has(`demo-${number}`)) number++;
  return `demo-${number}`;
}
