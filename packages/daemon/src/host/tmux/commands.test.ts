import { execFileSync } from "node:child_process";
import type { SessionId } from "@holdfast/contract";
import fc from "fast-check";
import { expect, test } from "vitest";
import { LIST_COMMAND, parseList, pipeCommand, quote, splitRecorder, startCommands, target } from "./commands.ts";

const RUN = { session: "abcdefghij" as SessionId, run: 3 };

test("a quoted argument is literal for a shell, whose single quotes work as in tmux", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: "grapheme", maxLength: 20 }).filter((text) => !/\p{Cc}/u.test(text)),
      (text) => {
        expect(execFileSync("/bin/sh", ["-c", `printf %s ${quote(text)}`], { encoding: "utf8" })).toBe(text);
      },
    ),
    { numRuns: 30 },
  );
});

test.each(["a\nb", "a\0b", "\x1b[2J", "\x7f", "\x85", "\r"])("an argument with a control character is refused: %j", (text) => {
  expect(() => quote(text)).toThrow("control characters");
});

test("a target matches exactly one session, never a window or a prefix", () => {
  expect(target(RUN)).toBe("'=abcdefghij-3:'");
});

test("a start is one sequence: the program, its recorder and its pid", () => {
  const recorder = splitRecorder("output.");
  const request = { ...RUN, directory: "/unused", title: "it's", columns: 120, rows: 40 };
  const commands = startCommands(request, { recorder, reaper: undefined });
  expect(commands[0]).toBe(
    `new-session -d -s 'abcdefghij-3' -x 120 -y 40 -c / '/bin/sh' '-c' '. "$HOLDFAST_HOME/sessions/abcdefghij/runs/3/launch"'`,
  );
  expect(startCommands(request, { recorder, reaper: "/usr/bin/perl" })[0]).toBe(
    `new-session -d -s 'abcdefghij-3' -x 120 -y 40 -c / '/usr/bin/perl' '-e' 'do "$ENV{HOLDFAST_HOME}/pane-reaper"; exec "/bin/sh", "-c", q(d="$HOLDFAST_HOME/sessions/$1/runs/$2"; echo $$ > "$d/program"; . "$d/launch"), "sh", @ARGV' 'abcdefghij' '3'`,
  );
  expect(commands).toContain(`set-option -t '=abcdefghij-3:' @holdfast_title 'it'\\''s'`);
  expect(commands).toContain(pipeCommand(RUN, splitRecorder("output.")));
  expect(commands.at(-1)).toBe("display-message -p -t '=abcdefghij-3:' '#{pane_pid}'");
});

test("the recorder writes its pid, becomes split, and keeps its error output", () => {
  const directory = "$HOLDFAST_HOME/sessions/abcdefghij/runs/3";
  expect(pipeCommand(RUN, splitRecorder("output-002."))).toBe(
    `pipe-pane -O -t '=abcdefghij-3:' 'echo $$ > "${directory}/recorder"; export LC_ALL=C; exec split -b 1048576 -d -a 6 - "${directory}/output-002." 2>> "${directory}/recorder"'`,
  );
});

test("a list of panes becomes runs and skips panes that are not ours", () => {
  expect(LIST_COMMAND).toContain("list-panes -a");
  const lines = [
    "holdfast 10 1 0 c=0 s=",
    "abcdefghij-1 11 0 1 c= s=",
    "abcdefghij-2 12 1 0 c=3 s=",
    "zzzzzzzzzz-1 13 1 1 c= s=9",
    "zzzzzzzzzz-2 14 1 1 c= s=",
    "somebody-else 15 0 0 c= s=",
    "ABCDEFGHIJ-1 16 0 0 c= s=",
    "nonsense",
    "",
  ];
  expect(parseList(lines)).toEqual([
    { session: "abcdefghij", run: 1, pid: 11, dead: false, recording: true, exit: null },
    { session: "abcdefghij", run: 2, pid: 12, dead: true, recording: false, exit: { code: 3, signal: null } },
    { session: "zzzzzzzzzz", run: 1, pid: 13, dead: true, recording: true, exit: { code: null, signal: "SIGKILL" } },
    { session: "zzzzzzzzzz", run: 2, pid: 14, dead: true, recording: true, exit: { code: null, signal: null } },
  ]);
});
