/** The position of a replay, in recorded time. It stands still while paused. */
export class PlayClock {
  readonly #now: () => number;
  #position = 0;
  #since: number | undefined;
  #speed: number;

  constructor(speed: number, now: () => number = () => performance.now()) {
    this.#speed = speed;
    this.#now = now;
  }

  get position(): number {
    return this.#since === undefined ? this.#position : this.#position + (this.#now() - this.#since) * this.#speed;
  }

  get running(): boolean {
    return this.#since !== undefined;
  }

  get speed(): number {
    return this.#speed;
  }

  set speed(speed: number) {
    this.jump(this.position);
    this.#speed = speed;
  }

  run(): void {
    this.#since ??= this.#now();
  }

  pause(): void {
    this.#position = this.position;
    this.#since = undefined;
  }

  toggle(): void {
    if (this.running) this.pause();
    else this.run();
  }

  jump(position: number): void {
    this.#position = position;
    if (this.#since !== undefined) this.#since = this.#now();
  }

  /** Real milliseconds until `position` is reached. */
  until(position: number): number {
    return Math.max(0, (position - this.position) / this.#speed);
  }
}
