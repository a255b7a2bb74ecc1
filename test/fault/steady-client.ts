/**
 * A client in its own thread that repeats a request over a persistent connection until it is stopped, so that its latency is
 * caused by the server and not by the test.
 */
import { once } from 'node:events';
import { Agent, request } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { threadTimes } from '../servers/thread-times.ts';

export interface SteadyRequest {
  readonly url: string;
  readonly token: string;
  /** Method. Default: GET. */
  readonly method?: string;
  readonly contentType?: string;
  readonly body?: string;
  /** Pause between a response and the next request. Default: 20. */
  readonly pauseMs?: number;
  /** Initial time without measurements. Default: none. */
  readonly warmUpMs?: number;
  /** Process id of the server, required for `workMs`. */
  readonly pid?: number;
}

export interface Wait {
  /** Wall-clock latency in milliseconds. */
  readonly wallMs: number;
  /** CPU time of the server's first thread meanwhile, for any request, independent of other processes. 0 without a `pid`. */
  readonly workMs: number;
}

/** `stop` resolves to the measurements; rejects if a response is not 200. */
export class SteadyClient {
  readonly #worker: Worker;
  readonly #failed: Promise<never>;

  constructor(asked: SteadyRequest) {
    this.#worker = new Worker(new URL(import.meta.url), { workerData: asked });
    this.#failed = once(this.#worker, 'error').then(([error]) => Promise.reject(error as Error));
    this.#failed.catch(() => {});
  }

  async end(): Promise<readonly Wait[]> {
    this.#worker.postMessage('end');
    const [waits] = await Promise.race([once(this.#worker, 'message'), this.#failed]);
    await this.#worker.terminate();
    return waits as Wait[];
  }
}

async function ask({ url, token, method = 'GET', contentType, body, pid }: SteadyRequest, agent: Agent): Promise<Wait> {
  const work = (): number => (pid === undefined ? 0 : threadTimes(pid).ranMs);
  const workBefore = work();
  const began = performance.now();
  const { promise, resolve, reject } = Promise.withResolvers<Wait>();
  const headers = { authorization: `Bearer ${token}`, ...(contentType && { 'content-type': contentType }) };
  request(url, { agent, method, headers, rejectUnauthorized: false }, (response) => {
    response.resume().on('end', () => {
      if (response.statusCode === 200) resolve({ wallMs: performance.now() - began, workMs: work() - workBefore });
      else reject(new Error(`${method} ${url} failed with ${response.statusCode}`));
    });
  })
    .on('error', reject)
    .end(body);
  return promise;
}

if (!isMainThread && parentPort) {
  const asked = workerData as SteadyRequest;
  const waits: Wait[] = [];
  const agent = new Agent({ keepAlive: true });
  let isEnded = false;
  parentPort.once('message', () => {
    isEnded = true;
  });
  const { pauseMs = 20, warmUpMs = 0 } = asked;
  const measureFrom = performance.now() + warmUpMs;
  for (; !isEnded; await sleep(pauseMs)) {
    const isMeasured = performance.now() >= measureFrom;
    const wait = await ask(asked, agent);
    if (isMeasured) waits.push(wait);
  }
  agent.destroy();
  parentPort.postMessage(waits);
}
