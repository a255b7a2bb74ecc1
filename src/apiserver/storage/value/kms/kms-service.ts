import type { Buffer } from 'node:buffer';
import { Client, credentials, Metadata, type ServiceError, status } from '@grpc/grpc-js';
import type { HistogramMetric } from '#apiserver/base/metrics/metrics';
import {
  decryptRequest,
  decryptResponse,
  type EncryptedObject,
  encryptRequest,
  encryptResponse,
  type KmsStatus,
  statusRequest,
  statusResponse,
} from './messages.ts';

/** The parts of a stored value that identify its key to the service. */
export type EncryptedKey = Pick<EncryptedObject, 'keyId' | 'annotations'> & { readonly ciphertext: Buffer };

/**
 * A service that encrypts and decrypts data keys. Each call rejects with the error of the service or of the transport.
 * Upstream: kms/pkg/service.
 */
export interface KmsService {
  status(): Promise<KmsStatus>;
  encrypt(uid: string, plaintext: Buffer): Promise<EncryptedKey>;
  decrypt(uid: string, key: EncryptedKey): Promise<Buffer>;
  close(): void;
}

export interface KmsServiceOptions {
  readonly name: string;
  /** For example `unix:///run/kms.sock`. */
  readonly endpoint: string;
  readonly timeoutMs: number;
}

interface Coder<T> {
  encode(values: T): Buffer;
}
interface Decoder<T> {
  decode(message: Buffer): T;
}

const waitForReady = { waitForReady: true };
const channelOptions = {
  'grpc.default_authority': 'localhost',
  'grpc.enable_retries': 0,
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 1_000,
};

/** A KMS plugin on a Unix socket. Upstream: apiserver/pkg/storage/value/encrypt/envelope/kmsv2/grpc_service.go. */
export class GrpcKmsService implements KmsService {
  readonly #client: Client;

  constructor(
    private readonly options: KmsServiceOptions,
    private readonly latency: HistogramMetric,
  ) {
    const { host, pathname } = new URL(options.endpoint);
    // `unix:///@name` is a Linux abstract socket.
    const address = pathname.startsWith('/@') ? `unix-abstract:${pathname.slice(2)}` : `unix:${host}${pathname}`;
    this.#client = new Client(address, credentials.createInsecure(), channelOptions);
  }

  status(): Promise<KmsStatus> {
    return this.#call('Status', statusRequest, statusResponse, {});
  }

  encrypt(uid: string, plaintext: Buffer): Promise<EncryptedKey> {
    return this.#call('Encrypt', encryptRequest, encryptResponse, { uid, plaintext });
  }

  async decrypt(uid: string, { ciphertext, keyId, annotations }: EncryptedKey): Promise<Buffer> {
    return (await this.#call('Decrypt', decryptRequest, decryptResponse, { uid, ciphertext, keyId, annotations })).plaintext;
  }

  close(): void {
    this.#client.close();
  }

  #call<Q, R>(method: string, encoder: Coder<Q>, decoder: Decoder<R>, request: Q): Promise<R> {
    const path = `/v2.KeyManagementService/${method}`;
    const begin = performance.now();
    return new Promise((resolve, reject) => {
      this.#client.makeUnaryRequest(
        path,
        (values: Q) => encoder.encode(values),
        (message: Buffer) => decoder.decode(message),
        request,
        new Metadata(waitForReady),
        { deadline: Date.now() + this.options.timeoutMs },
        (error: ServiceError | null, answer) => {
          this.#observe(path, begin, error);
          if (error) reject(new Error(`rpc error: code = ${codeName(error.code)} desc = ${error.details}`, { cause: error }));
          else resolve(answer as R);
        },
      );
    });
  }

  #observe(path: string, begin: number, error: ServiceError | null): void {
    const labels = { provider_name: this.options.name, method_name: path, grpc_status_code: codeName(error?.code ?? status.OK) };
    this.latency.observe(labels, (performance.now() - begin) / 1_000);
  }
}

/** Returns Go's name of a status code: `DeadlineExceeded` for `DEADLINE_EXCEEDED`. */
function codeName(code: number): string {
  if (code === status.OK) return 'OK';
  return (status[code] ?? 'UNKNOWN').toLowerCase().replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());
}
