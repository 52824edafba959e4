// What bin/holdfast starts, copied to dist/holdfast.cjs. In syntax that every Node since 12 can read: an old one gets a sentence.
var version = process.versions.node;
if (parseInt(version, 10) < 24) {
  process.stderr.write(
    "holdfast: needs Node 24 or newer, this is " +
      version +
      " (" +
      process.execPath +
      "); install a newer Node or run from a checkout, where set-up fetches one\n",
  );
  process.exit(12);
}
try {
  var cache = process.env.XDG_CACHE_HOME;
  if (!cache || cache[0] !== "/") cache = (process.env.HOME || require("node:os").homedir()) + "/.cache";
  require("node:module").enableCompileCache(cache + "/holdfast/compile");
} catch (_) {
  // Only slower without it.
}
require("./cli.cjs");
