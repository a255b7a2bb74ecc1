import { Buffer } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import { quote } from '#apimachinery/runtime/quote';
import type { Logger } from '#apiserver/base/logger';
import type { Clock } from '#apiserver/base/clock';
import { UnavailableError } from '../../errors.ts';
import type { Transformed, Transformer } from '../transformer.ts';
import { type DataKey, dataKeyOf, newSeed, seedKey, validateEncryptedObject, validateKeyId } from './envelope.ts';
import { hashOf, type KmsMetrics } from './kms-metrics.ts';
import type { EncryptedKey, KmsService } from './kms-service.ts';
import { dekSource, type EncryptedObject, encryptedObject, type KmsStatus } from './messages.ts';

/** Intervals and lifetimes of status checks. Upstream: apiserver/pkg/server/options/encryptionconfig/config.go. */
const healthyIntervalMs = 60_000;
const failingIntervalMs = 10_000;
const writeTtlMs = 180_000;
const healthyTtlMs = 20_000;
const failingTtlMs = 3_000;
const versions = ['v2', 'v2beta1'];

/** The key for writing values. */
interface WriteKey {
  readonly dataKey: DataKey;
  readonly object: EncryptedObject;
  readonly keyIdHash: string;
  /** Time after which the key must not be used for writing, unless the service confirms it again. */
  readonly expires: number;
}

/** A key for reading values. */
interface ReadKey {
  readonly dataKey: DataKey;
  readonly keyIdHash: string;
}

export interface KmsProviderParts {
  readonly name: string;
  readonly service: KmsService;
  readonly metrics: KmsMetrics;
  readonly log: Logger;
  readonly clock: Clock;
}

/**
 * Encrypts values with a data key that this server generates at its start and whenever the service reports another key id.
 * Each value contains its data key as encrypted by the service. Reading requests the decryption of each data key once. A
 * failed service is polled every ten seconds; the last confirmed data key stays usable for writes for three minutes.
 * Upstream: apiserver/pkg/storage/value/encrypt/envelope/kmsv2, apiserver/pkg/server/options/encryptionconfig/config.go
 * (kmsv2PluginProbe).
 */
export class KmsProvider implements Transformer, AsyncDisposable {
  readonly prefix: string;
  readonly #parts: KmsProviderParts;
  readonly #readKeys = new Map<string, ReadKey>();
  readonly #asked = new Map<string, Promise<void>>();
  #writeKey: WriteKey | undefined;
  #version: string | undefined;
  #check: { readonly at: number; readonly ttlMs: number; readonly result: Promise<void> } | undefined;
  #stopTimer: (() => void) | undefined;
  #isClosed = false;

  constructor(parts: KmsProviderParts) {
    this.#parts = parts;
    this.prefix = `k8s:enc:kms:v2:${parts.name}:`;
  }

  /** Requests the first key and starts polling. Resolves even if the service returned no key. */
  async start(): Promise<void> {
    await this.#poll();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    this.#stopTimer?.();
    this.#parts.service.close();
  }

  /** Rejects with the fault of the service. The result is cached briefly. */
  check(): Promise<void> {
    const now = this.#parts.clock.now();
    if (this.#check && now - this.#check.at < this.#check.ttlMs) return this.#check.result;
    const result = this.#examine();
    const remember = (ttlMs: number): void => {
      this.#check = { at: this.#parts.clock.now(), ttlMs, result };
    };
    // Concurrent callers share the pending result.
    remember(Number.POSITIVE_INFINITY);
    result.then(
      () => remember(healthyTtlMs),
      () => remember(failingTtlMs),
    );
    return result;
  }

  get keyId(): string {
    return this.#writeKey?.keyIdHash ?? '';
  }

  toStorage(value: Buffer, context: string): Buffer {
    const key = this.#writeKey;
    if (!key) throw new Error('got unexpected nil transformer');
    const now = this.#parts.clock.now();
    if (now > key.expires) {
      const expired = `encryptedDEKSource with keyID hash ${quote(key.keyIdHash)} expired at ${this.#time(key.expires)}`;
      throw new Error(`${expired} (current time is ${this.#time(now)})`);
    }
    this.#parts.metrics.keyUsed('to_storage', this.#parts.name, key.keyIdHash);
    return encryptedObject.encode({ ...key.object, encryptedData: key.dataKey.seal(value, context) });
  }

  fromStorage(stored: Buffer, context: string): Transformed {
    const object = decodeObject(stored);
    const key = this.#readKeys.get(cacheKeyOf(object));
    if (!key) throw new UnavailableError(`failed to decrypt DEK, error: the DEK was not requested from KMS Provider ${this.#parts.name}`);
    this.#parts.metrics.keyUsed('from_storage', this.#parts.name, key.keyIdHash);
    // A value that was encrypted with the key itself is stale, like a value of another key.
    const keyId = object.encryptedDekSourceType === dekSource.seed ? key.keyIdHash : `${key.keyIdHash}:aes`;
    return { value: key.dataKey.open(object.encryptedData, context), keyId };
  }

  prepare(stored: Buffer): Promise<void> | undefined {
    let object: EncryptedObject;
    try {
      object = decodeObject(stored);
    } catch {
      // Reading the value throws the reason.
      return undefined;
    }
    const cacheKey = cacheKeyOf(object);
    if (this.#readKeys.has(cacheKey)) return undefined;
    const asked = this.#asked.get(cacheKey);
    if (asked) return asked;
    const asking = this.#decryptKey(object, cacheKey).finally(() => this.#asked.delete(cacheKey));
    this.#asked.set(cacheKey, asking);
    return asking;
  }

  async #decryptKey(object: EncryptedObject, cacheKey: string): Promise<void> {
    const { keyId, annotations, encryptedDekSource: ciphertext, encryptedDekSourceType: type } = object;
    try {
      const key = await this.#parts.service.decrypt(randomUUID(), { keyId, annotations, ciphertext });
      this.#remember(cacheKey, { dataKey: dataKeyOf(type, key), keyIdHash: hashOf(keyId) });
    } catch (cause) {
      throw new UnavailableError(`failed to decrypt DEK, error: ${(cause as Error).message}`, { cause });
    }
  }

  #remember(cacheKey: string, key: ReadKey): void {
    this.#readKeys.set(cacheKey, key);
    this.#parts.metrics.keysKnown(this.#parts.name, this.#readKeys.size);
  }

