import { readFileSync } from 'node:fs';
import { brotliDecompressSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { startTestCluster } from '#testing/index';
import { knownDifferences } from './known-differences.ts';
import { digestLength, digestOf, flags, normal, prepare, type Request, type Swept, varying } from './sweep.ts';

const recorded = JSON.parse(brotliDecompressSync(readFileSync(new URL('./kube-apiserver.json.br', import.meta.url))).toString()) as {
  readonly places: readonly string[];
  readonly digests: string;
};

const nameOf = ({ kind, verb, place }: Request): string => `${kind} ${verb} ${place}`;
const shown = ({ status, body }: Swept): string => JSON.stringify([status, normal(body)]).slice(0, 500);

it('responses to unusual values of fields are those of kube-apiserver v1.36.3', async () => {
  await using cluster = await startTestCluster({ flags });
  const ask = async (path: string, { contentType = 'application/json', ...options }: { contentType?: string } = {}): Promise<Swept> => {
    const response = await cluster.fetch(path, { ...options, headers: { 'content-type': contentType } });
    const text = await response.text();
    return { status: response.status, body: text.startsWith('{') ? (JSON.parse(text) as object) : { text } };
  };
  const requests = await prepare(ask);
  expect(requests.map(nameOf)).toEqual(recorded.places);
  expect(requests.length).toBeGreaterThan(15_000);

  const different = new Map<string, string>();
  for (const [i, request] of requests.entries()) {
    const expected = recorded.digests.slice(i * digestLength, (i + 1) * digestLength);
    const answer = await ask(request.path, request);
    if (expected !== varying && digestOf(answer) !== expected) different.set(nameOf(request), shown(answer));
  }
  const isKnown = (one: string): boolean => knownDifferences.some(({ requests: known }) => known.test(one));
  expect([...different].filter(([one]) => !isKnown(one))).toEqual([]);
  const obsolete = knownDifferences.filter(({ requests: known }) => ![...different.keys()].some((one) => known.test(one)));
  expect(obsolete).toEqual([]);
}, 240_000);
