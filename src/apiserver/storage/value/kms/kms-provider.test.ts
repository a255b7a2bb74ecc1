import { Buffer } from 'node:buffer';
import { describe, expect, it } from 'vitest';
import { Registry } from 'prom-client';
import { FakeClock } from '#apiserver/base/fake-clock';
import { sealGcm } from '../aes.ts';
import { TransformerChain } from '../transformer.ts';
import { seedKey, validateEncryptedObject } from './envelope.ts';
import { KmsMetrics } from './kms-metrics.ts';
import { KmsProvider } from './kms-provider.ts';
import type { EncryptedKey, KmsService } from './kms-service.ts';
import { dekSource, encryptedObject, type KmsStatus } from './messages.ts';

const value = Buffer.from('k8s\0 a secret');
const context = '/registry/secrets/ns/a';

/** A KMS service that "encrypts" by reversing the bytes. */
class FakeService implements KmsService {
  answer: KmsStatus = { version: 'v2', healthz: 'ok', keyId: 'one' };
  failure: Error | undefined;
  readonly calls: string[] = [];

  async status(): Promise<KmsStatus> {
    return this.#called('status', this.answer);
  }
  async encrypt(_uid: string, plaintext: Buffer): Promise<EncryptedKey> {
    const ciphertext = Buffer.from(plaintext).reverse();
    return this.#called('encrypt', { ciphertext, keyId: this.answer.keyId, annotations: [] });
  }
  async decrypt(_uid: string, { ciphertext }: EncryptedKey): Promise<Buffer> {
    return this.#called('decrypt', Buffer.from(ciphertext).reverse());
  }
  close(): void {}

  #called<T>(name: string, answer: T): T {
    this.calls.push(name);
    if (this.failure) throw this.failure;
    return answer;
  }
}

async function fixture(service = new FakeService()) {
  const clock = new FakeClock();
  const errors: string[] = [];
  const log = { info() {}, warn() {}, error: ({ reason }: { reason?: string }) => void errors.push(reason ?? '') };
  const registry = new Registry();
  const provider = new KmsProvider({ name: 'vault', service, metrics: new KmsMetrics(registry, 'server'), log, clock });
  await provider.start();
  return { provider, chain: new TransformerChain([provider]), service, clock, errors, registry };
}

async function read(chain: TransformerChain, stored: Buffer) {
  await chain.prepare(stored);
  return chain.fromStorage(stored, context);
}

