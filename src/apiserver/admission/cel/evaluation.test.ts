import { afterEach, expect, it, vi } from 'vitest';
import { settled, Suspended } from '#apimachinery/runtime/suspended';
import { EvaluationProgress } from './evaluation.ts';

afterEach(() => void vi.restoreAllMocks());

it('a restarted evaluation reuses its earlier results and continues after them', async () => {
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

it('a suspended computation is repeated', () => {
  const progress = new EvaluationProgress();
  progress.begin();
  const asking = (): never => {
    throw new Suspended(Promise.resolve());
  };
  expect(() => progress.keep(asking)).toThrow(Suspended);
  progress.begin();
  expect(progress.keep(() => 'answered')).toBe('answered');
});

it('a restarted evaluation runs at least as long as reading its kept results took, so that it makes progress', () => {
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
