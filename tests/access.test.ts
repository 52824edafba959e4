/** Tokens, the rights of sessions, and the audit. */
import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import path from "node:path";
import {
  type AnyEvent,
  type AuditEntry,
  type DaemonStatus,
  HoldfastError,
  type NewToken,
  type Session,
  type Token,
  type Workspace,
} from "@holdfast/contract";
import { openHome } from "@holdfast/platform";
import { HoldfastClient, unixTransport } from "@holdfast/sdk";
import { expect, test } from "vitest";
import { eventually, HOLDFAST, TestHome } from "./home.ts";
import { TestRepository } from "./repository.ts";

const USER = `user:${userInfo().username}`;

function clientOf(home: TestHome, token: string): HoldfastClient {
  return new HoldfastClient(unixTransport(openHome(home.env).daemonSocket, { token }));
}

/** The output of a script inside its own run, which keeps running. */
async function inside(home: TestHome, script: string, name = "inside"): Promise<string> {
  await home.run(`(${script}) 2>&1; echo fin-$((1 + 0)); exec sleep 1000`, "--name", name);
  return eventually(async () => {
    const text = await home.ok(["logs", name]);
    return text.includes("fin-1") && text;
  });
}

/** The token of a run, which only its own processes have. */
async function tokenOf(home: TestHome, name: string): Promise<string> {
  const { id, runs } = await home.session(name);
  const launch = readFileSync(path.join(home.path, "sessions", id, "runs", String(runs), "launch"), "utf8");
  return /hfs_[\w-]+/.exec(launch)?.[0] ?? "";
}

function filesBelow(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name));
}

/** A foreign client on the socket itself: prints the status of the daemon's response. */
function bare(home: TestHome, header = ""): string {
  const file = path.join(home.root, "bare.cjs");
  const head = ["GET /sessions HTTP/1.1", "host: x", "connection: close", ...(header === "" ? [] : [header]), "", ""];
  writeFileSync(
    `${file}${header.length}`,
    `const socket = require("node:net").connect(${JSON.stringify(openHome(home.env).daemonSocket)});
     socket.write(${JSON.stringify(head.join("\r\n"))});
     socket.once("data", (data) => console.log(String(data).split(" ")[1])).resume();`,
  );
  return `env -i ${process.execPath} ${file}${header.length}`;
}

const NAMES = `--json | grep -o '"name":"[a-z]*"' | cut -d'"' -f4 | sort | tr '\\n' ,`;

test("inside a run without its token, a command acts as the user only on explicit request (mend 7)", async () => {
  await using home = new TestHome();
  await home.run("exec sleep 1000", "--name", "other");
  const scrubbed = `env -i PATH="$PATH" HOLDFAST_HOME="$HOLDFAST_HOME"`;
  const tried = [
    `env -u HOLDFAST_TOKEN ${HOLDFAST} ls`,
    `HOLDFAST_TOKEN= ${HOLDFAST} ls`,
    `env -u HOLDFAST_TOKEN -u HOLDFAST_RUN ${HOLDFAST} ls`,
    `${scrubbed} ${HOLDFAST} ls`,
    `${scrubbed} ${HOLDFAST} down`,
    `${scrubbed} setsid -w ${HOLDFAST} mcp serve < /dev/null`,
  ];
  const script = [
    ...tried.map((line, n) => `${line}; echo tried-${n}=$?`),
    `echo bare=$(${bare(home)}) owner=$(${bare(home, "holdfast-as: owner")})`,
    `echo left=$( (${bare(home)} &) )`,
    `echo as-owner=$(HOLDFAST_AS=owner ${HOLDFAST} ls ${NAMES})`,
    `echo as-other=$(HOLDFAST_AS=other ${HOLDFAST} ls 2>&1 | head -n 1)`,
    `echo own=$(${HOLDFAST} ls ${NAMES})`,
  ];
  const text = await inside(home, script.join("; "));
  const { id, runs } = await home.session("inside");
  expect([...text.matchAll(/tried-\d=(\d+)/g)].map(([, code]) => code)).toEqual(tried.map(() => "22"));
  expect(text).toContain(`this process is inside the run ${id}-${runs}, but HOLDFAST_TOKEN is not set`);
  expect(text).not.toContain("HOLDFAST_AS=owner ");
  expect(text).toContain("bare=401 owner=200");
  expect(text).toContain("left=401");
  expect(text).toMatch(/as-owner=inside,other,/);
  expect(text).toContain('HOLDFAST_AS is "other"');
  expect(text).toContain("own=inside,");
  expect(await home.ok(["audit", "--actor", `session:${id}`])).toContain("inside a run without its token");
});

