import { Buffer } from 'node:buffer';
import { readFileSync } from 'node:fs';
import https from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ContentCase, type ContentRequest, awaited, custom, preparations } from './cases.ts';

/** A server in its own process. */
export interface Target {
  readonly url: string;
  readonly token: string;
  readonly pid: number;
}

export interface Answered {
  readonly status: number;
  /** Start of the response. */
  readonly text: string;
}

export interface Cost extends Answered {
  /** CPU time of the process in milliseconds. */
  readonly processorMs: number;
}

const agent = new https.Agent({ keepAlive: true, rejectUnauthorized: false });

/** Sends a request and reads the complete response. */
export function ask(target: Target, { path, method = 'GET', headers = {}, body }: ContentRequest): Promise<Answered> {
  const { promise, resolve, reject } = Promise.withResolvers<Answered>();
  const options = { method, agent, headers: { authorization: `Bearer ${target.token}`, ...headers } };
  const request = https.request(`${target.url}${path}`, options, (response) => {
    const parts: Buffer[] = [];
    let size = 0;
    response.on('data', (part: Buffer) => {
      if (size < 4_000) parts.push(part);
      size += part.length;
    });
    response.on('error', reject);
    response.on('end', () => resolve({ status: response.statusCode ?? 0, text: Buffer.concat(parts).toString().slice(0, 4_000) }));
  });
  request.on('error', reject).end(body);
  return promise;
}

/** Duration of a clock tick of user and system time. Upstream: proc(5), stat. */
const tickMs = 10;

/** Returns the CPU time of all threads of a process in milliseconds. */
export function processorMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
  return (Number(fields[11]) + Number(fields[12])) * tickMs;
}

export async function prepare(target: Target): Promise<void> {
  for (const request of preparations()) await ask(target, request);
  while ((await ask(target, { path: awaited })).status !== 200) await sleep(50);
  await ask(target, custom);
}

/** Sends a request and waits until the process is idle, so that work after the response counts. */
export async function measure(target: Target, { request, before = [] }: ContentCase): Promise<Cost> {
  for (const one of before) await ask(target, one);
  const began = processorMs(target.pid);
  const answered = await ask(target, request);
  let now = processorMs(target.pid);
  for (let last = -1; now - last > tickMs; ) {
    last = now;
    await sleep(50);
    now = processorMs(target.pid);
  }
  return { ...answered, processorMs: now - began };
}

/** Returns the CPU time of a fixed computation in milliseconds: the minimum of some runs. */
export function calibrate(): number {
  const value = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`key-${i}`, { index: i, text: `text ${i}` }]));
  const runs = Array.from({ length: 8 }, () => {
    const began = process.cpuUsage();
    for (let i = 0; i < 5; i++) JSON.parse(JSON.stringify(value));
    const { user, system } = process.cpuUsage(began);
    return (user + system) / 1_000;
  });
  return Math.round(Math.min(...runs));
}
