// What bin/holdfast starts, copied to dist/holdfast.cjs. In syntax that every Node since 12 can read: an old one gets a sentence.
//
// Then it runs cli.cjs, or cli.NAME.cjs of a command that has one for itself, with the machine code V8 made of it in an earlier run of the same command. Node's own compile cache keeps only what is
// compiled at load, and a command spends a tenth of its CPU time on compiling the functions it goes on to call.
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
// For another machine: `-H` stands before the command, or HOLDFAST_MACHINE is set for all of them.
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
// Now and then anew, too: an earlier run may have called less.
if (kept && (!code || script.cachedDataRejected || Math.random() < 0.02)) {
  process.once("exit", keepCode);
  if (process.execve) {
    // `attach` becomes another program and never exits.
    var execve = process.execve;
    process.execve = function () {
      keepCode();
      return execve.apply(process, arguments);
    };
  }
}
script.runInThisContext().call(module.exports, module.exports, require, module, file, __dirname);

/** As the CLI tells every error; what comes after `--` is the program's. */
function tellOld(message, hint) {
  var args = process.argv.slice(2);
  var end = args.indexOf("--");
  var json = (end < 0 ? args : args.slice(0, end)).indexOf("--json") >= 0;
  var error = { error: { code: "node_too_old", message: message, hint: hint } };
  process.stderr.write(json ? JSON.stringify(error) + "\n" : "holdfast: " + message + "; " + hint + "\n");
}

/** V8 itself refuses what another V8 made; it does not notice another source of the same length, so the name tells which file it is of. */
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

/** Whatever goes wrong here, the command has done its work; it is only slower without. */
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