test("the user's own client, and a client inside a run of another home, need no token (mend 7)", async () => {
  await using home = new TestHome();
  await using around = new TestHome();
  await home.run("exec sleep 1000", "--name", "here");
  const child = spawn("sh", ["-c", bare(home)]);
  const said = (await child.stdout.toArray()).join("");
  expect(said).toBe("200\n");
  const text = await inside(around, `echo nested=$(env -u HOLDFAST_TOKEN HOLDFAST_HOME=${home.path} ${HOLDFAST} ls ${NAMES})`);
  expect(text).toContain("nested=here,");
});

test("token create prints the token once, ls lists the names, and revoke ends access", async () => {
  await using home = new TestHome();
  const made = await home.json<NewToken>(["token", "create", "--scope", "driver", "--name", "ci", "--expires", "30d"]);
  expect(Object.keys(made)).toEqual(["id", "name", "scope", "token", "expiresAt"]);
  expect(made).toMatchObject({ name: "ci", scope: "driver" });
  expect(Date.parse(made.expiresAt ?? "") - Date.now()).toBeGreaterThan(29.9 * 86_400_000);
  const plain = await home.cli(["token", "create", "--scope", "observer"]);
  expect(plain).toEqual({ code: 0, stdout: expect.stringMatching(/^hft_[a-z2-7]{10}_[\w-]{43}\n$/), stderr: "" });

  const [listed] = await home.json<Token[]>(["token", "ls"]);
  expect(listed).toEqual({
    id: made.id,
    name: "ci",
    scope: "driver",
    createdAt: expect.any(String),
    createdBy: USER,
    expiresAt: made.expiresAt,
    revokedAt: null,
  });
  expect(await home.ok(["token"])).toMatch(new RegExp(`^NAME.*\nci +${made.id}  driver +valid for 29d 23h +${USER}\n`));

  const env = { HOLDFAST_TOKEN: made.token };
  expect(await home.json<DaemonStatus>(["status"], { env })).toMatchObject({ actor: "token:ci", scope: "driver" });
  const { id } = await home.json<Session>(["run", "--", "sleep", "1000"], { env });
  expect(await home.session(id)).toMatchObject({ owner: "token:ci", parent: null });
  expect((await home.cli(["rm", id], { env })).code).toBe(20);
  // The token is nowhere on disk, in a log or in the journal.
  for (const file of filesBelow(home.path)) expect(readFileSync(file).includes(made.token.slice(-43)), file).toBe(false);

  expect(await home.ok(["token", "revoke", "ci"])).toBe("ci was revoked\n");
  expect(await home.cli(["ls"], { env })).toEqual({
    code: 22,
    stdout: "",
    stderr: "holdfast: the token ci was revoked\n  create a new one: holdfast token create\n",
  });
  expect((await home.cli(["token", "revoke", "ci"])).code).toBe(3);
  expect((await home.cli(["token", "create"])).stderr).toContain("no scope given");
  expect((await home.cli(["token", "create", "--scope", "king"])).code).toBe(2);
  expect((await home.cli(["token", "ls", "--scope", "owner"])).code).toBe(2);
  expect((await home.cli(["ls"], { env: { HOLDFAST_TOKEN: "two words" } })).code).toBe(22);
  expect((await home.cli(["ls"], { env: { HOLDFAST_TOKEN: "" } })).code).toBe(0);
});

test("tokens survive a killed daemon, and a stream ends when its token is revoked", async () => {
  await using home = new TestHome();
  const { token } = await home.json<NewToken>(["token", "create", "--scope", "observer", "--name", "reader"]);
  await home.killDaemon();
  await home.ok(["up"]);
  using client = clientOf(home, token);
  const seen: string[] = [];
  const reading = (async () => {
    for await (const { type } of client.events({ query: {} })) seen.push(type);
  })();
  await eventually(() => seen.includes("daemon.started"));
  // A silent stream ends too.
  const { id } = await home.run("echo said; exec sleep 1000");
  let output = "";
  const following = (async () => {
    for await (const chunk of await client.bytes({ params: { ref: id }, query: { follow: true } })) output += String(Buffer.from(chunk));
  })();
  await eventually(() => output === "said\r\n");
  await home.ok(["token", "revoke", "reader"]);
  await reading;
  await following;
  expect(seen).not.toContain("token.revoked");
  await expect(client.call("status", {})).rejects.toMatchObject({ code: "unauthenticated" });
});

