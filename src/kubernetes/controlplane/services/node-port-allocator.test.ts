import { Buffer } from 'node:buffer';
import { describe, expect, test } from 'vitest';
import { ConflictError, KeyExistsError } from '#apiserver/storage/errors';
import type { Encode, Revision, StorageRecord } from '#apiserver/storage/storage';
import { NodePortAllocator, NodePortOperation } from './node-port-allocator.ts';

const range = { base: 30_000, size: 64 };

/** Storage of one key with compare-and-swap; each write completes one event loop turn later. */
class OneKeyStorage {
  record: StorageRecord | undefined;
  writes = 0;
  failure: Error | undefined;
  #revision: Revision = 0;

  async get(): Promise<StorageRecord | undefined> {
    await turn();
    return this.record;
  }

  async create(key: string, encode: Encode): Promise<StorageRecord> {
    await turn();
    if (this.record) throw new KeyExistsError(key);
    return this.#put(key, encode);
  }

  async update(key: string, expected: Revision, encode: Encode): Promise<StorageRecord> {
    await turn();
    if (this.failure) throw this.failure;
    if (this.record?.revision !== expected) throw new ConflictError(key, this.record);
    return this.#put(key, encode);
  }

  #put(key: string, encode: Encode): StorageRecord {
    const revision = ++this.#revision;
    this.writes += 1;
    this.record = { key, revision, createRevision: 1, value: encode(revision) as Buffer };
    return this.record;
  }
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('NodePortAllocator', () => {
  test('allocates, rejects allocated and out-of-range ports, releases', async () => {
    const allocator = new NodePortAllocator(new OneKeyStorage(), range);
    await allocator.allocate(30_001);
    await expect(allocator.allocate(30_001)).rejects.toThrow('provided port is already allocated');
    await expect(allocator.allocate(80)).rejects.toThrow(
      'provided port is not in the valid range. The range of valid ports is 30000-30063',
    );
    await allocator.release(30_001);
    await allocator.allocate(30_001);
    expect(allocator.has(30_001)).toBe(true);
  });

  test('two servers with a common store never allocate a port twice, and allocate all of them', async () => {
    const storage = new OneKeyStorage();
    const servers = [new NodePortAllocator(storage, range), new NodePortAllocator(storage, range)];
    const ports = await Promise.all(Array.from({ length: range.size }, (_, at) => (servers[at % 2] as NodePortAllocator).allocateNext()));
    expect(new Set(ports).size).toBe(range.size);
    await expect(servers[0]?.allocateNext()).rejects.toThrow('range is full');
    expect(storage.writes).toBeLessThan(range.size);
  });

  test('sees a release by another server', async () => {
    const storage = new OneKeyStorage();
    const [one, other] = [new NodePortAllocator(storage, range), new NodePortAllocator(storage, range)];
    await one.allocate(30_005);
    await other.load();
    await one.release(30_005);
    await other.allocate(30_005);
    await expect(one.allocate(30_005)).rejects.toThrow('already allocated');
  });

  test('discards a stored bitmap of another range', async () => {
    const storage = new OneKeyStorage();
    await new NodePortAllocator(storage, { base: 30_000, size: 10 }).allocate(30_005);
    const allocator = new NodePortAllocator(storage, range);
    await allocator.allocate(30_005);
    expect(JSON.parse(String(storage.record?.value))).toMatchObject({
      kind: 'RangeAllocation',
      range: '30000-30063',
      data: Buffer.from([32]).toString('base64'),
    });
  });

  test('a failed write allocates nothing', async () => {
    const storage = new OneKeyStorage();
    const allocator = new NodePortAllocator(storage, range);
    await allocator.allocate(30_001);
    storage.failure = new Error('disk');
    await expect(allocator.allocate(30_002)).rejects.toThrow('disk');
    storage.failure = undefined;
    await allocator.allocate(30_002);
  });

  test('repair allocates ports in use, releases leaked ones, and writes only changes', async () => {
    const storage = new OneKeyStorage();
    const allocator = new NodePortAllocator(storage, range);
    await allocator.repair(new Set(), []);
    expect(storage.writes).toBe(1);
    await allocator.repair(new Set([30_001, 30_002, 99]), []);
    expect([...(await allocator.snapshot())]).toEqual([30_001, 30_002]);
    expect(storage.writes).toBe(2);
    await allocator.repair(new Set([30_001]), [30_002]);
    await allocator.repair(new Set([30_001]), []);
    expect([...(await allocator.snapshot())]).toEqual([30_001]);
    expect(storage.writes).toBe(3);
  });
});

describe('NodePortOperation', () => {
  test.each([
    { success: true, want: [30_002] },
    { success: false, want: [30_001] },
  ])('finish($success) leaves $want', async ({ success, want }) => {
    const allocator = new NodePortAllocator(new OneKeyStorage(), range);
    await allocator.allocate(30_001);
    const operation = new NodePortOperation(allocator, false);
    await operation.allocate(30_002);
    operation.releaseDeferred(30_001);
    await operation.finish(success);
    expect([...(await allocator.snapshot())]).toEqual(want);
  });

  test('a dry run allocates nothing, and returns ports outside the range', async () => {
    const storage = new OneKeyStorage();
    const allocator = new NodePortAllocator(storage, range);
    await allocator.allocate(30_001);
    const operation = new NodePortOperation(allocator, true);
    await expect(operation.allocate(30_001)).rejects.toThrow('already allocated');
    expect([await operation.allocateNext(), await operation.allocateNext()]).toEqual([32_769, 32_770]);
    await operation.finish(true);
    expect(storage.writes).toBe(1);
  });
});
