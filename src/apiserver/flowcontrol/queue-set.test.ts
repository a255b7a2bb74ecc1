import { describe, expect, it } from 'vitest';
import { QueueSet, type SeatedRequest, type WorkEstimate } from './queue-set.ts';
import { dealHand } from './shuffle-sharding.ts';

const one: WorkEstimate = { initialSeats: 1, finalSeats: 0, additionalMs: 0 };

/** A priority level with a clock of its own; requests run until they are finished by name. */
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
  it('lets requests in while there are seats, then lets them wait, and dispatches when seats are free', () => {
    const fixture = new Fixture(2);
    expect(['a', 'b', 'c', 'd'].map((name) => fixture.start(name))).toEqual(['executes', 'executes', 'waits', 'waits']);
    fixture.finish('a');
    expect(fixture.log).toEqual(['c executes']);
    expect(fixture.queues.stats).toEqual({ waiting: 1, executing: 2, seatsInUse: 2, seatsWaiting: 1, limit: 2 });
  });

  it('rejects what finds its queue full', () => {
    const fixture = new Fixture(1, 4, 1);
    expect(['a', 'b', 'c'].map((name) => fixture.start(name))).toEqual(['executes', 'waits', 'queue-full']);
  });

  it('rejects at once without queues', () => {
    const fixture = new Fixture(1, 0);
    expect([fixture.start('a', -1), fixture.start('b', -1)]).toEqual(['executes', 'concurrency-limit']);
  });

  it('serves a quiet flow before the backlog of a greedy one', () => {
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

  it('takes a cancelled request out of its queue', () => {
    const fixture = new Fixture(1);
    fixture.start('a');
    fixture.start('b');
    fixture.queues.cancel(fixture.requests.get('b') as SeatedRequest, 'time-out');
    fixture.finish('a');
    expect([fixture.log, fixture.queues.stats.waiting, fixture.queues.stats.executing]).toEqual([['b time-out'], 0, 0]);
  });

  it('lets in a request that asks for more seats than there are when it is alone', () => {
    const fixture = new Fixture(2);
    const wide = { ...one, initialSeats: 5 };
    expect(fixture.start('wide', 0, wide)).toBe('executes');
    expect(fixture.start('other')).toBe('waits');
    fixture.finish('wide');
    expect(fixture.log).toEqual(['other executes']);
  });

  it('dispatches when it is given more seats', () => {
    const fixture = new Fixture(1);
    fixture.start('a');
    fixture.start('b');
    fixture.queues.limit = 2;
    expect(fixture.log).toEqual(['b executes']);
  });
});

it('deals different queues to a flow, always the same', () => {
  const hand = dealHand('flow', 64, 6);
  expect(hand).toEqual(dealHand('flow', 64, 6));
  expect(new Set(hand).size).toBe(6);
  expect(hand.every((queue) => queue >= 0 && queue < 64)).toBe(true);
  expect(dealHand('other', 64, 6)).not.toEqual(hand);
});
