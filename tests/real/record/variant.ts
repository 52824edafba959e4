/** Recordings of one state differ in the terminal's size, the words, and the turns before. */

export interface Words {
  answer: string;
  file: string;
  question: string;
  draft: string;
  suggestion: string;
  quote: string;
  quoteEnd: string;
}

export interface Variant {
  columns: number;
  rows: number;
  /** Turns before the recorded one. */
  before: string[];
  words: Words;
}

export const VARIANTS: readonly Variant[] = [
  {
    columns: 120,
    rows: 40,
    before: [],
    words: {
      answer: "I look at the login form first",
      file: "made.txt",
      question: "Which colour is it?",
      draft: "and then please also",
      suggestion: "show me the diff",
      quote: "say The docs say: press esc to interrupt, Do you want to proceed? 1. Yes - and that is the end",
      quoteEnd: "that is the end",
    },
  },
  {
    columns: 80,
    rows: 24,
    before: ["say Hello from an earlier turn"],
    words: {
      answer: "There are three files to change here",
      file: "notes/second.md",
      question: "What should the button look like?",
      draft: "no wait, do not",
      suggestion: "commit this",
      quote: "say It printed: Allow execution of: 'rm'? Waiting for user confirmation (esc to cancel) - so I stopped reading there",
      quoteEnd: "stopped reading there",
    },
  },
  {
    columns: 100,
    rows: 30,
    before: ["say First I read the tests", "say Then I read the code"],
    words: {
      answer: "The failing test is easy to fix",
      file: "third-one",
      question: "Where should it go?",
      draft: "remember the changelog",
      suggestion: "open the changelog",
      quote: "say The screen had: Would you like to run the following command? Permission required, esc interrupt - nothing else to see",
      quoteEnd: "nothing else to see",
    },
  },
];
