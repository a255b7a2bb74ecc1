/**
 * A client on a thread of its own that reads one address over a connection that it keeps, one request after the other, 20 ms apart, until
 * it is told to end: what it has to wait is then what the server makes it wait, and not the test beside it.
 */
import { once } from 'node:events';
import { Agent, get } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

interface Reads {
  readonly url: string;
  readonly token: string;
}

/** Resolves when told to end, with the milliseconds that each answer took; rejects when one is not 200. */
export class SteadyReader {
  readonly #worker: Worker;

  constructor(reads: Reads) {
    this.#worker = new Worker(new URL(import.meta.url), { workerData: reads });
  }

  async end(): Promise<readonly number[]> {
    this.#worker.postMessage('end');
    const [took] = (await once(this.#worker, 'message')) as [number[]];
    await this.#worker.terminate();
    return took;
  }
}

async function read({ url, token }: Reads, agent: Agent): Promise<number> {
  const began = performance.now();
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  get(url, { agent, rejectUnauthorized: false, headers: { authorization: `Bearer ${token}` } }, (response) => {
    response.resume().on('end', () => {
      if (response.statusCode === 200) resolve(performance.now() - began);
      else reject(new Error(`${url} was answered with ${response.statusCode}`));
    });
  }).on('error', reject);
  return promise;
}

if (!isMainThread && parentPort) {
  const took: number[] = [];
  const agent = new Agent({ keepAlive: true });
  let isEnded = false;
  parentPort.once('message', () => {
    isEnded = true;
  });
  for (; !isEnded; await sleep(20)) took.push(await read(workerData as Reads, agent));
  agent.destroy();
  parentPort.postMessage(took);
}
