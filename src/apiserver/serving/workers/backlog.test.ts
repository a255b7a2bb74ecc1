import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { expect, it } from 'vitest';
import { Backlog, weightOf } from './backlog.ts';

const mebibytes = 1 << 20;

it('blocks a sender whose receiver is behind, and resumes it later', async () => {
  const shared = new SharedArrayBuffer(4);
  const other = new Backlog(shared);
  const code = `
    const { parentPort, workerData } = require('node:worker_threads');
    import(workerData.module).then(({ Backlog }) => {
      const backlog = new Backlog(workerData.shared);
      for (let i = 1; i <= 5; i++) {
        backlog.add(${8 * mebibytes});
        parentPort.postMessage(i);
      }
    });`;
  const module = new URL('./backlog.ts', import.meta.url).href;
  const worker = new Worker(code, { eval: true, workerData: { shared, module }, execArgv: [] });
  let received = 0;
  worker.on('message', (count: number) => {
    received = count;
  });
  await expect.poll(() => received).toBe(3);
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(received).toBe(3);
  other.done(8 * mebibytes);
  await expect.poll(() => received).toBe(4);
  other.done(32 * mebibytes);
  await once(worker, 'exit');
  expect(received).toBe(5);
});

it('the counter wraps around without blocking', () => {
  const backlog = new Backlog(new SharedArrayBuffer(4));
  for (let i = 0; i < 1_000; i++) {
    backlog.add(weightOf(1, 15 * mebibytes));
    backlog.done(weightOf(1, 15 * mebibytes));
  }
  backlog.add(1);
});
