/** Tests numbers with Go's semantics, int64 or float64, from each request format to each response format. */
import { Buffer } from 'node:buffer';
import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { parseCbor } from '#apimachinery/runtime/cbor/cbor';
import { isNumber, toFloat } from '#apimachinery/runtime/numbers';
import { startTestCluster, type TestCluster } from '#testing/index';
import { answerTo, inCbor, inJson, type NumberAnswer, type NumberRequest } from './requests.ts';

/** Returns the reason of a known difference; its row must fail, otherwise remove the entry. */
function reasonToDiffer(name: string, text = ''): string | undefined {
  if (/^-0\.0 in (raw content: (apply of|strategic|create in YAML)|a schema: (minimum|multipleOf))/.test(name))
    return 'a negative zero is 0';
  if (text === '{"any":-0}' || text === '{"ios":-0}') return 'a negative zero is 0';
  // The content of custom resources stays JSON until it is encoded.
  if (/^4473706563a143616e79(a1416e)?(f9|fa|fb)/.test(text) && !hasFraction(text)) return 'a float64 without a fraction is an integer';
  return undefined;
}

/** True if the CBOR ends with a float that has a fraction or exceeds int64. */
function hasFraction(hex: string): boolean {
  const item = Buffer.from(/(?:f9....|fa.{8}|fb.{16})$/.exec(hex)?.[0] ?? '', 'hex');
  const value = parseCbor(item);
  return isNumber(value) && (!Number.isInteger(toFloat(value)) || Math.abs(toFloat(value)) >= 2 ** 63);
}

describe.each([inJson, inCbor])('$record', async ({ record, flags, requests }) => {
  const recorded = JSON.parse(readFileSync(new URL(`./${record}`, import.meta.url), 'utf8')) as readonly NumberAnswer[];
  const cluster = await startTestCluster({ flags: [...flags] });
  afterAll(() => cluster[Symbol.asyncDispose]());

  it('covers exactly the recorded requests', () => {
    expect(requests.map(({ name }) => name)).toEqual(recorded.map(({ name }) => name));
  });

  const rows = requests.map((asked, at) => ({
    name: asked.name,
    asked,
    answer: recorded[at]!,
    reason: reasonToDiffer(asked.name, recorded[at]?.text),
  }));
  const compare = async ({ asked, answer }: { readonly asked: NumberRequest; readonly answer: NumberAnswer }): Promise<void> => {
    const compareOnce = async (): Promise<void> => expect(await send(cluster, asked)).toEqual(answer);
    if (asked.until) await vi.waitFor(compareOnce);
    else await compareOnce();
  };
  for (const row of rows) {
    if (row.reason === undefined) it(row.name, () => compare(row));
    else it.fails(`${row.name}: ${row.reason}`, () => compare(row));
  }
});

async function send(cluster: TestCluster, asked: NumberRequest): Promise<NumberAnswer> {
  const { method, path, contentType, accept = 'application/json', body } = asked;
  const headers = { accept, ...(contentType !== undefined && { 'content-type': contentType }) };
  const response = await cluster.fetch(path, { method, headers, ...(body !== undefined && { body }) });
  return answerTo(asked, response.status, Buffer.from(await response.arrayBuffer()), response.headers.get('warning') ?? undefined);
}
