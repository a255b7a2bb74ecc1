/** Starts a KMS v2 plugin for one test on a Unix socket; it keeps its keys in memory and can be made to fail. */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { Server, ServerCredentials, status, type handleUnaryCall, type ServiceError } from '@grpc/grpc-js';
import {
  decryptRequest,
  decryptResponse,
  encryptRequest,
  encryptResponse,
  type KmsStatus,
  statusRequest,
  statusResponse,
} from '#apiserver/storage/value/kms/messages';

interface Encoder<T> {
  encode(values: T): Buffer;
}
interface Decoder<T> {
  decode(message: Buffer): T;
}

export interface KmsServer extends AsyncDisposable {
  readonly endpoint: string;
  /** Number of calls of each method. */
  readonly calls: { Status: number; Encrypt: number; Decrypt: number };
  /** Mutable response of Status. */
  status: KmsStatus;
  /** Fault mode: calls are rejected or never answered. */
  fault: 'none' | 'refuses' | 'hangs';
  /** Encrypts with a new key from now on and reports it in Status. */
  rotate(): void;
}

/** Keys that outlive a plugin; pass them to the next one. */
export type KmsKeys = Map<string, Buffer>;

export async function startKms(socket: string, keys: KmsKeys = new Map()): Promise<KmsServer> {
  const server = new Server();
  const newKey = (): string => {
    const id = `key-${keys.size + 1}`;
    keys.set(id, randomBytes(32));
    return id;
  };
  const kms: KmsServer = {
    endpoint: `unix://${socket}`,
    calls: { Status: 0, Encrypt: 0, Decrypt: 0 },
    status: { version: 'v2', healthz: 'ok', keyId: [...keys.keys()].at(-1) ?? newKey() },
    fault: 'none',
    rotate() {
      kms.status = { ...kms.status, keyId: newKey() };
    },
    async [Symbol.asyncDispose]() {
      server.forceShutdown();
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
  const method = <Q, R>(name: keyof KmsServer['calls'], request: Decoder<Q>, response: Encoder<R>, answer: (request: Q) => R): void => {
    const handle: handleUnaryCall<Q, R> = ({ request: asked }, callback) => {
      kms.calls[name] += 1;
      if (kms.fault === 'hangs') return;
      if (kms.fault === 'refuses') return callback({ code: status.UNAVAILABLE, details: 'the key service rests' } as ServiceError);
      try {
        callback(null, answer(asked));
      } catch (error) {
        callback({ code: status.INVALID_ARGUMENT, details: (error as Error).message } as ServiceError);
      }
    };
    const definition = {
      path: `/v2.KeyManagementService/${name}`,
      requestStream: false,
      responseStream: false,
      requestDeserialize: (message: Buffer) => request.decode(message),
      responseSerialize: (values: R) => response.encode(values),
      // Required by the type, used only by clients.
      requestSerialize: () => Buffer.alloc(0),
      responseDeserialize: () => undefined,
    } as const;
    server.addService({ [name]: definition }, { [name]: handle });
  };
  method('Status', statusRequest, statusResponse, () => kms.status);
  method('Encrypt', encryptRequest, encryptResponse, ({ plaintext }) => {
    const { keyId } = kms.status;
    const nonce = randomBytes(12);
    const cipher = createCipheriv('aes-256-gcm', keys.get(keyId) as Buffer, nonce);
    const ciphertext = Buffer.concat([nonce, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
    return { ciphertext, keyId, annotations: [{ name: 'origin.kms.example.com', value: Buffer.from('test') }] };
  });
  method('Decrypt', decryptRequest, decryptResponse, ({ ciphertext, keyId, annotations }) => {
    const key = keys.get(keyId);
    if (!key || annotations[0]?.value.toString() !== 'test') throw new Error(`unknown key ${keyId}`);
    const decipher = createDecipheriv('aes-256-gcm', key, ciphertext.subarray(0, 12)).setAuthTag(ciphertext.subarray(-16));
    return { plaintext: Buffer.concat([decipher.update(ciphertext.subarray(12, -16)), decipher.final()]) };
  });
  await new Promise<void>((resolve, reject) =>
    server.bindAsync(`unix:${socket}`, ServerCredentials.createInsecure(), (error) => (error ? reject(error) : resolve())),
  );
  return kms;
}
