import { holdfast } from "./holdfast.mjs";

const ENDED = ["done", "failed", "stopped", "lost"];

/** Makes sure that a demo agent runs in a session; returns the session's name and a sentence about it. */
export function ensureDemo(options) {
  const sessions = JSON.parse(holdfast(["ls", "--all", "--json"], options));
  const running = sessions.find(
    (session) => session.agent === "demo" && /^demo(-\d+)?$/.test(session.name) && !ENDED.includes(session.status),
  );
  if (running) return { name: running.name, what: `session ${running.name} already runs, since ${running.startedAt ?? running.createdAt}` };

  const taken = sessions.find((session) => session.name === "demo");
  const name = taken ? freeName(sessions) : "demo";
  holdfast(["spawn", "demo", "--name", name], options);
  if (!taken) return { name, what: "started the demo agent in session demo" };
  const state = ENDED.includes(taken.status) ? `has ended (${taken.status})` : `runs another agent (${taken.agent})`;
  return { name, what: `session demo ${state}: started the demo agent in session ${name}` };
}

/** Makes an idle demo agent ask for permission, so that there is a request to answer. */
export function askInDemo(name, options) {
  const { status } = JSON.parse(holdfast(["show", name, "--json"], options));
  if (status === "waiting") return;
  holdfast(["send", name, "say I list the files here; tool shell ls", "--no-wait"], options);
  holdfast(["wait", name, "--for", "waiting", "--timeout", "20s"], options);
}

function freeName(sessions) {
  const names = new Set(sessions.map((session) => session.name));
  let number = 2;
  while (names.has(`demo-${number}`)) number++;
  return `demo-${number}`;
}
