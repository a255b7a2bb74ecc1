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

/** Upstream: apiserver/pkg/server/options/encryptionconfig/config.go. */
const healthyIntervalMs = 60_000;
const failingIntervalMs = 10_000;
const writeTtlMs = 180_000;
const healthyTtlMs = 20_000;
const failingTtlMs = 3_000;
const versions = ['v2', 'v2beta1'];

/** The key that values are written with. */
interface WriteKey {
  readonly dataKey: DataKey;
  readonly object: EncryptedObject;
  readonly keyIdHash: string;
  /** When nothing may be written with it any more, unless the service says again that it is good. */
  readonly expires: number;
}

/** A key that values are read with. */
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
 * Values are encrypted with a key of the server's own, made at its start and whenever the service has another key, and each holds that key
 * as the service encrypted it. Reading asks the service once for each such key. A service that fails is asked every ten
 * seconds; what it last gave is written with for three minutes more.
 * Upstream: apiserver/pkg/storage/value/encrypt/envelope/kmsv2, apiserver/pkg/server/options/encryptionconfig/config.go (kmsv2PluginProbe).
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

  /** Asks the service for a first key; resolves whether or not it gave one, and goes on asking. */
  async start(): Promise<void> {
    await this.#poll();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    this.#stopTimer?.();
    this.#parts.service.close();
  }

  /** Rejects with what is wrong with the service; its answer is remembered for a moment. */
  check(): Promise<void> {
    const now = this.#parts.clock.now();
    if (this.#check && now - this.#check.at < this.#check.ttlMs) return this.#check.result;
    const result = this.#examine();
    const remember = (ttlMs: number): void => {
      this.#check = { at: this.#parts.clock.now(), ttlMs, result };
    };
    // Those who ask while the service is asked get the same answer.
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
    if (!key) throw new UnavailableError(`failed to decrypt DEK, error: KMS Provider ${this.#parts.name} was not asked for it`);
    this.#parts.metrics.keyUsed('from_storage', this.#parts.name, key.keyIdHash);
    // A value that was written with the key itself is as stale as one of another key.
    const keyId = object.encryptedDekSourceType === dekSource.seed ? key.keyIdHash : `${key.keyIdHash}:aes`;
    return { value: key.dataKey.open(object.encryptedData, context), keyId };
  }

  prepare(stored: Buffer): Promise<void> | undefined {
    let object: EncryptedObject;
    try {
      object = decodeObject(stored);
    } catch {
      // Who reads it learns why.
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
    // The interval is longer than what is remembered: the service is asked.
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

  /** Writes with a key of `keyId` from now on, the present one if it is of it. Returns what is wrong. */
  async #follow(keyId: string): Promise<string[]> {
    const { name, metrics, clock } = this.#parts;
    try {
      validateKeyId(keyId);
    } catch (error) {
      metrics.invalidKeyTold(name, keyId === '' ? 'empty' : 'too_long');
      return [`got invalid KMSv2 KeyID hash ${quote(hashOf(keyId))}: ${(error as Error).message}`];
    }
    metrics.keyTold(name, hashOf(keyId));
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

  /** A time of the clock as people read it. */
  #time(at: number): string {
    return new Date(Date.now() + at - this.#parts.clock.now()).toISOString().replace(/\.\d+/, '');
  }
}

/** Throws for what is no stored value. */
function decodeObject(stored: Buffer): EncryptedObject {
  const object = encryptedObject.decode(stored);
  validateEncryptedObject(object);
  return object;
}

/** Two values of the same text were written with the same key. */
function cacheKeyOf({ encryptedDekSourceType: type, encryptedDekSource: key, keyId, annotations }: EncryptedObject): string {
  const sorted = annotations.map(({ name, value }) => [name, value.toString('base64')] as const).sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([type, key.toString('base64'), keyId, sorted]);
}
