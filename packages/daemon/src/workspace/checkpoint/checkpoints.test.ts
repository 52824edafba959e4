import type { SessionId, WorkspaceId } from "@holdfast/contract";
import { expect, test } from "vitest";
import { type Scratch, scratchRepository } from "../../../test/scratch-repository.ts";
import { createCheckpoint, findCheckpoint, listCheckpoints, type Place, removeCheckpoints, removeCheckpointsOf } from "./checkpoints.ts";

const WORKSPACE = "workspaceq" as WorkspaceId;
const ANN = "sessionann" as SessionId;
const BOB = "sessionbob" as SessionId;

function placeOf(repository: Scratch, workspace = WORKSPACE): Place {
  return { workspace, worktree: repository.path, env: repository.env };
}

const list = (repository: Scratch, workspace = WORKSPACE) => listCheckpoints(repository.path, workspace, repository.env);
const numbers = async (repository: Scratch) => (await list(repository)).map(({ number }) => number);

test("a checkpoint is listed with its details and the number of files changed since the previous one", async () => {
  using repository = scratchRepository();
  repository.write("a.txt", "a");
  const head = repository.commit("first");
  repository.write("b.txt", "b");
  const first = await createCheckpoint(placeOf(repository), { why: "turn", session: ANN, turn: 3 });
  expect(first).toMatchObject({ number: 1, head, branch: "main", why: "turn", session: ANN, turn: 3, note: null, files: 1, leftOut: [] });
  repository.write("b.txt", "bb");
  repository.write("c.txt", "c".repeat(20));
  repository.remove("a.txt");
  const note = 'say "when" \u2028\n\0 and\ttabs';
  const second = await createCheckpoint(placeOf(repository), { why: "asked", note, largeFile: 10 });
  expect(second).toMatchObject({ number: 2, files: 2, note, leftOut: [{ path: "c.txt", why: "large" }] });
  expect(await list(repository)).toEqual([first, second]);
  expect(await findCheckpoint(placeOf(repository), 2)).toEqual(second);
  expect(await list(repository, "otherspace" as WorkspaceId)).toEqual([]);
});

test("an unknown number is refused with the existing range", async () => {
  using repository = scratchRepository();
  repository.commit("first");
  await expect(findCheckpoint(placeOf(repository), 1)).rejects.toMatchObject({
    code: "checkpoint_not_found",
    hint: expect.stringContaining("none yet"),
  });
  await createCheckpoint(placeOf(repository), { why: "asked" });
  await expect(findCheckpoint(placeOf(repository), 7)).rejects.toMatchObject({ hint: expect.stringContaining("1 to 1") });
});

test("checkpoints made at the same moment get different numbers", async () => {
  using repository = scratchRepository();
  repository.commit("first");
  const made = await Promise.all(
    Array.from({ length: 5 }, (_, index) => createCheckpoint(placeOf(repository), { why: "asked", turn: index })),
  );
  expect(made.map(({ number }) => number).sort()).toEqual([1, 2, 3, 4, 5]);
  const listed = await list(repository);
  expect(listed).toEqual(made.toSorted((a, b) => a.number - b.number));
});

test("the oldest checkpoints beyond the limit are removed, and numbers continue", async () => {
  using repository = scratchRepository();
  repository.commit("first");
  for (let turn = 1; turn <= 5; turn++) await createCheckpoint(placeOf(repository), { why: "turn", turn, keep: 3 });
  expect(await numbers(repository)).toEqual([3, 4, 5]);
});

test("removing a session removes its checkpoints except the workspace's newest; removing the workspace removes all of its own", async () => {
  using repository = scratchRepository();
  repository.commit("first");
  const place = placeOf(repository);
  for (const session of [ANN, BOB, ANN]) await createCheckpoint(place, { why: "turn", session });
  const other = await createCheckpoint(placeOf(repository, "otherspace" as WorkspaceId), { why: "asked" });
  expect(await removeCheckpointsOf(place, ANN)).toBe(1);
  expect(await numbers(repository)).toEqual([2, 3]);
  await createCheckpoint(place, { why: "asked" });
  expect(await removeCheckpointsOf(place, ANN)).toBe(1);
  expect(await numbers(repository)).toEqual([2, 4]);
  await removeCheckpoints(repository.path, WORKSPACE, repository.env);
  await removeCheckpoints(repository.path, WORKSPACE, repository.env);
  expect(await numbers(repository)).toEqual([]);
  expect(await list(repository, "otherspace" as WorkspaceId)).toEqual([other]);
});

test("a ref that is not a checkpoint is ignored, and its number is not reused", async () => {
  using repository = scratchRepository();
  repository.commit("first");
  repository.git("update-ref", `refs/holdfast/checkpoints/${WORKSPACE}/4`, "HEAD");
  repository.git("update-ref", `refs/holdfast/checkpoints/${WORKSPACE}/x`, "HEAD");
  expect(await numbers(repository)).toEqual([]);
  expect(await createCheckpoint(placeOf(repository), { why: "asked" })).toMatchObject({ number: 5 });
});

test("checkpoints and their commits survive git's garbage collection", async () => {
  using repository = scratchRepository();
  repository.write("a.txt", "a");
  const first = repository.commit("first");
  repository.write("a.txt", "b");
  const lost = repository.commit("to be lost");
  repository.write("c.txt", "never committed");
  const { tree } = await createCheckpoint(placeOf(repository), { why: "asked" });
  repository.git("reset", "--quiet", "--hard", first);
  repository.git("reflog", "expire", "--expire=now", "--all");
  repository.git("gc", "--quiet", "--prune=now");
  expect(repository.git("cat-file", "-t", lost)).toBe("commit");
  expect(repository.git("show", `${tree}:c.txt`)).toBe("never committed");
  expect(await numbers(repository)).toEqual([1]);
});
