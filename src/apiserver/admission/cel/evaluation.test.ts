import { afterEach, expect, it, vi } from 'vitest';
import { settled, Suspended } from '#apiserver/cel/runtime/frame';
import { EvaluationProgress } from './evaluation.ts';

afterEach(() => void vi.restoreAllMocks());

it('an evaluation that is begun anew gets what it had made, and goes on from there', async () => {
  let now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  const progress = new EvaluationProgress();
  const made: number[] = [];
  let beginnings = 0;
  const result = settled(() => {
    beginnings += 1;
    progress.begin();
    return Array.from({ length: 20 }, (_, i) =>
      progress.keep(() => {
        made.push(i);
        now += 2;
        return `made ${i}`;
      }),
    );
  });
  expect(result).toBeInstanceOf(Promise);
  expect(made).toEqual([0, 1, 2]);
  expect(await result).toEqual(Array.from({ length: 20 }, (_, i) => `made ${i}`));
  expect(made).toEqual(Array.from({ length: 20 }, (_, i) => i));
  expect(beginnings).toBe(7);
});

it('what is suspended while it is made is made again', () => {
  const progress = new EvaluationProgress();
  progress.begin();
  const asking = (): never => {
    throw new Suspended(Promise.resolve());
  };
  expect(() => progress.keep(asking)).toThrow(Suspended);
  progress.begin();
  expect(progress.keep(() => 'answered')).toBe('answered');
});

it('a step that goes on is as long as what was kept took, so that it comes to an end', () => {
  let now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  const progress = new EvaluationProgress();
  progress.begin();
  progress.keep(() => 'first');
  progress.begin();
  progress.keep(() => 'first');
  now += 30;
  const made = (): number => {
    now += 8;
    return now;
  };
  for (let i = 0; i < 4; i += 1) progress.keep(made);
  expect(() => progress.keep(made)).toThrow(Suspended);
});
