"""CPU time, in ms, of commands and all their child processes: user and system, by getrusage of ended children.

In: {"commands": {name: {"argv": [...], "env": {...}}}, "runs": n}. Out: {name: [ms, ...]}, with the commands in turns.
"""
import json
import resource
import subprocess
import sys


def spent():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (usage.ru_utime + usage.ru_stime) * 1000


def main():
    request = json.load(sys.stdin)
    names = list(request["commands"])
    times = {name: [] for name in names}
    for run in range(-2, request["runs"]):  # the first two fill caches and are not counted
        for turn in range(len(names)):
            name = names[(turn + run) % len(names)]
            command = request["commands"][name]
            before = spent()
            done = subprocess.run(command["argv"], env=command["env"], cwd="/", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
            if done.returncode != 0:
                sys.exit("%s ended with %d" % (name, done.returncode))
            if run >= 0:
                times[name].append(spent() - before)
    json.dump(times, sys.stdout)


main()
