import { describe, expect, it } from 'vitest';
import { QueueSet, type SeatedRequest, type WorkEstimate } from './queue-set.ts';
import { dealHand } from './shuffle-sharding.ts';

const one: WorkEstimate = { initialSeats: 1, finalSeats: 0, additionalMs: 0 };

/** A priority level with an injected clock. Requests have names and run until the test finishes them. */
class Fixture {
  time = 0;
  readonly log: string[] = [];
  readonly requests = new Map<string, SeatedRequest>();
  readonly queues: QueueSet;

  constructor(limit: number, queues = 4, queueLengthLimit = 10) {
    this.queues = new QueueSet({ queuing: queues > 0 ? { queues, queueLengthLimit } : undefined }, limit, () => this.time);
  }

  start(name: string, queue = 0, work = one): string {
    const hand = queue < 0 ? [] : [queue];
    const started = this.queues.start(hand, work, 'flow', (rejection) => this.log.push(`${name} ${rejection ?? 'executes'}`));
    if (typeof started === 'string') return started;
    this.requests.set(name, started.request);
    return started.executes ? 'executes' : 'waits';
  }

  finish(name: string): void {
    this.queues.finish(this.requests.get(name) as SeatedRequest);
  }
}

describe('QueueSet', () => {
  it('executes requests while seats are free, queues others, and dispatches them when seats become free', () => {
    const fixture = new Fixture(2);
    expect(['a', 'b', 'c', 'd'].map((name) => fixture.start(name))).toEqual(['executes', 'executes', 'waits', 'waits']);
    fixture.finish('a');
    expect(fixture.log).toEqual(['c executes']);
    expect(fixture.queues.stats).toEqual({ waiting: 1, executing: 2, seatsInUse: 2, seatsWaiting: 1, limit: 2 });
  });

  it('rejects a request whose queue is full', () => {
    const fixture = new Fixture(1, 4, 1);
    expect(['a', 'b', 'c'].map((name) => fixture.start(name))).toEqual(['executes', 'waits', 'queue-full']);
  });

  it('rejects immediately without queues', () => {
    const fixture = new Fixture(1, 0);
    expect([fixture.start('a', -1), fixture.start('b', -1)]).toEqual(['executes', 'concurrency-limit']);
  });

  it('dispatches a quiet flow before the backlog of a greedy one', () => {
    const fixture = new Fixture(1, 2, 100);
    for (let i = 0; i < 20; i += 1) fixture.start(`greedy${i}`, 0);
    fixture.start('quiet', 1);
    for (let i = 0; i < 4; i += 1) {
      fixture.time += 10;
      const running = i === 0 ? 'greedy0' : ((fixture.log.at(-1) ?? '').split(' ')[0] as string);
      fixture.finish(running);
    }
    expect(fixture.log.slice(0, 2)).toContain('quiet executes');
  });

  it('removes a cancelled request from its queue', () => {
    const fixture = new Fixture(1);
    fixture.start('a');
    fixture.start('b');
    fixture.queues.cancel(fixture.requests.get('b') as SeatedRequest, 'time-out');
    fixture.finish('a');
    expect([fixture.log, fixture.queues.stats.waiting, fixture.queues.stats.executing]).toEqual([['b time-out'], 0, 0]);
  });

  it('executes a request that needs more seats than exist when no other executes', () => {
    const fixture = new Fixture(2);
    const wide = { ...one, initialSeats: 5 };
    expect(fixture.start('wide', 0, wide)).toBe('executes');
    expect(fixture.start('other')).toBe('waits');
    fixture.finish('wide');
    expect(fixture.log).toEqual(['other executes']);
  });

  it('dispatches when its limit is raised', () => {
    const fixture = new Fixture(1);
    fixture.start('a');
    fixture.start('b');
    fixture.queues.limit = 2;
    expect(fixture.log).toEqual(['b executes']);
  });
});

it('deals each flow its own, stable hand of queues', () => {
  const hand = dealHand('flow', 64, 6);
  expect(hand).toEqual(dealHand('flow', 64, 6));
  expect(new Set(hand).size).toBe(6);
  expect(hand.every((queue) => queue >= 0 && queue < 64)).toBe(true);
  expect(dealHand('other', 64, 6)).not.toEqual(hand);
});