test("inside a run holdfast acts as the session: it starts, sees and drives its children, and nothing else", async () => {
  await using home = new TestHome();
  await home.run("exec sleep 1000", "--name", "other");
  const text = await inside(
    home,
    `h=${HOLDFAST}; $h run --name child -- sh -c '${HOLDFAST} run --name grandchild -- sleep 1000; exec sleep 1000' > /dev/null
     until $h show grandchild > /dev/null 2>&1; do sleep 0.05; done
     echo "names:$($h ls --json | tr ',' '\\n' | sed -n 's/.*"name":"\\(.*\\)"/\\1/p' | tr '\\n' ' ')"
     $h keys child Enter > /dev/null && $h rename grandchild renamed > /dev/null && $h stop renamed > /dev/null && echo drove
     for verb in 'show other' 'logs other' 'stop other' 'send other x' 'attach --json other' 'events --session other' 'rm renamed' 'token ls' 'audit' 'down' 'down --all' 'doctor' 'orphans' 'up --listen 127.0.0.1:0' 'rename child other2x'; do
       $h $verb > /dev/null 2> /dev/null; echo "$verb: $?"
     done
     $h show nobody; echo "nobody: $?"`,
  );
  expect(text).toContain("names:inside child grandchild\ndrove\n");
  const refused = ["show other", "logs other", "stop other", "send other x", "attach --json other", "events --session other", "rm renamed"];
  for (const verb of [...refused, "token ls", "audit", "down", "down --all", "doctor", "orphans", "up --listen 127.0.0.1:0"]) {
    expect(text).toContain(`\n${verb}: 20\n`);
  }
  expect(text).toContain("\nrename child other2x: 0\n");
  // The hint names no session of another principal.
  expect(text).toMatch(/choose from: (inside|child|renamed|other2x)(, (inside|child|renamed|other2x)){2}\n/);
  expect(text).toContain("nobody: 3");

  const family = await home.json<Session[]>(["ls", "--all"]);
  const idOf = (name: string) => family.find((session) => session.name === name)?.id;
  expect(family.map(({ name, owner, parent }) => [name, owner, parent])).toEqual([
    ["other", USER, null],
    ["inside", USER, null],
    ["other2x", `session:${idOf("inside")}`, idOf("inside")],
    ["renamed", `session:${idOf("other2x")}`, idOf("other2x")],
  ]);
  expect((await home.session("other")).status).toBe("working");
  expect((await home.session("renamed")).status).toBe("stopped");
});

test("no error shows a session the names of foreign sessions, workspaces and tournaments (mend 2)", async () => {
  await using home = new TestHome();
  const repo = new TestRepository(home);
  await home.run("exec sleep 1000", "--name", "secret-session");
  await home.ok(["workspace", "create", "secret-place"], { cwd: repo.path });
  await home.ok(["spawn", "demo", "--best-of", "2", "--name", "secret-match", "--prompt", "x"], { cwd: repo.path });
  await home.run("exec sleep 1000", "--name", "inside", "--group", "mine");
  using client = clientOf(home, await tokenOf(home, "inside"));
  const places = await home.json<Workspace[]>(["workspace", "ls"]);
  for (const ref of ["nobody", ...places.flatMap(({ id }) => [id.slice(0, 1), id])]) {
    const asked = [
      client.call("getWorkspace", { params: { ref } }),
      client.call("getTournament", { params: { ref } }),
      client.call("setCoordinator", { params: { group: "mine" }, body: { session: ref } }),
    ];
    for (const error of (await Promise.allSettled(asked)).map((each) => (each.status === "rejected" ? each.reason : each.value)))
      expect(error instanceof HoldfastError && JSON.stringify(error.toBody()), ref).not.toMatch(/secret|false/);
  }
});

test("a session reads past and future events of itself and its children only", async () => {
  await using home = new TestHome();
  await home.run("exec sleep 1000", "--name", "other");
  await home.run(`while read -r name; do ${HOLDFAST} run --name $name -- sleep 1000; done`, "--name", "parent");
  const token = await tokenOf(home, "parent");
  using client = clientOf(home, token);
  const seen: AnyEvent[] = [];
  const stop = new AbortController();
  const reading = (async () => {
    for await (const event of client.events({ query: {} }, stop.signal)) seen.push(event);
  })();
  await home.ok(["send", "parent", "child"]);
  await eventually(() => seen.filter(({ type }) => type === "session.started").length === 2);
  await home.ok(["rename", "other", "another"]);
  await home.ok(["stop", "child"]);
  await home.ok(["rm", "child"]);
  await eventually(() => seen.some(({ type }) => type === "session.removed"));
  stop.abort();
  await reading;
  const parent = (await home.session("parent")).id;
  const child = seen.find(({ data }) => data.name === "child")?.session;
  expect(seen.map(({ session, type }) => `${session === parent ? "parent" : session === child ? "child" : session} ${type}`)).toEqual([
    "parent session.created",
    "parent session.started",
    "parent session.input_requested",
    "child session.created",
    "child session.started",
    "child session.stop_requested",
    "child session.ended",
    "child session.removed",
  ]);
  const { events } = await client.call("listEvents", { query: {} });
  expect(events.map(({ seq }) => seq)).toEqual(
    seen.filter(({ session, type }) => session === parent || type === "session.removed").map(({ seq }) => seq),
  );
});

