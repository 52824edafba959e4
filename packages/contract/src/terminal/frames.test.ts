import fc from "fast-check";
import { expect, test } from "vitest";
import { BYTES, encodeFrame, FrameReader, MESSAGE } from "./frames.ts";

test("frames arrive complete and in order, however they are split (mend 4)", () => {
  const frame = fc.record({ type: fc.constantFrom(MESSAGE, BYTES), payload: fc.uint8Array({ maxLength: 50 }) });
  fc.assert(
    fc.property(fc.array(frame), fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1 }), (frames, cuts) => {
      const wire = Buffer.concat(frames.map(({ type, payload }) => encodeFrame(type, payload)));
      const reader = new FrameReader();
      const read: unknown[] = [];
      for (let at = 0, i = 0; at < wire.length; i++) {
        const size = cuts[i % cuts.length] as number;
        for (const { type, payload } of reader.push(wire.subarray(at, at + size))) read.push({ type, payload: [...payload] });
        at += size;
      }
      expect(read).toEqual(frames.map(({ type, payload }) => ({ type, payload: [...payload] })));
    }),
  );
});

test("a large frame in small pieces takes time in proportion to its size (mend 4)", () => {
  const payload = Buffer.alloc(32 << 20, "x");
  const wire = encodeFrame(BYTES, payload);
  const reader = new FrameReader();
  const frames = [];
  for (let at = 0; at < wire.length; at += 512) frames.push(...reader.push(wire.subarray(at, at + 512)));
  expect(frames).toHaveLength(1);
  expect(Buffer.compare(frames[0]?.payload ?? Buffer.alloc(0), payload)).toBe(0);
});

test("thousands of frames of one byte are read at once (mend 4)", () => {
  const wire = Buffer.concat(Array.from({ length: 20_000 }, () => encodeFrame(BYTES, Uint8Array.of(1))));
  expect(new FrameReader().push(wire)).toHaveLength(20_000);
  const reader = new FrameReader();
  let count = 0;
  for (const byte of wire) count += reader.push(Uint8Array.of(byte)).length;
  expect(count).toBe(20_000);
});

test("a frame over the limit is refused by its header, before it is buffered (mend 4)", () => {
  const head = encodeFrame(BYTES, new Uint8Array(11)).subarray(0, 5);
  expect(() => new FrameReader(10).push(head)).toThrow("a frame of 11 bytes");
  expect(new FrameReader(11).push(head)).toEqual([]);
});
