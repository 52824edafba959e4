/**
 * The first process of a pane, on Linux with perl. It starts the program exactly as tmux would, as leader of its own process session on the pane's
 * terminal, and stays until the recording is complete. tmux closes a pane as soon as its first process is gone and nothing is readable *at that
 * instant*. The kernel delivers a program's last output a little later, so on a busy machine that output was lost (docs/adr/0004). The reaper also
 * writes how the program ended, even if tmux misses the end (before 3.5), and keeps tmux from continuing a stopped program.
 *
 * The reaper has given up the terminal, so no key and no hang-up reaches it. Without a reaper (no perl, another system) the launch file is the
 * pane's first process, and tmux reports its exit.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay, setImmediate as immediate } from "node:timers/promises";
import { findProgram, inspect, isMissing, isSameProcess, STANDARD_PATH } from "@holdfast/platform";
import type { RunId } from "../host.ts";

/** Longer than the kernel takes to deliver a program's last output, even on a busy machine. */
const LINGER_S = 2;
/** How long a start polls without a pause. */
const SOON_MS = 3;
/** On an overloaded machine a program may start this much later than its pane. */
const START_MS = 5000;

const SETSID = { x64: 112, arm64: 157, riscv64: 157, ia32: 66, arm: 66 } as Record<string, number>;

export function findReaper(): string | undefined {
  return process.platform === "linux" && process.arch in SETSID ? findProgram("perl", STANDARD_PATH, "/") : undefined;
}

/** Uses no modules, so it starts in two milliseconds. Tells an exit status above 128 from a death by signal, which a shell or tmux cannot. */
export const PANE_REAPER = `# Run by the tmux server as the first process of a pane: session and number of the run.
# In one block: a file that was cut off is not run in part.
{
  my $run = "$ENV{HOLDFAST_HOME}/sessions/$ARGV[0]/runs/$ARGV[1]";
  my $server = getppid;
  my @launch = ('/bin/sh', '-c', '. "$0/launch"', $run);
  $0 = 'holdfast-reaper';
  my @spared = ('HUP', 'INT', 'TERM');
  $SIG{$_} = 'IGNORE' for @spared;
  # TIOCNOTTY, so that the program can have the terminal as its own. Where that cannot be, it takes this process's place.
  if (!ioctl(STDIN, 0x5422, 0)) { $SIG{$_} = 'DEFAULT' for @spared; exec @launch; }
  # Seconds since boot: how long the program ran does not depend on a clock that somebody may set.
  sub uptime {
    open(my $file, '<', '/proc/uptime') or return '';
    return (split(' ', <$file>))[0];
  }
  my $began = uptime();
  my $pid = fork;
  if (!defined $pid) { warn "cannot start the program: $!\\n"; exit 126; }
  if ($pid == 0) {
    $SIG{$_} = 'DEFAULT' for @spared;
    syscall(${SETSID[process.arch]});
    if (!ioctl(STDIN, 0x540E, 0)) { warn "cannot give the program its terminal: $!\\n"; exit 126; }
    exec @launch;
  }
  sub put {
    my ($name, $text) = @_;
    open(my $file, '>', "$run/$name.new") or return 0;
    print($file $text);
    close($file);
  }
  put('program', $pid) && rename("$run/program.new", "$run/program");
  waitpid($pid, 0);
  my ($status, $signal) = ($? >> 8, $? & 127);
  my $ended = uptime();
  # A server that was killed took the terminal away: what came of that is not how the run would have ended.
  exit 0 if !-t STDIN || getppid != $server;
  my $form = '{"status":"%s","signal":"%s","uptime":"%s","began":"%s","pid":%d}' . "\\n";
  my $said = put('exit.json', sprintf($form, $signal ? '' : $status, $signal || '', $ended, $began, $pid));
  rename("$run/exit.json.new", "$run/exit.json") if $said;
  # Until the daemon has seen that everything is recorded, and takes the pane away; without one, long enough for any last word. Where it
  # could not be written down, tmux is to say it soon.
  for (1 .. ($said ? ${LINGER_S * 50} : 1)) { last if !-t STDIN; select(undef, undef, undef, 0.02); }
  # For a home that cannot be written tmux knows it too; without those that leave a core file.
  $SIG{$_} = 'DEFAULT' for @spared;
  kill($signal, $$) if grep { $_ == $signal } 1, 2, 9, 10, 12, 13, 14, 15;
  exit($signal ? 128 + $signal : $status);
}
`;

/** If the file is unreadable, the program replaces this process. */
const WITHOUT = `exec "/bin/sh", "-c", q(d="$HOLDFAST_HOME/sessions/$1/runs/$2"; echo $$ > "$d/program"; . "$d/launch"), "sh", @ARGV`;

/** A single process from the start, without a shell before it. */
export function reaperCommand(perl: string, run: RunId): string[] {
  return [perl, "-e", `do "$ENV{HOLDFAST_HOME}/pane-reaper"; ${WITHOUT}`, run.session, String(run.run)];
}

/** The run's program: the child that its reaper reported, or else the pane's first process. */
export function programOf(directory: string, pane: number): number {
  const pid = programPid(directory);
  // An ended program has no parent any more. If the file names another process, the file is damaged.
  const info = inspect(pid);
  return pid > 0 && (info === undefined || info.parent === pane) ? pid : pane;
}

/** 0 until a reaper has written the pid. */
function programPid(directory: string): number {
  try {
    return Number(readFileSync(join(directory, "program"), "utf8"));
  } catch (error) {
    if (isMissing(error)) return 0;
    throw error;
  }
}

/** Resolves to the program's pid, or to the pane's own pid if its first process ended without reporting one. */
export async function programStarted(directory: string, pane: { pid: number; start: string }): Promise<number> {
  const began = performance.now();
  for (;;) {
    const waited = performance.now() - began;
    const runs = waited < START_MS && isSameProcess(pane.pid, pane.start);
    const pid = programPid(directory);
    if (pid > 0 || !runs) return pid || pane.pid;
    // The program starts within one or two of the shortest timers.
    await (waited < SOON_MS ? immediate() : delay(1));
  }
}
