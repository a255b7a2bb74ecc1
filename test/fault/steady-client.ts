/**
 * A client on a thread of its own that asks for one thing over a connection that it keeps, one request after the other, until
 * it is told to end: what it has to wait is then what the server makes it wait, and not the test beside it.
 */
import { once } from 'node:events';
import { Agent, request } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { threadTimes } from '../servers/thread-times.ts';

export interface SteadyRequest {
  readonly url: string;
  readonly token: string;
  /** Default: GET. */
  readonly method?: string;
  readonly contentType?: string;
  readonly body?: string;
  /** Between an answer and the next request. Default: 20. */
  readonly pauseMs?: number;
  /** At the beginning, of which nothing is told. Default: none. */
  readonly warmUpMs?: number;
  /** Of the server, by which `workMs` is known. */
  readonly pid?: number;
}

export interface Wait {
  /** Between question and answer, by the wall's clock. */
  readonly wallMs: number;
  /** What the server's first thread computed meanwhile, for whomever: other processes add nothing to it. 0 without a `pid`. */
  readonly workMs: number;
}

/** Resolves when told to end, with what each answer took; rejects when one is not 200. */
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

/** The 99th percentile. */
export function percentile99(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.ceil(times.length * 0.99) - 1] ?? 0;
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
      else reject(new Error(`${method} ${url} was answered with ${response.statusCode}`));
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
  const told = performance.now() + warmUpMs;
  for (; !isEnded; await sleep(pauseMs)) {
    const isTold = performance.now() >= told;
    const wait = await ask(asked, agent);
    if (isTold) waits.push(wait);
  }
  agent.destroy();
  parentPort.postMessage(waits);
}
