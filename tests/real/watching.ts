/** Follows Holdfast's status of a real agent. */
import type { Explanation, Session, SessionStatus } from "@holdfast/contract";
import { eventually } from "../home.ts";
import type { AgentName } from "./agents.ts";
import type { RealWorld } from "./world.ts";

/** The agents are programs of 100 MB and more, on a busy machine. */
const PATIENCE_MS = 120_000;

/** Waits until the session matches; returns it. */
export async function becomes(world: RealWorld, name: string, is: SessionStatus | ((session: Session) => boolean)): Promise<Session> {
  using client = world.home.client();
  const fits = typeof is === "string" ? ({ status }: Session) => status === is : is;
  let last: Session | undefined;
  try {
    return await eventually(
      async () => {
        last = await client.call("getSession", { params: { ref: name } });
        return fits(last) && last;
      },
      PATIENCE_MS,
      50,
    );
  } catch {
    const explanation = JSON.stringify(await explain(world, name), null, 1);
    const { lines, title } = await world.screen(name);
    throw new Error(`${name} never was ${is}; it is ${JSON.stringify(last)}\n${explanation}\n${title}\n${lines.join("\n").trimEnd()}`);
  }
}

export async function explain(world: RealWorld, name: string): Promise<Explanation> {
  using client = world.home.client();
  return (await client.call("explainSession", { params: { ref: name } })).explanation;
}

/** The session's statuses since its first turn began, with the reason for waiting. */
export async function statuses(world: RealWorld, name: string): Promise<string[]> {
  const { id } = await world.home.session(name);
  const events = (await world.home.ok(["events", "--json"])).trim().split("\n");
  const all = events
    .map((line) => JSON.parse(line) as { type: string; session: string; data: { status: string; attention: { for: string } | null } })
    .filter(({ type, session }) => type === "session.status_changed" && session === id)
    .map(({ data }) => (data.attention ? `${data.status} for ${data.attention.for}` : data.status));
  return all.slice(all.indexOf("working"));
}

/** Presses Esc as often as the agent needs; for most agents a second Esc means something else. opencode reads two at once as Alt+Esc. */
export async function interrupt(world: RealWorld, agent: AgentName, name: string = agent): Promise<void> {
  const press = () => world.home.ok(["keys", name, "Escape"]);
  if (agent !== "opencode") return void (await press());
  const offered = async () => /esc\s+(again to )?interrupt/.test((await world.screen(name)).lines.join("\n"));
  await press();
  await eventually(
    async () => {
      await press();
      return !(await offered());
    },
    PATIENCE_MS,
    1000,
  );
}
