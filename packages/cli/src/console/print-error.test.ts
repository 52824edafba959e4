import { HoldfastError } from "@holdfast/contract/errors";
import { afterEach, expect, test, vi } from "vitest";
import { printError } from "./print-error.ts";

afterEach(() => vi.restoreAllMocks());

function printed(error: HoldfastError): string {
  let text = "";
  vi.spyOn(process.stderr, "write").mockImplementation((chunk) => {
    text += String(chunk);
    return true;
  });
  printError(error, { json: false });
  return text;
}

test("similar names are suggested with 'did you mean', other candidates with 'choose from' (mend 18)", () => {
  const missing = (ref: string) =>
    new HoldfastError("session_not_found", `no session has the name ${JSON.stringify(ref)}`, { candidates: ["build", "tests"] });
  expect(printed(missing("biuld"))).toContain("did you mean: build\n");
  expect(printed(missing("zzzzzz"))).toContain("choose from: build, tests");
  expect(printed(new HoldfastError("usage", "run has no flag --nme", { candidates: ["--name"] }))).toContain("did you mean: --name");
  const flag = new HoldfastError("usage", "chat has no flag --name", { candidates: ["--no-setup"] });
  expect(printed(flag)).not.toContain("did you mean");
  const short = new HoldfastError("session_not_found", 'no session has the name "e2"', { candidates: ["a", "g1", "t7"] });
  expect(printed(short)).toContain("choose from: a, g1, t7");
  expect(printed(new HoldfastError("usage", "name a shell", { candidates: ["bash"] }))).toContain("choose from: bash");
});
