import { Buffer } from 'node:buffer';
import { expect, it } from 'vitest';
import { readAnswerSteps } from './review.ts';
import { decodeReview } from './review-decoding.ts';

/** Awaits work, and counts the turns of the event loop that begin meanwhile. */
async function turnsOf<T>(work: Promise<T>): Promise<{ turns: number; result: T }> {
  let turns = 0;
  let isOver = false;
  const count = (): void => {
    turns += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const result = await work.finally(() => (isOver = true));
  return { turns, result };
}

it('a large answer is parsed in several turns of the event loop, and its annotations are listed once', async () => {
  const auditAnnotations = Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`k${i}`, 'v']));
  const review = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response: { uid: 'u', allowed: true, auditAnnotations } };
  const { turns, result } = await turnsOf(decodeReview(Buffer.from(JSON.stringify(review)), 'v1'));
  expect(turns).toBeGreaterThan(1);
  const reading = readAnswerSteps({ version: 'v1', uid: 'u', body: '' }, result, false);
  let steps = 0;
  let step = reading.next();
  for (; !step.done; step = reading.next()) steps += 1;
  expect(steps).toBeGreaterThan(10);
  const answer = step.value;
  expect([answer.auditAnnotations.length, answer.auditAnnotations.at(-1)]).toEqual([50_000, ['k49999', 'v']]);
});

it('a large answer in YAML is parsed while the event loop serves others', async () => {
  const lines = Array.from({ length: 20_000 }, (_, i) => `k${i}: b`);
  const { turns, result } = await turnsOf(decodeReview(Buffer.from(['response: {uid: u, allowed: true}', ...lines].join('\n')), 'v1'));
  expect(turns).toBeGreaterThan(1);
  expect(result).toMatchObject({ response: { uid: 'u', allowed: true }, k19999: 'b' });
});
