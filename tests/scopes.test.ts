/** Every endpoint, called by every kind of principal: generated from the contract, so that a new endpoint is included automatically. */
import type { NewToken, Session, Workspace } from "@holdfast/contract";
import { ENDPOINTS, type Endpoint, type EndpointName, grants, SCOPES, type Scope } from "@holdfast/contract";
import { openHome } from "@holdfast/platform";
import { httpTransport, type Transport, unixTransport } from "@holdfast/sdk";
import { expect, test } from "vitest";
import { eventually, TestHome } from "./home.ts";

const endpoints = Object.entries(ENDPOINTS) as [EndpointName, Endpoint][];

/** The requests change nothing: an invalid body, and unknown names. A caller without the right is refused before that. */
async function ask(
  transport: Transport,
  { method, path, body }: Endpoint,
  ref = "nobody",
): Promise<{ status: number; code: string | undefined }> {
  const request = { method, path: path.replace(/:\w+/g, ref), body: body && "[]" };
  const stop = new AbortController();
  const { status, chunks } = await transport.stream({ ...request, signal: stop.signal });
  let text = "";
  if (status >= 400) for await (const chunk of chunks) text += Buffer.from(chunk).toString();
  stop.abort();
  return { status, code: text === "" ? undefined : (JSON.parse(text) as { error: { code: string } }).error.code };
}

class Doors {
  readonly home: TestHome;
  readonly #url: string;

  constructor(home: TestHome, url: string) {
    this.home = home;
    this.#url = url;
  }

  /** Both transports, with this token. */
  as(token: string | undefined): [string, Transport][] {
    return [
      ["unix", unixTransport(openHome(this.home.env).daemonSocket, { token })],
      ["tcp", httpTransport(this.#url, { token })],
    ];
  }

  async token(scope: Scope, ...flags: string[]): Promise<string> {
    return (await this.home.json<NewToken>(["token", "create", "--scope", scope, ...flags])).token;
  }

  /** The answers of every endpoint, by transport. */
  async answers(
    token: string | undefined,
    ref?: string,
  ): Promise<Map<string, Record<string, { status: number; code: string | undefined }>>> {
    const all = new Map<string, Record<string, { status: number; code: string | undefined }>>();
    for (const [door, transport] of this.as(token)) {
      const answers: Record<string, { status: number; code: string | undefined }> = {};
      for (const [name, endpoint] of endpoints) answers[name] = await ask(transport, endpoint, ref);
      transport.close();
      all.set(door, answers);
    }
    return all;
  }
}

async function open(home: TestHome): Promise<Doors> {
  const { listen } = await home.json<{ listen: { url: string } }>(["up", "--listen", "127.0.0.1:0"]);
  return new Doors(home, listen.url);
}

function allowed(answers: Record<string, { code: string | undefined }>): string[] {
  return Object.keys(answers).filter((name) => !["forbidden", "unauthenticated"].includes(answers[name]?.code ?? ""));
}

test("each scope may use exactly the endpoints that the contract gives it, on both transports", async () => {
  await using home = new TestHome();
  const doors = await open(home);
  for (const scope of SCOPES) {
    const expected = endpoints.filter(([, endpoint]) => grants(scope, endpoint.scope)).map(([name]) => name);
    for (const [door, answers] of await doors.answers(await doors.token(scope))) {
      expect(allowed(answers), `${scope} on ${door}`).toEqual(expected);
      const others = Object.values(answers).filter(({ code }) => code === "forbidden");
      expect(others.length + expected.length).toBe(endpoints.length);
      expect(others.every(({ status }) => status === 403)).toBe(true);
    }
  }
  expect(await home.daemonPid()).toBeGreaterThan(0);
});

test("without a token the Unix socket gives its user every right, and the TCP address refuses all requests", async () => {
  await using home = new TestHome();
  const doors = await open(home);
  const answers = await doors.answers(undefined);
  expect(allowed(answers.get("unix") ?? {})).toEqual(endpoints.map(([name]) => name));
  expect(Object.values(answers.get("tcp") ?? {})).toEqual(endpoints.map(() => ({ status: 401, code: "unauthenticated" })));
});

test("a wrong, expired or revoked token is refused on both transports", async () => {
  await using home = new TestHome();
  const doors = await open(home);
  const good = await doors.token("owner", "--name", "good");
  const revoked = await doors.token("owner", "--name", "revoked");
  const expired = await doors.token("owner", "--expires", "1ms");
  await home.ok(["token", "revoke", "revoked"]);
  const changed = good.slice(0, -1) + (good.endsWith("A") ? "B" : "A");
  const ofNobody = good.replace(/^hft_../, "hft_zz");
  await eventually(async () => (await home.cli(["ls"], { env: { HOLDFAST_TOKEN: expired } })).code === 22);
  for (const token of [revoked, expired, changed, ofNobody, "nonsense", `${good}x`, good.toUpperCase()]) {
    for (const [door, answers] of await doors.answers(token)) {
      expect(Object.values(answers), `${token} on ${door}`).toEqual(endpoints.map(() => ({ status: 401, code: "unauthenticated" })));
    }
  }
});

test("a session's token may use the endpoints that the contract gives to sessions, on itself alone", async () => {
  await using home = new TestHome();
  const doors = await open(home);
  const own = await home.run('echo "$HOLDFAST_TOKEN"; exec sleep 1000', "--name", "own");
  const other = await home.run("exec sleep 1000", "--name", "other");
  const token = await eventually(async () => /hfs_\S+/.exec(await home.ok(["logs", "own", "--raw"]))?.[0]);
  const forSessions = endpoints.filter(([, { reach }]) => reach !== undefined).map(([name]) => name);
  const below = (place: string) => endpoints.filter(([, { path }]) => path.startsWith(`/${place}/:ref`)).map(([name]) => name);
  const forChildren = endpoints.filter(([, { reach }]) => reach === "children").map(([name]) => name);
  const onItself = forSessions.filter((name) => !(below("sessions").includes(name) && forChildren.includes(name)));
  for (const [, answers] of await doors.answers(token, own.id)) expect(allowed(answers)).toEqual(onItself);
  for (const [, answers] of await doors.answers(token, other.id)) {
    expect(allowed(answers)).toEqual(forSessions.filter((name) => !below("sessions").includes(name)));
  }
  const workspace = await home.json<Workspace>(["workspace", "create", "cave"]);
  for (const [, answers] of await doors.answers(token, workspace.id)) {
    const taken = [...below("workspaces"), ...below("sessions")];
    // A "no such session" answer is allowed.
    expect(allowed(answers).filter((name) => below("workspaces").includes(name as EndpointName))).toEqual([]);
    expect(allowed(answers).filter((name) => !taken.includes(name as EndpointName))).toEqual(
      forSessions.filter((name) => !taken.includes(name)),
    );
  }
  expect(forSessions).not.toContain("removeSession");
  expect((await home.json<Session[]>(["ls"])).length).toBe(2);
  await home.ok(["stop", "own"]);
  for (const [, answers] of await doors.answers(token, own.id)) expect(allowed(answers)).toEqual([]);
});
