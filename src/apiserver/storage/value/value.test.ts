import { Buffer } from 'node:buffer';
import { describe, expect, it } from 'vitest';
import { FakeStorage } from '../fake-storage.ts';
import { aesCbc, aesGcm } from './aes.ts';
import { EncryptedStorage } from './encrypted-storage.ts';
import { seal, secretbox } from './secretbox.ts';
import { identity, TransformerChain } from './transformer.ts';

const key = Buffer.from(Array.from({ length: 32 }, (_, i) => i));
const other = Buffer.alloc(32, 7);
const value = Buffer.from('k8s\0 a secret, longer than one block of any of them');

describe.each([
  { name: 'aesgcm', make: aesGcm },
  { name: 'aescbc', make: aesCbc },
  { name: 'secretbox', make: secretbox },
])('$name', ({ name, make }) => {
  const chain = new TransformerChain([make('k', key)]);
  const stored = chain.toStorage(value, '/registry/secrets/ns/a');

  it('reads what it wrote, which does not show', () => {
    expect(stored.toString('latin1').startsWith(`k8s:enc:${name}:v1:k:`)).toBe(true);
    expect(stored.includes('secret,')).toBe(false);
    expect(chain.fromStorage(stored, '/registry/secrets/ns/a')).toEqual({ value, form: chain.form });
    expect(chain.toStorage(value, '/registry/secrets/ns/a').equals(stored)).toBe(false);
  });

  it('holds values of any length', () => {
    for (const length of [0, 1, 15, 16, 17, 31, 32, 33, 64, 1000]) {
      const bytes = Buffer.alloc(length, length);
      expect(chain.fromStorage(chain.toStorage(bytes, 'c'), 'c').value.equals(bytes)).toBe(true);
    }
  });
});

it.each([
  { name: 'aesgcm', make: aesGcm },
  { name: 'secretbox', make: secretbox },
])('$name refuses what was changed, or written with another key', ({ make }) => {
  const chain = new TransformerChain([make('k', key)]);
  const stored = chain.toStorage(value, 'c');
  const changed = Buffer.from(stored);
  changed[changed.length - 1] = (changed.at(-1) ?? 0) ^ 1;
  expect(() => chain.fromStorage(changed, 'c')).toThrow();
  expect(() => new TransformerChain([make('k', other)]).fromStorage(stored, 'c')).toThrow();
});

it('aesgcm refuses a value that was moved', () => {
  const chain = new TransformerChain([aesGcm('k', key)]);
  expect(() => chain.fromStorage(chain.toStorage(value, '/registry/secrets/ns/a'), '/registry/secrets/ns/b')).toThrow();
});

describe('TransformerChain', () => {
  it('tells what another than the first wrote, and reads plain values only by identity', () => {
    const rotated = new TransformerChain([aesGcm('new', other), aesGcm('old', key), identity]);
    const before = new TransformerChain([aesGcm('old', key)]).toStorage(value, 'c');
    for (const stored of [before, value]) {
      const read = rotated.fromStorage(stored, 'c');
      expect(read.value).toEqual(value);
      expect(read.form).not.toBe(rotated.form);
    }
    expect(() => new TransformerChain([aesGcm('new', other)]).fromStorage(value, 'c')).toThrow('no matching prefix found');
    expect(() => new TransformerChain([identity]).fromStorage(before, 'c')).toThrow('no matching prefix found');
  });
});

/** Made by golang.org/x/crypto/nacl/secretbox: key 0,1,2…, nonce 100,101,102…, message 0,7,14…. */
it.each([
  { length: 0, want: 'f49572d6194281e3c87fbb4e2106932c' },
  { length: 1, want: 'c4f8eed96b5e3b62d01aa14de33ab20b02' },
  { length: 31, want: 'febdb3a3bb75e7e70e78f7650946615b02be97dc2695e4d888c265d963dfc1714edd46226835d1ba0ea3f429ce401b' },
])('secretbox seals as NaCl does: $length bytes', ({ length, want }) => {
  const nonce = Buffer.from(Array.from({ length: 24 }, (_, i) => 100 + i));
  const message = Buffer.from(Array.from({ length }, (_, i) => (i * 7) & 255));
  expect(seal(message, nonce, key).toString('hex')).toBe(want);
});

describe('EncryptedStorage', () => {
  const chains = { old: new TransformerChain([aesGcm('k', key)]), next: new TransformerChain([aesGcm('k', other), aesGcm('k', key)]) };
  const bytes = () => value;

  it('a value that cannot be read fails alone, and ends no watch', async () => {
    const below = new FakeStorage();
    const storage = new EncryptedStorage(below, () => chains.old);
    await below.create('/secrets/ns/plain', () => value);
    await storage.create('/secrets/ns/good', bytes);
    const abort = new AbortController();
    const seen: string[] = [];
    for await (const { record } of storage.watch('/secrets/', 1, abort.signal)) {
      seen.push(record!.key);
      if (record!.key === '/secrets/ns/plain') expect(() => record!.value).toThrow(/cannot be read: no matching prefix found/);
      else expect(record!.value).toEqual(value);
      if (seen.length === 2) abort.abort();
    }
    expect(seen).toEqual(['/secrets/ns/plain', '/secrets/ns/good']);
    const { records } = await storage.list('/secrets/');
    expect(records.map((record) => record.key)).toEqual(['/secrets/ns/good', '/secrets/ns/plain']);
  });

  it('what was read with another key than the present one is to be written again, and what an older revision says does not count', async () => {
    const storage = new EncryptedStorage(new FakeStorage(), () => chains.old);
    const { revision } = await storage.create('/secrets/ns/a', bytes);
    const read = async (at?: number) => (await storage.get('/secrets/ns/a', { revision: at }))?.value;
    expect([await read(), storage.needsRewrite('/secrets/ns/a')]).toEqual([value, false]);
    storage.replace(() => chains.next);
    expect(storage.needsRewrite('/secrets/ns/a')).toBe(true);
    await storage.update('/secrets/ns/a', revision, bytes);
    expect([await read(), storage.needsRewrite('/secrets/ns/a')]).toEqual([value, false]);
    expect([await read(revision), storage.needsRewrite('/secrets/ns/a')]).toEqual([value, false]);
  });
});