describe('KmsProvider', () => {
  it('requests one key and reads its own values without a request', async () => {
    const { chain, service } = await fixture();
    const stored = chain.toStorage(value, context);
    expect(stored.toString('latin1').startsWith('k8s:enc:kms:v2:vault:')).toBe(true);
    expect(stored.includes('secret')).toBe(false);
    expect(await read(chain, stored)).toEqual({ value, form: chain.form });
    expect(service.calls).toEqual(['status', 'encrypt']);
  });

  it('requests each key of another server once', async () => {
    const { chain: other } = await fixture();
    const { chain, service } = await fixture();
    const all = [other.toStorage(value, context), other.toStorage(value, context)];
    await Promise.all(all.map(async (stored) => chain.prepare(stored)));
    expect(all.map((stored) => chain.fromStorage(stored, context).value)).toEqual([value, value]);
    expect(service.calls).toEqual(['status', 'encrypt', 'decrypt']);
  });

  it('reads values that were encrypted with the key itself and reports them as stale', async () => {
    const { chain } = await fixture();
    const key = Buffer.alloc(32, 7);
    const object = encryptedObject.encode({
      encryptedData: sealGcm(key, value, context),
      keyId: 'one',
      encryptedDekSource: Buffer.from(key).reverse(),
      encryptedDekSourceType: dekSource.aesGcmKey,
    });
    const found = await read(chain, Buffer.concat([Buffer.from('k8s:enc:kms:v2:vault:'), object]));
    expect(found.value).toEqual(value);
    expect(found.form).not.toBe(chain.form);
  });

  it("generates a new key when the service's key changes; older values become stale", async () => {
    const { chain, service, clock } = await fixture();
    const stored = chain.toStorage(value, context);
    service.answer = { ...service.answer, keyId: 'two' };
    await clock.advance(60_000);
    expect(service.calls).toEqual(['status', 'encrypt', 'status', 'encrypt']);
    const found = await read(chain, stored);
    expect(found.value).toEqual(value);
    expect(found.form).not.toBe(chain.form);
    expect((await read(chain, chain.toStorage(value, context))).form).toBe(chain.form);
  });

  it('writes for three minutes after the last healthy status, reads without limit, and recovers', async () => {
    const { chain, provider, service, clock, errors } = await fixture();
    const stored = chain.toStorage(value, context);
    service.failure = new Error('down');
    for (let i = 0; i < 18; i += 1) {
      await clock.advance(i === 0 ? 60_000 : 10_000);
    }
    expect(() => chain.toStorage(value, context)).toThrow(
      /^encryptedDEKSource with keyID hash "sha256:.*" expired at .*Z \(current time is/,
    );
    expect(errors.at(-1)).toBe('failed to perform status section of the healthz check for KMS Provider vault, error: down');
    expect((await read(chain, stored)).value).toEqual(value);
    service.failure = undefined;
    await clock.advance(10_000);
    await provider.check();
    expect((await read(chain, chain.toStorage(value, context))).value).toEqual(value);
  });

  it('rejects writes before the service has returned a key', async () => {
    const service = new FakeService();
    service.failure = new Error('down');
    const { chain } = await fixture(service);
    expect(() => chain.toStorage(value, context)).toThrow('got unexpected nil transformer');
  });

  it('reports that a value is temporarily unreadable', async () => {
    const stored = (await fixture()).chain.toStorage(value, context);
    const { chain, service } = await fixture();
    service.failure = new Error('down');
    await expect(chain.prepare(stored)).rejects.toThrow('failed to decrypt DEK, error: down');
    expect(() => chain.fromStorage(stored, context)).toThrow('failed to decrypt DEK');
  });

  it.each([
    {
      name: 'health',
      answer: { healthz: 'sealed' },
      want: 'kmsv2 Provider vault is not healthy, error: got unexpected healthz status: sealed',
    },
    {
      name: 'version',
      answer: { version: 'v1' },
      want: 'kmsv2 Provider vault is not healthy, error: expected KMSv2 API version v2, got v1',
    },
    {
      name: 'change of version',
      answer: { version: 'v2beta1' },
      want: /should not change after the initial status response version v2, got v2beta1$/,
    },
    {
      name: 'no key',
      answer: { keyId: '' },
      want: 'kmsv2 Provider vault is not healthy, error: got invalid KMSv2 KeyID hash "": keyID is empty',
    },
    { name: 'long key', answer: { keyId: 'k'.repeat(1025) }, want: /keyID is 1025 bytes, which exceeds the max size of 1024$/ },
  ])('checks the $name', async ({ answer, want }) => {
    const { provider, service, clock, registry } = await fixture();
    service.answer = { ...service.answer, ...answer };
    await clock.advance(20_000);
    await expect(provider.check()).rejects.toThrow(want);
    expect(await registry.metrics()).toContain('apiserver_envelope_encryption_dek_source_cache_size{provider_name="vault"} 1');
  });
});

it('derives the same keys from a seed as Go', () => {
  // Generated by crypto/hkdf.Expand and crypto/cipher: seed 0,1,2…, info 100,101,102…, nonce 200,201,202….
  const seed = Buffer.from(Array.from({ length: 32 }, (_, i) => i));
  const stored = Buffer.from(
    '6465666768696a6b6c6d6e6f707172737475767778797a7b7c7d7e7f80818283c8c9cacbcccdcecfd0d1d2d30c461614473a8376bc24c33faf9257a68f3b6031d1a5df5f',
    'hex',
  );
  expect(seedKey(seed).open(stored, context).toString()).toBe('a secret');
  expect(() => seedKey(seed).open(stored, '/registry/secrets/ns/b')).toThrow();
  expect(() => seedKey(seed.subarray(1))).toThrow('invalid seed length 31 used for key generation');
});

it.each([
  { change: { keyId: '' }, want: 'failed to validate key id: keyID is empty' },
  { change: { encryptedData: Buffer.alloc(0) }, want: 'encrypted data is empty' },
  { change: { encryptedDekSourceType: 2 }, want: 'unknown encryptedDEKSourceType: 2' },
  {
    change: { encryptedDekSource: Buffer.alloc(1025) },
    want: 'failed to validate encrypted DEK source: encrypted DEK source is 1025 bytes',
  },
  { change: { annotations: [{ name: 'plain', value: Buffer.alloc(0) }] }, want: 'should be a domain with at least two segments' },
  { change: { annotations: [{ name: 'a.b', value: Buffer.alloc(32 * 1024) }] }, want: 'total size of annotations is 32771' },
])('rejects $want', ({ change, want }) => {
  const object = { keyId: 'k', encryptedData: Buffer.of(0), encryptedDekSource: Buffer.of(1), encryptedDekSourceType: 1, annotations: [] };
  expect(() => validateEncryptedObject(object)).not.toThrow();
  expect(() => validateEncryptedObject({ ...object, ...change })).toThrow(want);
});
