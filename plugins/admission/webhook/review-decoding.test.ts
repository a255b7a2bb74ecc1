import { Buffer } from 'node:buffer';
import { expect, it } from 'vitest';
import { readAnswer } from './review.ts';
import { decodeReview } from './review-decoding.ts';

it('a large answer is parsed in chunks, and its annotations are listed once', () => {
  const auditAnnotations = Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`k${i}`, 'v']));
  const review = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response: { uid: 'u', allowed: true, auditAnnotations } };
  const steps = decodeReview(Buffer.from(JSON.stringify(review)), 'v1');
  let yields = 0;
  let step = steps.next();
  for (; !step.done; step = steps.next()) yields += 1;
  // The text has 600 kB.
  expect(yields).toBeGreaterThan(5);
  const answer = readAnswer({ version: 'v1', uid: 'u', body: '' }, step.value, false);
  expect([answer.auditAnnotations.length, answer.auditAnnotations.at(-1)]).toEqual([50_000, ['k49999', 'v']]);
});
