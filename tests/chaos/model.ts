/** What ought to be there: as simple as can be, so that it is surely right. */
import type { HostName, SessionId, SessionStatus } from "@holdfast/contract";

export interface Known {
  id: SessionId;
  name: string;
  host: HostName;
  pid: number;
  live: boolean;
  /** What its status may be. */
  is: SessionStatus[];
  /** Lines that it was sent; surely, when that was acknowledged. */
  sent: { text: string; sure: boolean }[];
  /** Its recorder was killed: what it said meanwhile is not recorded. */
  hasGap: boolean;
  /** Somebody has looked at it since it ended; undefined when that fact may have been lost. */
  viewed: boolean | undefined;
}

export class Model {
  sessions: Known[] = [];
  /** How often each fault was brought about. */
  readonly faults: Map<string, number>;
  #count = 0;

  constructor(faults: Map<string, number>) {
    this.faults = faults;
  }

  fault(name: string): void {
    this.faults.set(name, (this.faults.get(name) ?? 0) + 1);
  }

  newWord(): string {
    return `w${++this.#count}`;
  }

  get live(): Known[] {
    return this.sessions.filter(({ live }) => live);
  }

  get ended(): Known[] {
    return this.sessions.filter(({ live }) => !live);
  }

  end(known: Known, ...is: SessionStatus[]): void {
    known.live = false;
    known.is = is;
    known.viewed = false;
  }
}
