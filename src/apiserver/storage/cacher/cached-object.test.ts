import { Buffer } from 'node:buffer';
import { describe, expect, it } from 'vitest';
import { CachedObject } from './cached-object.ts';

const reader = { parse: () => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } }), fields: () => ({}) };

describe('CachedObject', () => {
  const json = '{"metadata":{"name":"a","resourceVersion":"1"}}';
  const sources: [string, Buffer][] = [
    ['a pool of small buffers', Buffer.from(json)],
    ['what a socket brought', Buffer.from(`HTTP/1.1 200 OK\r\n\r\n${json}`).subarray(-json.length)],
  ];
  it.each(sources)('keeps its own bytes, not %s', (_, bytes) => {
    expect(bytes.buffer.byteLength).toBeGreaterThan(bytes.length);
    const object = new CachedObject('/a', 1, 1, bytes, reader);
    for (const kept of [object.bytes, object.at(2).bytes]) expect(kept.buffer.byteLength).toBe(kept.length);
    expect(object.bytes.toString()).toBe(json);
  });

  it('takes bytes of their own as they are', () => {
    const bytes = Buffer.alloc(100);
    expect(new CachedObject('/a', 1, 1, bytes, reader).bytes).toBe(bytes);
  });
});
