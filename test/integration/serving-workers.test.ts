/** Tests behaviour specific to `--serving-workers`; transport.test.ts covers the common part. */
import { once } from 'node:events';
import http2 from 'node:http2';
import type { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { defaultServingWorkers } from '#cmd/options/serving-options';
import { readServerOptions } from '../../src/cmd/options/read-server-options.ts';
import type { ServerConfig } from '#cmd/server-config';
import { startTestCluster, type TestCluster } from '#testing/index';

let workers: Worker[];
const meet = (worker: Worker): void => {
  if (worker.threadName === 'serving') workers.push(worker);
};
beforeEach(() => {
  workers = [];
  process.on('worker', meet);
});
afterEach(() => void process.off('worker', meet));

const start = (count: number): Promise<TestCluster> => startTestCluster({ listen: true, flags: [`--serving-workers=${count}`] });

function connect(cluster: TestCluster): http2.ClientHttp2Session {
  const session = http2.connect(cluster.url as string, { ca: cluster.certificateAuthority as string });
  session.on('error', () => {});
  return session;
}

async function version(session: http2.ClientHttp2Session, cluster: TestCluster): Promise<number> {
  const stream = session.request({ ':path': '/version', authorization: `Bearer ${cluster.token('admin')}` });
  stream.on('error', () => {});
  const [headers] = (await once(stream, 'response')) as [http2.IncomingHttpHeaders];
  stream.resume();
  return Number(headers[':status']);
}

it('a worker that ends closes only its own connections and requests, and is restarted', async () => {
  await using cluster = await start(2);
  const sessions = Array.from({ length: 16 }, () => connect(cluster));
  const watches = sessions.map((session) => {
    const stream = session.request({ ':path': '/api/v1/namespaces?watch=1', authorization: `Bearer ${cluster.token('admin')}` });
    stream.on('error', () => {});
    stream.resume();
    return once(stream, 'response');
  });
  await Promise.all(watches);
  expect(cluster.app.server.watches.size).toBe(16);
  await workers[0]?.terminate();
  await expect.poll(() => sessions.filter(({ destroyed }) => destroyed).length).toBe(16 - cluster.app.server.watches.size);
  const living = sessions.filter(({ destroyed }) => !destroyed);
  // The kernel distributes sixteen connections; all of them reach one of two workers once in 32,768 runs.
  expect(living.length).toBeGreaterThan(0);
  expect(living.length).toBeLessThan(16);
  for (const session of living) expect(await version(session, cluster)).toBe(200);
  await expect.poll(() => workers.length, { timeout: 5_000 }).toBe(3);
  for (let i = 0; i < 4; i++) {
    const session = connect(cluster);
    expect(await version(session, cluster)).toBe(200);
    session.destroy();
  }
  const metrics = await (await cluster.fetch('/metrics')).text();
  expect(metrics).toMatch(/^kubenest_serving_worker_losses_total 1$/m);
  for (const session of sessions) session.destroy();
});

it('the port is available again after all workers have ended', async () => {
  await using cluster = await start(2);
  await Promise.all(workers.map((worker) => worker.terminate()));
  await expect
    .poll(
      async () => {
        const session = connect(cluster);
        const status = await version(session, cluster).catch(() => 0);
        session.destroy();
        return status;
      },
      { timeout: 10_000 },
    )
    .toBe(200);
});

it('rejects a port in use', async () => {
  await using cluster = await start(1);
  const serving = cluster.app.server.options.serving as NonNullable<ServerConfig['serving']>;
  const port = Number(new URL(cluster.url as string).port);
  const second = startTestCluster({ listen: true, config: { serving: { ...serving, port } } });
  await expect(second).rejects.toThrow(`listen EADDRINUSE: address already in use 127.0.0.1:${port}`);
  await using sharing = await startTestCluster({ listen: true, config: { serving: { ...serving, port, sharesPort: true } } });
  expect(sharing.url).toBe(cluster.url);
});

it('rejects unusable certificates at start', async () => {
  await using cluster = await start(1);
  const serving = cluster.app.server.options.serving as NonNullable<ServerConfig['serving']>;
  const certificate = { cert: 'nonsense', key: 'nonsense' };
  await expect(startTestCluster({ listen: true, config: { serving: { ...serving, certificate } } })).rejects.toThrow('PEM');
  // Ended threads have the id -1: the first server is alive, the other one has stopped.
  expect(workers.map(({ threadId }) => threadId === -1)).toEqual([false, true]);
});

it.each([
  { cores: 1, workers: 0 },
  { cores: 2, workers: 0 },
  { cores: 3, workers: 1 },
  { cores: 4, workers: 2 },
  { cores: 8, workers: 4 },
  { cores: 64, workers: 4 },
])('with $cores cores there are $workers workers by default', ({ cores, workers }) => {
  expect(defaultServingWorkers(cores, true)).toBe(workers);
  expect(defaultServingWorkers(cores, false)).toBe(0);
});

it.each(['-1', '65', 'many'])('rejects --serving-workers=%s', async (value) => {
  await expect(readServerOptions([`--serving-workers=${value}`])).rejects.toThrow('serving-workers');
});
