// The program that bin/holdfast starts, copied to dist/holdfast.cjs. Its syntax works in every Node since 12, so that an old Node prints
// a clear message. It runs cli.cjs, or cli.NAME.cjs for a command with its own bundle, with V8's machine code from an earlier run of the
// same command. Node's compile cache keeps only code compiled at load time, and a command spends a tenth of its CPU time on compiling
// functions it calls later.
var version = process.versions.node;
if (parseInt(version, 10) < 24) {
  tellOld(
    "needs Node 24 or newer, this is " + version + " (" + process.execPath + ")",
    "install a newer Node, or name one in HOLDFAST_NODE",
  );
  process.exit(12);
}
var fs = require("node:fs");
var first = process.argv[2] || "";
// A command for another machine: `-H` before the command, or HOLDFAST_MACHINE for all commands.
var far = process.env.HOLDFAST_MACHINE || first.indexOf("-H") === 0 || first.indexOf("--machine") === 0;
var command = far ? "far" : /^[a-z_]+$/.test(first) ? first : "other";
var file = __dirname + "/cli." + command + ".cjs";
if (!fs.existsSync(file)) file = __dirname + "/cli.cjs";
var kept = placeOfCode();
var code = readCode();
var script = new (require("node:vm").Script)(
  "(function (exports, require, module, __filename, __dirname) {" + fs.readFileSync(file, "utf8") + "\n})",
  {
    filename: file,
    cachedData: code,
  },
);
// Renewed from time to time: an earlier run may have called fewer functions.
if (kept && (!code || script.cachedDataRejected || Math.random() < 0.02)) {
  process.once("exit", keepCode);
  if (process.execve) {
    // `attach` replaces the process and never exits.
    var execve = process.execve;
    process.execve = function () {
      keepCode();
      return execve.apply(process, arguments);
    };
  }
}
script.runInThisContext().call(module.exports, module.exports, require, module, file, __dirname);

/** Prints errors in the CLI's format; arguments after `--` belong to the program. */
function tellOld(message, hint) {
  var args = process.argv.slice(2);
  var end = args.indexOf("--");
  var json = (end < 0 ? args : args.slice(0, end)).indexOf("--json") >= 0;
  var error = { error: { code: "node_too_old", message: message, hint: hint } };
  process.stderr.write(json ? JSON.stringify(error) + "\n" : "holdfast: " + message + "; " + hint + "\n");
}

/** V8 rejects code of another V8, but not code of another source with the same length: the file name identifies the source. */
function placeOfCode() {
  try {
    var cache = process.env.XDG_CACHE_HOME;
    if (!cache || cache[0] !== "/") cache = (process.env.HOME || require("node:os").homedir()) + "/.cache";
    var found = fs.statSync(file);
    return { folder: cache + "/holdfast/code", build: found.size + "-" + Math.round(found.ctimeMs), command: command };
  } catch (_) {
    return null;
  }
}

function readCode() {
  try {
    return fs.readFileSync(nameOf(kept));
  } catch (_) {
    return undefined;
  }
}

/** A failure here never matters: the command has finished, and only the next start is slower. */
function keepCode() {
  try {
    fs.mkdirSync(kept.folder, { recursive: true, mode: 448 });
    fs.readdirSync(kept.folder).forEach(function (name) {
      var old = kept.folder + "/" + name;
      if (name.indexOf(kept.build + ".") !== 0 && Date.now() - fs.statSync(old).mtimeMs > 86400000) fs.unlinkSync(old);
    });
    var temporary = kept.folder + "/" + kept.build + "." + process.pid + ".tmp";
    fs.writeFileSync(temporary, script.createCachedData(), { mode: 384 });
    fs.renameSync(temporary, nameOf(kept));
  } catch (_) {
    // Read-only, full, or another command was faster.
  }
}

function nameOf(place) {
  return place.folder + "/" + place.build + "." + place.command;
}
