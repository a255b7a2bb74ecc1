import { expect, it } from 'vitest';
import { type Release, SharedBudget } from './shared-budget.ts';

const never = (): void => undefined;

/** Takes from a budget in order and records the grants. */
class Takers {
  readonly granted: string[] = [];
  readonly releases = new Map<string, Release>();
  readonly leave = new Map<string, () => void>();
  readonly budget: SharedBudget;

  constructor(budget: SharedBudget) {
    this.budget = budget;
  }

  async take(owner: string, name: string, weight: number): Promise<void> {
    const release = this.budget.take(owner, weight, (listener) => this.leave.set(name, listener));
    const note = (one: Release): void => {
      this.granted.push(name);
      this.releases.set(name, one);
    };
    if (release instanceof Promise) release.then(note, (error: Error) => this.granted.push(`${name}: ${error.message}`));
    else note(release);
    await Promise.resolve();
  }

  async release(name: string): Promise<void> {
    this.releases.get(name)!();
    await Promise.resolve();
    await Promise.resolve();
  }
}

it('grants immediately a weight that fits, and one above the budget if nothing is held', async () => {
  const takers = new Takers(new SharedBudget(10));
  await takers.take('a', 'a1', 25);
  expect(takers.granted).toEqual(['a1']);
  await takers.take('a', 'a2', 1);
  expect(takers.granted).toEqual(['a1']);
  await takers.release('a1');
  expect(takers.granted).toEqual(['a1', 'a2']);
});

it('serves owners round-robin, each in its own order', async () => {
  const takers = new Takers(new SharedBudget(1));
  await takers.take('a', 'a1', 1);
  for (const name of ['a2', 'a3', 'a4']) await takers.take('a', name, 1);
  for (const name of ['b1', 'b2']) await takers.take('b', name, 1);
  for (let i = 0; i < 5; i++) await takers.release(takers.granted.at(-1)!);
  expect(takers.granted).toEqual(['a1', 'a2', 'b1', 'a3', 'b2', 'a4']);
});

it('skips a waiter whose client disconnected', async () => {
  const takers = new Takers(new SharedBudget(10));
  await takers.take('a', 'a1', 6);
  await takers.take('b', 'b1', 9);
  await takers.take('c', 'c1', 4);
  takers.leave.get('b1')!();
  await Promise.resolve();
  await Promise.resolve();
  expect(takers.granted.toSorted()).toEqual(['a1', 'b1: the client closed the connection', 'c1']);
});

it('counts a repeated release once', () => {
  const budget = new SharedBudget(10);
  const release = budget.take('a', 4, never) as Release;
  release();
  release();
  expect(budget.held).toBe(0);
});
