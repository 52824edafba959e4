"""Wall-clock time, in ms, from the start of a command on its own terminal. The commands run in turns.

In: {"commands": {name: {"argv": [...], "env": {...}, "shows": {what: text, ...}}}, "runs": n}. Out: {name: {what: [ms, ...], "end": [ms, ...]}}.
A command without "shows" is measured until its end, others until each text has appeared. After the text named "prompt" a key is pressed; "keys" is
the time of its echo. Then the terminal is closed.
"""
import fcntl
import json
import os
import pty
import select
import signal
import struct
import sys
import termios
import time

KEY = b"^"  # in no name, no path and no escape sequence
PATIENCE = 20


def started(argv, env):
    began = time.perf_counter_ns()
    pid, fd = pty.fork()
    if pid == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        os.chdir("/")
        os.execvpe(argv[0], argv, env)
    return began, pid, fd


def read(fd):
    ready, _, _ = select.select([fd], [], [], PATIENCE)
    if not ready:
        return None
    try:
        return os.read(fd, 65536) or None
    except OSError:  # the other end is closed
        return None


def measured(name, argv, env, shows):
    began, pid, fd = started(argv, env)
    since = lambda: (time.perf_counter_ns() - began) / 1e6
    times = {}
    if not shows:
        while read(fd) is not None:
            pass
        _, status = os.waitpid(pid, 0)
        times["end"] = since()
        os.close(fd)
        if status != 0:
            sys.exit("%s ended with %d" % (name, status))
        return times
    seen = b""
    pressed = None
    while len(times) < len(shows) + ("prompt" in shows):
        some = read(fd)
        if some is None:
            sys.exit("%s only showed %r" % (name, seen))
        seen += some
        for what, text in shows.items():
            if what not in times and text.encode() in seen:
                times[what] = since()
        if pressed is None and "prompt" in times:
            pressed = len(seen)
            os.write(fd, KEY)
        elif pressed is not None and "keys" not in times and KEY in seen[pressed:]:
            times["keys"] = since()
    os.kill(pid, signal.SIGHUP)
    while read(fd) is not None:
        pass
    os.close(fd)
    os.waitpid(pid, 0)
    return times


def main():
    request = json.load(sys.stdin)
    names = list(request["commands"])
    times = {name: {} for name in names}
    for run in range(-2, request["runs"]):  # the first two fill caches and are not counted
        for turn in range(len(names)):
            name = names[(turn + run) % len(names)]
            command = request["commands"][name]
            for what, ms in measured(name, command["argv"], command["env"], command.get("shows", {})).items():
                if run >= 0:
                    times[name].setdefault(what, []).append(ms)
    json.dump(times, sys.stdout)


main()
