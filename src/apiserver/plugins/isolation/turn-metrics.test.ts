import type { MessagePort } from 'node:worker_threads';
import { expect, it } from 'vitest';
import type { FromWorker } from './messages.ts';
import { TurnMetrics } from './turn-metrics.ts';

const nextTurn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

function setUp() {
  const sent: FromWorker[] = [];
  let dropped = 0;
  const port = { postMessage: (message: FromWorker) => void sent.push(message) } as unknown as MessagePort;
  const metrics = new TurnMetrics(port, () => {
    dropped += 1;
  });
  return { metrics, sent, dropped: () => dropped };
}

it('sends the changes of a turn in one message', async () => {
  const { metrics, sent } = setUp();
  const counter = metrics.counter({ name: 'calls_total', help: 'Calls.', labels: ['a'] });
  const gauge = metrics.gauge({ name: 'size', help: 'Size.' });
  const histogram = metrics.histogram({ name: 'seconds', help: 'Duration.', buckets: [1] });
  for (let i = 0; i < 10_000; i += 1) counter.inc({ a: 'b' });
  counter.inc({ a: 'c' }, 3);
  gauge.inc({}, 7);
  gauge.set({}, 1);
  gauge.inc({}, 2);
  histogram.observe({}, 1);
  histogram.observe({}, 2);
  expect(sent).toEqual([]);
  await nextTurn();
  expect(sent).toEqual([
    {
      type: 'metrics',
      updates: [
        { kind: 'counter', options: expect.anything() as object, method: 'inc', labels: { a: 'b' }, values: [10_000] },
        { kind: 'counter', options: expect.anything() as object, method: 'inc', labels: { a: 'c' }, values: [3] },
        { kind: 'gauge', options: expect.anything() as object, method: 'set', labels: {}, values: [3] },
        { kind: 'histogram', options: expect.anything() as object, method: 'observe', labels: {}, values: [1, 2] },
      ],
    },
  ]);
  counter.inc({ a: 'b' });
  await nextTurn();
  expect(sent).toHaveLength(2);
});

it('drops and reports series beyond the limit', async () => {
  const { metrics, sent, dropped } = setUp();
  const counter = metrics.counter({ name: 'calls_total', help: 'Calls.', labels: ['a'] });
  for (let i = 0; i < 1_200; i += 1) counter.inc({ a: String(i) });
  await nextTurn();
  expect((sent[0] as Extract<FromWorker, { type: 'metrics' }>).updates).toHaveLength(1_000);
  expect(dropped()).toBe(200);
});
