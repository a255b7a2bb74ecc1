import { describe, expect, it } from 'vitest';
import { ExpiryQueue } from './expiry-queue.ts';

describe('ExpiryQueue', () => {
  it('returns the next expiry in any order of insertion', () => {
    const queue = new ExpiryQueue();
    for (let i = 0; i < 1_000; i++) queue.push({ at: (i * 7_919) % 1_000, key: `/${i}`, revision: i });
    const order: number[] = [];
    for (let next = queue.pop(); next; next = queue.pop()) order.push(next.at);
    expect(order).toEqual(Array.from({ length: 1_000 }, (_, i) => i));
    expect(queue.next).toBeUndefined();
  });

  it('drops void entries when there are many', () => {
    const queue = new ExpiryQueue();
    for (let i = 0; i < 10_000; i++) {
      queue.prune(() => false);
      queue.push({ at: 10_000 - i, key: '/a', revision: i });
    }
    expect(queue.size).toBe(10_000);
    queue.prune(({ revision }) => revision % 1_000 === 0);
    expect(queue.size).toBe(10);
    expect(queue.pop()?.revision).toBe(9_000);
  });
});
