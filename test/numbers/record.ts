/**
 * Records the real kube-apiserver's handling of numbers: `node test/numbers/record.ts`. Requires the binaries of
 * ../shared/reference.
 */
import { Buffer } from 'node:buffer';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { startEtcd } from '../servers/etcd-server.ts';
import { startKubeApiserver } from '../servers/kube-apiserver.ts';
import { answerTo, inCbor, inJson, type NumberAnswer, type NumberRequest, type NumberRequests } from './requests.ts';

for (const requests of [inJson, inCbor]) await record(requests);

async function record({ record: file, flags, requests }: NumberRequests): Promise<void> {
  await using etcd = await startEtcd();
  await using server = await startKubeApiserver(etcd.url, flags);
  const answers: NumberAnswer[] = [];
  for (const asked of requests) {
    let answer = await send(server.url, asked);
    for (let tries = 0; asked.until && answer.status !== 200 && tries < 100; tries++) {
      await sleep(100);
      answer = await send(server.url, asked);
    }
    if (asked.until && answer.status !== 200) throw new Error(`${asked.name}: ${answer.status}: ${answers.at(-1)?.text}`);
    answers.push(answer);
  }
  writeFileSync(new URL(`./${file}`, import.meta.url), `[\n${answers.map((answer) => JSON.stringify(answer)).join(',\n')}\n]\n`);
  console.log(`${file}: ${answers.length} answers`);
}

async function send(url: string, asked: NumberRequest): Promise<NumberAnswer> {
  const { method, path, contentType, accept = 'application/json', body } = asked;
  const headers = { accept, authorization: 'Bearer admin-token', ...(contentType !== undefined && { 'content-type': contentType }) };
  const sent = request(`${url}${path}`, { method, headers, rejectUnauthorized: false }).end(body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const chunks = (await response.toArray()) as Buffer[];
  return answerTo(asked, response.statusCode ?? 0, Buffer.concat(chunks), response.headers['warning'] as string | undefined);
}
