process.stdin.resume();
console.log("demo");