test("a session cannot switch another session's terminals to itself", async () => {
  await using home = new TestHome();
  const other = await home.run("exec sleep 1000", "--name", "other");
  const own = await home.run("exec sleep 1000", "--name", "own");
  using client = clientOf(home, await tokenOf(home, "own"));
  const attach = (from: string) => client.call("attachSession", { params: { ref: "own" }, body: { from } });
  await expect(attach(`${other.id}-1`)).rejects.toMatchObject({ code: "forbidden" });
  await expect(attach(`${own.id}-1`)).rejects.toMatchObject({ code: "usage", message: "own cannot be attached inside itself" });
  expect((await client.call("attachSession", { params: { ref: "own" }, body: { from: null } })).command?.length).toBeGreaterThan(0);
});

test("each run has its own token, kept only in its environment and invalid after the run", async () => {
  await using home = new TestHome();
  await home.run(`${HOLDFAST} status | grep '^you'; read -r x; exit 1`, "--name", "again", "--restart", "always");
  const { id } = await home.session("again");
  const directory = path.join(home.path, "sessions", id, "runs/1");
  const first = await tokenOf(home, "again");
  expect(first).toMatch(new RegExp(`^hfs_${id}-1_`));
  for (const file of ["launch", "token"]) expect(statSync(path.join(directory, file)).mode & 0o777).toBe(0o600);
  for (const file of filesBelow(home.path).filter((file) => !file.endsWith("/launch"))) {
    expect(readFileSync(file).includes(first.slice(-43)), file).toBe(false);
  }
  using client = clientOf(home, first);
  expect(await client.call("status", {})).toMatchObject({ actor: `session:${id}`, scope: "driver" });
  await home.ok(["keys", "again", "Enter"]);
  await home.until("again", ({ runs, status }) => runs === 2 && status === "working");
  await expect(client.call("status", {})).rejects.toMatchObject({ code: "unauthenticated" });
  expect(existsSync(path.join(directory, "launch"))).toBe(false);
  expect(existsSync(path.join(directory, "token"))).toBe(false);
  const second = await tokenOf(home, "again");
  expect(second).toMatch(new RegExp(`^hfs_${id}-2_`));
  await eventually(async () => (await home.ok(["logs", "again"])).includes(`session:${id}, driver`));
});

test("sessions keep their token and its limits when the daemon is killed", async () => {
  await using home = new TestHome();
  await home.run(`while read -r line; do ${HOLDFAST} ls --json; done`, "--name", "asks");
  await home.run("exec sleep 1000", "--name", "other");
  await home.killDaemon();
  await home.ok(["send", "asks", "go"]);
  const { id } = await home.session("asks");
  const text = await eventually(async () => {
    const logs = await home.ok(["logs", "asks", "--raw"]);
    return logs.includes("]\r\n") && logs;
  });
  expect(text).toContain(`"id":"${id}"`);
  expect(text).not.toContain('"other"');
});

test("audit lists actions and refusals with their actors, and filters by time and actor", async () => {
  await using home = new TestHome();
  const { token } = await home.json<NewToken>(["token", "create", "--scope", "observer", "--name", "reader"]);
  await home.run("exec sleep 1000", "--name", "one");
  await home.ok(["send", "one", "secret words"]);
  for (let i = 0; i < 3; i++) expect((await home.cli(["stop", "one"], { env: { HOLDFAST_TOKEN: token } })).code).toBe(20);
  await home.ok(["stop", "one"]);
  const entries = await home.json<AuditEntry[]>(["audit"]);
  expect(Object.keys(entries[0] ?? {})).toEqual(["seq", "at", "actor", "type", "session", "what"]);
  expect(entries.map(({ actor, what }) => `${actor} ${what}`)).toEqual([
    `${USER} created the token reader (observer)`,
    `${USER} started one (shell)`,
    `${USER} typed 12 bytes into one`,
    "token:reader was refused stopSession: needs driver, has observer",
    `${USER} stopped one`,
  ]);
  expect(await home.ok(["audit", "--actor", "token:reader"])).toMatch(
    /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}token:reader {2}was refused stopSession: needs driver, has observer\n$/,
  );
  expect(await home.ok(["audit", "--actor", "token:nobody"])).toBe("No actions.\n");
  expect(await home.json<AuditEntry[]>(["audit", "--since", "1h"])).toEqual(entries);
  expect(await home.json<AuditEntry[]>(["audit", "--since", "0ms"])).toEqual([]);
  expect(await home.ok(["events"])).not.toContain("secret words");
});
