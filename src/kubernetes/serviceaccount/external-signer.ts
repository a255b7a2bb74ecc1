import { Buffer } from 'node:buffer';
import { createPublicKey, type KeyObject } from 'node:crypto';
import { Client, credentials, Metadata, type ServiceError } from '@grpc/grpc-js';
import {
  fetchKeysRequest,
  fetchKeysResponse,
  metadataRequest,
  metadataResponse,
  signRequest,
  signResponse,
} from './external-signer-messages.ts';

/** A public key of the signer. */
export interface ExternalKey {
  readonly id: string;
  readonly key: KeyObject;
  /** True if the key only verifies old tokens: it is not published and does not sign. */
  readonly isRetired: boolean;
}

interface Coder<T> {
  encode(values: T): Buffer;
}
interface Decoder<T> {
  decode(message: Buffer): T;
}

const startMs = 10_000;
const callMs = 60_000;
const retryMs = 10_000;
const shortestSeconds = 600;
const longestKeyId = 1_024;
const algorithms: ReadonlySet<string> = new Set(['RS256', 'ES256', 'ES384', 'ES512']);
const headerMembers: ReadonlySet<string> = new Set(['alg', 'kid', 'typ']);

/**
 * Client of a signer on a Unix socket that holds the keys of service account tokens: it signs, and lists the public keys for verification.
 * The keys are read again at the interval that the signer sets, and for a token with an unknown key. Upstream:
 * kubernetes/pkg/serviceaccount/externaljwt/plugin.
 */
export class ExternalSigner implements Disposable {
  readonly #client: Client;
  /** Called when reading the keys again fails; the known ones stay in use. */
  onError: (error: Error) => void = () => {};
  #keys: readonly ExternalKey[] = [];
  #refreshAt = 0;
  #refreshing: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** Maximum lifetime of a token that the signer accepts, in seconds. */
  maxTokenExpirationSeconds = 0;

  private constructor(endpoint: string) {
    const address = endpoint.startsWith('@') ? `unix-abstract:${endpoint.slice(1)}` : `unix:${endpoint}`;
    this.#client = new Client(address, credentials.createInsecure(), { 'grpc.default_authority': 'localhost' });
  }

  /** Connects to `endpoint`: a path, or `@name` in Linux's abstract namespace. Rejects if the signer does not answer or has no keys. */
  static async open(endpoint: string): Promise<ExternalSigner> {
    const signer = new ExternalSigner(endpoint);
    try {
      await signer.#fetchKeys(startMs).catch((cause: Error) => {
        throw new Error(`while initially filling key cache: ${cause.message}`, { cause });
      });
      const { maxTokenExpirationSeconds: most } = await signer.#call('Metadata', metadataRequest, metadataResponse, {}, startMs);
      if (most < shortestSeconds)
        throw new Error(`max token life supported by external-jwt-signer (${most}s) is less than acceptable (min ${shortestSeconds}s)`);
      signer.maxTokenExpirationSeconds = most;
      return signer;
    } catch (error) {
      signer[Symbol.dispose]();
      throw new Error(`while setting up external-jwt-signer: ${(error as Error).message}`, { cause: error });
    }
  }

  get keys(): readonly ExternalKey[] {
    return this.#keys;
  }

  /** Seconds until the keys are read again. */
  get secondsToRefresh(): number {
    return Math.max(0, Math.floor((this.#refreshAt - Date.now()) / 1_000));
  }

  /** Reads the keys again; concurrent calls share one request. */
  refresh(): Promise<void> {
    this.#refreshing ??= this.#fetchKeys(callMs).finally(() => (this.#refreshing = undefined));
    return this.#refreshing;
  }

  /** Returns a compact JWS. Rejects if the signer fails, or returns an invalid header. */
  async sign(payload: Buffer): Promise<string> {
    const claims = payload.toString('base64url');
    const { header, signature } = await this.#call('Sign', signRequest, signResponse, { claims }, callMs).catch((cause: Error) => {
      throw new Error(`while signing jwt: ${cause.message}`, { cause });
    });
    this.#checkHeader(header);
    if (signature === '') throw new Error('empty signature returned');
    return `${header}.${claims}.${signature}`;
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#client.close();
  }

  async #fetchKeys(timeoutMs: number): Promise<void> {
    const { keys, refreshHintSeconds } = await this.#call('FetchKeys', fetchKeysRequest, fetchKeysResponse, {}, timeoutMs);
    if (refreshHintSeconds <= 0) throw new Error(`found invalid refresh hint (${refreshHintSeconds}s)`);
    if (keys.length === 0) throw new Error('found no keys');
    this.#keys = keys.map(({ keyId, key, excludeFromOidcDiscovery }) => {
      if (keyId === '' || keyId.length > longestKeyId) throw new Error(`found invalid public key id ${JSON.stringify(keyId)}`);
      if (key.length === 0) throw new Error('found empty public key');
      return { id: keyId, key: createPublicKey({ key, format: 'der', type: 'spki' }), isRetired: excludeFromOidcDiscovery };
    });
    this.#refreshAt = Date.now() + refreshHintSeconds * 1_000;
    this.#refreshIn(refreshHintSeconds * 1_000);
  }

  #refreshIn(milliseconds: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.refresh().catch((error: Error) => {
        this.onError(error);
        this.#refreshIn(retryMs);
      });
    }, milliseconds).unref();
  }

  #checkHeader(encoded: string): void {
    const header = JSON.parse(Buffer.from(encoded, 'base64url').toString()) as Readonly<Record<string, unknown>>;
    const wrong = (reason: string): never => {
      throw new Error(`while validating header: ${reason}`);
    };
    const unknown = Object.keys(header).find((member) => !headerMembers.has(member));
    if (unknown !== undefined) wrong(`while parsing header JSON: json: unknown field ${JSON.stringify(unknown)}`);
    const { typ, kid, alg } = header;
    if (typ !== 'JWT') wrong('bad type');
    if (typeof kid !== 'string' || kid === '') return wrong('key id missing');
    if (kid.length > longestKeyId) wrong('key id longer than 1 kb');
    if (!algorithms.has(String(alg))) wrong(`bad signing algorithm ${JSON.stringify(alg)}`);
    if (this.#keys.some(({ id, isRetired }) => id === kid && isRetired))
      wrong(`key used for signing JWT (kid: ${kid}) is excluded from OIDC discovery docs`);
  }

  #call<Q, R>(method: string, encoder: Coder<Q>, decoder: Decoder<R>, request: Q, timeoutMs: number): Promise<R> {
    return new Promise((resolve, reject) => {
      this.#client.makeUnaryRequest(
        `/v1.ExternalJWTSigner/${method}`,
        (values: Q) => encoder.encode(values),
        (message: Buffer) => decoder.decode(message),
        request,
        new Metadata({ waitForReady: true }),
        { deadline: Date.now() + timeoutMs },
        (error: ServiceError | null, answer) => {
          if (error) reject(new Error(error.details, { cause: error }));
          else resolve(answer as R);
        },
      );
    });
  }
}
