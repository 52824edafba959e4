/** The expected state, kept as simple as possible so that it is surely right. */
import type { HostName, SessionId, SessionStatus } from "@holdfast/contract";

export interface Known {
  id: SessionId;
  name: string;
  host: HostName;
  pid: number;
  live: boolean;
  /** The allowed statuses. */
  is: SessionStatus[];
  /** The lines sent to it; `sure` if the send was acknowledged. */
  sent: { text: string; sure: boolean }[];
  /** Its recorder was killed, so output from that time is not recorded. */
  hasGap: boolean;
  /** True if a person has viewed it since it ended; undefined if that fact may be lost. */
  viewed: boolean | undefined;
}

export class Expected {
  sessions: Known[] = [];
  /** The number of times each fault was injected. */
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
