import { holdfast } from "./holdfast.mjs";

const ENDED = ["done", "failed", "stopped", "lost"];

/** The demo agent asks for permission to run `ls`. */
const ASKS = "say I list the files here; tool shell ls";

/** Makes sure that a demo agent runs in a session; returns the session's name and a sentence about it. */
export function ensureDemo(options) {
  return demoSession(options);
}

/** Makes sure that a demo agent waits for an approval, so that there is a request to answer. */
export function ensureAskingDemo(options) {
  const demo = demoSession(options, ASKS);
  const { status } = JSON.parse(holdfast(["show", demo.name, "--json"], options));
  if (status === "waiting") return demo;
  if (!demo.isNew) holdfast(["send", demo.name, ASKS, "--no-wait"], options);
  holdfast(["wait", demo.name, "--for", "waiting", "--timeout", "20s"], options);
  return demo;
}

function demoSession(options, ...prompt) {
  const sessions = JSON.parse(holdfast(["ls", "--all", "--json"], options));
  const running = sessions.find(
    (session) => session.agent === "demo" && /^demo(-\d+)?$/.test(session.name) && !ENDED.includes(session.status),
  );
  if (running)
    return {
      name: running.name,
      isNew: false,
      what: `session ${running.name} already runs, since ${running.startedAt ?? running.createdAt}`,
    };

  const taken = sessions.find((session) => session.name === "demo");
  const name = taken ? freeName(sessions) : "demo";
  holdfast(["spawn", "demo", "--name", name, ...prompt], options);
  if (!taken) return { name, isNew: true, what: "started the demo agent in session demo" };
  const state = ENDED.includes(taken.status) ? `has ended (${taken.status})` : `runs another agent (${taken.agent})`;
  return { name, isNew: true, what: `session demo ${state}: started the demo agent in session ${name}` };
}

function freeName(sessions) {
  const names = new Set(sessions.map((session) => session.name));
  let number = 2;
  while (names.has(`demo-${number}`)) number++;
  return `demo-${number}`;
}
