const FIRST =
  "amber brave brisk calm clear coral crisp eager early fair firm fleet fresh gentle glad golden grand green keen kind light lively lucky mellow merry neat noble open plain proud quick quiet rapid ready sharp silver sleek smart solid spry steady still strong sunny sure swift tidy true vivid warm wise".split(
    " ",
  );
const SECOND =
  "alder anchor badger beacon birch brook cedar cliff cove crane creek delta dune eagle elm falcon fern finch fjord gull harbor hawk heron holly ibis inlet island kelp lagoon lark ledge maple marsh meadow moss oak osprey otter pebble pine puffin reef ridge river robin sail seal shore sparrow spruce swan tern thrush tide trout wren".split(
    " ",
  );

/** Two words, and a number if those are taken. */
export function readableName(isTaken: (name: string) => boolean, random: () => number = Math.random): string {
  const pick = (words: string[]) => words[Math.floor(random() * words.length)] ?? words[0];
  for (let attempt = 0; attempt < 20; attempt++) {
    const name = `${pick(FIRST)}-${pick(SECOND)}`;
    if (!isTaken(name)) return name;
  }
  for (let number = 2; ; number++) {
    const name = `${pick(FIRST)}-${pick(SECOND)}-${number}`;
    if (!isTaken(name)) return name;
  }
}