  async #poll(): Promise<void> {
    let failure: Error | undefined;
    // The interval exceeds the lifetime of the cached result, so this calls the service.
    await this.check().catch((error: unknown) => {
      failure = error as Error;
    });
    if (this.#isClosed) return;
    if (failure) this.#parts.log.error({ name: this.#parts.name, reason: failure.message }, 'kms plugin failed health check probe');
    this.#stopTimer = this.#parts.clock.after(failure ? failingIntervalMs : healthyIntervalMs, () => void this.#poll());
  }

  async #examine(): Promise<void> {
    const { name, service } = this.#parts;
    let status: KmsStatus;
    try {
      status = await service.status();
    } catch (cause) {
      throw new Error(
        `failed to perform status section of the healthz check for KMS Provider ${name}, error: ${(cause as Error).message}`,
        {
          cause,
        },
      );
    }
    const problems = [...this.#problemsOf(status), ...(await this.#follow(status.keyId))];
    if (problems.length === 0) return;
    const text = problems.length === 1 ? problems[0] : `[${problems.join(', ')}]`;
    throw new Error(`kmsv2 Provider ${name} is not healthy, error: ${text}`);
  }

  #problemsOf({ healthz, version }: KmsStatus): string[] {
    const problems = healthz === 'ok' ? [] : [`got unexpected healthz status: ${healthz}`];
    if (!versions.includes(version)) return [...problems, `expected KMSv2 API version v2, got ${version}`];
    this.#version ??= version;
    if (this.#version !== version)
      problems.push(`KMSv2 API version should not change after the initial status response version ${this.#version}, got ${version}`);
    return problems;
  }

  /** Makes the key with `keyId` the write key, keeping the current one if it has that id. Returns the problems found. */
  async #follow(keyId: string): Promise<string[]> {
    const { name, metrics, clock } = this.#parts;
    try {
      validateKeyId(keyId);
    } catch (error) {
      metrics.invalidKeyReported(name, keyId === '' ? 'empty' : 'too_long');
      return [`got invalid KMSv2 KeyID hash ${quote(hashOf(keyId))}: ${(error as Error).message}`];
    }
    metrics.keyReported(name, hashOf(keyId));
    const expires = clock.now() + writeTtlMs;
    const present = this.#writeKey;
    if (present?.object.keyId === keyId) {
      this.#writeKey = { ...present, expires };
      return [];
    }
    const uid = randomUUID();
    const made = await this.#newWriteKey(uid, expires);
    if (made instanceof Error || made.object.keyId !== keyId) return [this.#rotationFailure(uid, keyId, made)];
    this.#remember(cacheKeyOf(made.object), made);
    this.#writeKey = made;
    return [];
  }

  async #newWriteKey(uid: string, expires: number): Promise<WriteKey | Error> {
    const seed = newSeed();
    let key: EncryptedKey;
    try {
      key = await this.#parts.service.encrypt(uid, seed);
    } catch (cause) {
      return new Error(`failed to encrypt DEK, error: ${(cause as Error).message}`, { cause });
    }
    const { keyId, annotations, ciphertext } = key;
    const object = {
      keyId,
      annotations,
      encryptedDekSource: ciphertext,
      encryptedDekSourceType: dekSource.seed,
      encryptedData: Buffer.of(0),
    };
    try {
      validateEncryptedObject(object);
    } catch (error) {
      return error as Error;
    }
    return { dataKey: seedKey(seed), object, keyIdHash: hashOf(keyId), expires };
  }

  #rotationFailure(uid: string, keyId: string, made: WriteKey | Error): string {
    const present = this.#writeKey;
    const [failure, encryptHash] = made instanceof Error ? [made.message, ''] : ['<nil>', made.keyIdHash];
    return [
      `failed to rotate DEK uid=${quote(uid)}, useSeed=true, errState=${present ? '<nil>' : 'got unexpected nil transformer'}, errGen=${failure}`,
      `statusKeyIDHash=${quote(hashOf(keyId))}, encryptKeyIDHash=${quote(encryptHash)}, stateKeyIDHash=${quote(this.keyId)}`,
      `expirationTimestamp=${present ? this.#time(present.expires) : '0001-01-01T00:00:00Z'}`,
    ].join(', ');
  }

  /** Formats a clock time for messages. */
  #time(at: number): string {
    return new Date(Date.now() + at - this.#parts.clock.now()).toISOString().replace(/\.\d+/, '');
  }
}

/** Throws if the bytes are not a stored value. */
function decodeObject(stored: Buffer): EncryptedObject {
  const object = encryptedObject.decode(stored);
  validateEncryptedObject(object);
  return object;
}

/** Values with the same cache key were written with the same data key. */
function cacheKeyOf({ encryptedDekSourceType: type, encryptedDekSource: key, keyId, annotations }: EncryptedObject): string {
  const sorted = annotations.map(({ name, value }) => [name, value.toString('base64')] as const).sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([type, key.toString('base64'), keyId, sorted]);
}
