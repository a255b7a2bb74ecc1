import { expect, it } from 'vitest';
import { startTestCluster } from '#testing/index';
import { flags } from '../field-selectors/flags.ts';
import { createSamples } from '../field-selectors/table.ts';
import { type Swept, sweep } from './sweep.ts';

/**
 * Requests that kube-apiserver v1.36.3 answers with 500, too: applied objects that cannot be decoded or have null items, and
 * items without a merge key.
 */
const upstream =
  /^(failed to (convert new object|create typed patch object) \(|list element types are not identical: |map: map\[\] does not contain declared merge key: )/;

it('nulls and empty values in any field cause no server error', async () => {
  await using cluster = await startTestCluster({ flags });
  const failed: string[] = [];
  const ask = async (path: string, { contentType = 'application/json', ...options }: { contentType?: string } = {}): Promise<Swept> => {
    const response = await cluster.fetch(path, { ...options, headers: { 'content-type': contentType } });
    const text = await response.text();
    const body = text.startsWith('{') ? (JSON.parse(text) as Swept['body']) : { message: text };
    if (response.status >= 500 && !upstream.test(body.message ?? '')) failed.push(`${path} ${response.status} ${body.message}`);
    return { status: response.status, body };
  };
  await createSamples(ask as never);
  const table = await sweep(ask);
  expect(failed).toEqual([]);
  expect(Object.keys(table).length).toBeGreaterThan(3_000);
}, 120_000);
