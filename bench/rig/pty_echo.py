"""Time, in ms, from a keystroke on a client's terminal to its echo there. The clients take turns, keystroke by keystroke.

In: {"clients": {name: {"argv": [...], "env": {...}}}, "rounds": n, "keystrokes": n, "pauseMs": ms}.
Out: {name: [[ms, ...] of each round]}. Each client has a terminal of 120 by 40.
"""
import fcntl
import json
import os
import pty
import random
import select
import signal
import struct
import sys
import termios
import time

KEYS = b"zyxwvq"  # letters that end no escape sequence
PATIENCE = 20
QUIET = 0.4
LINE = 60


class Client:
    def __init__(self, name, argv, env):
        self.name = name
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
            os.chdir("/")
            os.execvpe(argv[0], argv, env)
        self.typed = 0

    def read(self, timeout):
        ready, _, _ = select.select([self.fd], [], [], timeout)
        return os.read(self.fd, 65536) if ready else b""

    def settle(self):
        """Waits until the terminal has shown output and then been quiet for a while."""
        deadline = time.monotonic() + PATIENCE
        seen = False
        while time.monotonic() < deadline:
            if self.read(QUIET):
                seen = True
            elif seen:
                return
        sys.exit("%s never settled" % self.name)

    def keystroke(self):
        while self.read(0):
            pass
        if self.typed % LINE == LINE - 1:
            self.echo(b"\r", b"\n")
            time.sleep(0.02)
            while self.read(0):
                pass
        key = KEYS[self.typed % len(KEYS)]
        return self.echo(bytes([key]), bytes([key]))

    def echo(self, key, expected):
        self.typed += 1
        began = time.perf_counter_ns()
        os.write(self.fd, key)
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            if expected in self.read(PATIENCE):
                return (time.perf_counter_ns() - began) / 1e6
        sys.exit("%s did not echo" % self.name)

    def close(self):
        os.kill(self.pid, signal.SIGHUP)
        os.close(self.fd)
        os.waitpid(self.pid, 0)


def main():
    request = json.load(sys.stdin)
    clients = [Client(name, what["argv"], what["env"]) for name, what in request["clients"].items()]
    for client in clients:
        client.settle()
    pause = request["pauseMs"] / 1000
    times = {client.name: [] for client in clients}
    for round in range(-1, request["rounds"]):  # the first warms up and is not counted
        for client in clients:
            times[client.name].append([])
        for _ in range(request["keystrokes"]):
            random.shuffle(clients)  # so that no client always follows the same one, which may still be busy
            for client in clients:
                times[client.name][-1].append(client.keystroke())
                time.sleep(pause)
        if round < 0:
            for client in clients:
                times[client.name].pop()
    for client in clients:
        client.close()
    json.dump(times, sys.stdout)


main()
