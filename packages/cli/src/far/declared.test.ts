import { expect, test } from "vitest";
import { COMMANDS } from "../registry.ts";
import { declared } from "./declared.ts";

const follows = async (argv: string[]) => (await declared(argv)).follows;

test("every command that follows output reconnects after a broken connection (SYM-17 resume)", async () => {
  for (const [name, load] of Object.entries(COMMANDS)) {
    const { flags = {}, arguments: words } = (await load()).command;
    const line = words ? [name, "x"] : [name];
    for (const flag of ["follow", "watch"].filter((each) => Object.hasOwn(flags, each))) {
      expect(await follows([...line, `--${flag}`]), `${name} --${flag}`).toBe(true);
      expect(await follows(line), name).toBe(false);
    }
  }
  expect(await follows(["approvals", "watch"])).toBe(true);
  expect(await follows(["group", "watch", "team", "--after", "3"])).toBe(true);
  expect(await follows(["group", "show", "team"])).toBe(false);
  expect(await follows(["logs", "--help", "-f"])).toBe(false);
  expect(await follows(["nothing", "-f"])).toBe(false);
});
