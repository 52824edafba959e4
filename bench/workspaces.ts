import { existsSync, rmSync } from "node:fs";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Workspace, WorkspaceId } from "@holdfast/contract";
import type { HoldfastClient } from "@holdfast/sdk";
import { type Benchmark, compared, inTurns, type Row, spread } from "./harness.ts";
import { BenchHome, usualEnvironment } from "./rig/home.ts";
import { LargeRepository } from "./rig/large-repository.ts";
import { coreShare } from "./rig/processes.ts";

const LIVE = 20;

const NO_CORE_FREE =
  "While git checks out, the repository's own tree is looked through for files to copy and for changes that stay behind; where no second core is free, that comes on top.";

export const workspaces: Benchmark = {
  name: "workspaces",
  measures:
    "In a repository of 50,000 files with 200 workspaces (60 with --quick), all in memory. Time to create one more over the SDK. Time from new commits in all 20 active workspaces until each has its `workspace.conflicts_changed` (190 pairs and 20 with the base). Time from one commit to its event. The daemon's CPU time over 20 s without commits. `workspace ls` of 20.",
  baseline: "`git worktree add` of the same branch; the daemon without workspaces; `git status` in each of the 20, one after the other",
  budget: "create ≤ 1.3×; radar ≤ 1 s; idle < 1 % of one core",
  async run(scale) {
    await using home = new BenchHome(memory());
    await home.ok(["up"]);
    using client = home.client();
    const bench = new Caves(home, client);
    await bench.settle();
    const idleMs = scale.quick ? 5000 : 20_000;
    const present = scale.quick ? 60 : 200;
    const daemon = [await home.daemonPid()];
    const before = await coreShare({ daemon }, idleMs);
    const live = await bench.createSmall(LIVE, "live");
    const ls = await bench.list(scale.rounds(6), live);
    await bench.createSmall(present - LIVE, "present");
    // The work that the last one triggered has ended by then.
    await delay(2000);
    const during = await coreShare({ daemon }, idleMs);
    const create = await bench.create({ rounds: scale.rounds(5), present });
    return [
      create,
      ...(await bench.radar(live, scale.rounds(6))),
      {
        what: `the daemon with ${present} workspaces, nobody commits`,
        unit: "% of a core",
        subject: spread([during.daemon]),
        baseline: { name: "none", ...spread([before.daemon]) },
        limit: { of: "subject", atMost: 1 },
      },
      ls,
    ];
  },
};

/** Uses tmpfs if there is one: the varying disk time for 50,000 files would hide everything else. */
function memory(): string | undefined {
  return existsSync("/dev/shm") ? "/dev/shm" : undefined;
}

class Caves {
  readonly #home: BenchHome;
  readonly #client: HoldfastClient;
  readonly #repository: LargeRepository;
  readonly #env: Record<string, string>;

  constructor(home: BenchHome, client: HoldfastClient) {
    this.#home = home;
    this.#client = client;
    this.#env = usualEnvironment(home.env);
    this.#repository = new LargeRepository(path.join(home.root, "large"), home.env);
  }

  settle(): Promise<void> {
    return this.#repository.settle();
  }

  /** One file each, because two hundred times 50,000 would fill a disk; measured in the last one, where there is little to search. */
  async createSmall(count: number, name: string): Promise<Workspace[]> {
    const made: Workspace[] = [];
    while (made.length < count) made.push(await this.#create(`${name}-${made.length}`, { base: "small", cwd: made.at(-1)?.path }));
    return made;
  }

  async create({ rounds, present }: { rounds: number; present: number }): Promise<Row> {
    let count = 0;
    const times = await inTurns(rounds, {
      holdfast: async () => {
        const began = performance.now();
        const made = await this.#create(`large-${count++}`, { base: "main" });
        const took = performance.now() - began;
        await this.#client.call("removeWorkspace", { params: { ref: made.id }, body: { env: this.#env, force: true } });
        return took;
      },
      git: () => {
        const tree = path.join(this.#home.path, "plain", String(count++), "tree");
        const began = performance.now();
        this.#repository.git(["worktree", "add", "--quiet", "-b", `plain-${count}`, tree, "main"]);
        const took = performance.now() - began;
        rmSync(tree, { recursive: true });
        this.#repository.git(["worktree", "prune"]);
        return took;
      },
    });
    const row = { what: `create, ${present} there`, unit: "ms", limit: { of: "ratio", atMost: 1.3 }, whenMissed: NO_CORE_FREE } as const;
    return compared(row, times.holdfast, { name: "git", values: times.git });
  }

  async radar(live: readonly Workspace[], rounds: number): Promise<Row[]> {
    const leaving = new AbortController();
    const told = new Map<WorkspaceId, (at: number) => void>();
    const stream = this.#client.events({ query: { type: ["workspace.conflicts_changed"] } }, leaving.signal);
    const reading = (async () => {
      for await (const { data } of stream) told.get(data.id as WorkspaceId)?.(performance.now());
    })().catch((error: unknown) => {
      if (!leaving.signal.aborted) throw error;
    });
    const until = (some: readonly Workspace[]) =>
      Promise.all(some.map(({ id }) => new Promise<number>((resolve) => told.set(id, resolve))));
    const all: number[] = [];
    const one: number[] = [];
    this.#repository.move({ "refs/heads/small": "refs/heads/main" });
    for (let round = 0; round < rounds; round++) {
      const commits = this.#repository.commits({ count: LIVE + 1, round });
      const seen = until(live);
      let began = performance.now();
      this.#repository.move(Object.fromEntries(live.map(({ branch }, index) => [`refs/heads/${branch}`, commits[index] ?? ""])));
      all.push(Math.max(...(await seen)) - began);
      // Back on the base, so there is no conflict.
      const [first] = live;
      const alone = until(live.slice(0, 1));
      began = performance.now();
      this.#repository.move({ [`refs/heads/${first?.branch}`]: "refs/heads/main" });
      one.push(((await alone)[0] ?? 0) - began);
    }
    leaving.abort();
    await reading;
    return [
      { what: `commits in ${LIVE} to the last event`, unit: "ms", subject: spread(all), limit: { of: "subject", atMost: 1000 } },
      { what: "one commit to its event", unit: "ms", subject: spread(one) },
    ];
  }

  async list(rounds: number, live: readonly Workspace[]): Promise<Row> {
    const times = await inTurns(rounds, {
      holdfast: async () => {
        const began = performance.now();
        await this.#client.call("listWorkspaces", { query: {} });
        return performance.now() - began;
      },
      git: () => {
        const began = performance.now();
        for (const tree of live) this.#repository.git(["-C", tree.path, "status", "--porcelain"]);
        return performance.now() - began;
      },
    });
    return compared({ what: `ls of ${LIVE}`, unit: "ms" }, times.holdfast, { name: "git status", values: times.git });
  }

  #create(name: string, { base, cwd = this.#repository.path }: { base: string; cwd?: string | undefined }): Promise<Workspace> {
    const body = { cwd, env: this.#env, name, base };
    return this.#client.call("createWorkspace", { body });
  }
}
