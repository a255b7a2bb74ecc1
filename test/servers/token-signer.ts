/** Starts a service for one test that signs service account tokens (externaljwt v1), on a Unix socket. */
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { type handleUnaryCall, Server, ServerCredentials } from '@grpc/grpc-js';
import {
  fetchKeysRequest,
  fetchKeysResponse,
  metadataRequest,
  metadataResponse,
  signRequest,
  signResponse,
} from '#kubernetes/serviceaccount/external-signer-messages';

interface Coder<T> {
  encode(values: T): Buffer;
  decode(message: Buffer): T;
}

export interface TokenSigner extends AsyncDisposable {
  /** Number of key requests. */
  fetches: number;
  /** Header members added to or replacing the correct ones. */
  header: Record<string, unknown>;
  maxTokenExpirationSeconds: number;
  /** Signs with a new key from now on; with `retires` the previous key is only used for verification. */
  rotate(retires?: boolean): void;
}

export async function startTokenSigner(socket: string): Promise<TokenSigner> {
  const server = new Server();
  const keys: { readonly keyId: string; readonly key: Buffer; excludeFromOidcDiscovery: boolean }[] = [];
  let privateKey: KeyObject;
  const signer: TokenSigner = {
    fetches: 0,
    header: {},
    maxTokenExpirationSeconds: 7_200,
    rotate(retires = false) {
      const last = keys.at(-1);
      if (last && retires) last.excludeFromOidcDiscovery = true;
      const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      privateKey = pair.privateKey;
      const key = pair.publicKey.export({ type: 'spki', format: 'der' });
      keys.push({ keyId: `key-${keys.length + 1}`, key, excludeFromOidcDiscovery: false });
    },
    async [Symbol.asyncDispose]() {
      server.forceShutdown();
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
  signer.rotate();
  const method = <Q, R>(name: string, request: Coder<Q>, response: Coder<R>, answer: (request: Q) => R) => ({
    path: `/v1.ExternalJWTSigner/${name}`,
    requestStream: false,
    responseStream: false,
    requestDeserialize: (message: Buffer) => request.decode(message),
    requestSerialize: (values: Q) => request.encode(values),
    responseDeserialize: (message: Buffer) => response.decode(message),
    responseSerialize: (values: R) => response.encode(values),
    answer,
  });
  const methods = {
    Sign: method('Sign', signRequest, signResponse, ({ claims }) => {
      const fields = { alg: 'ES256', kid: keys.at(-1)?.keyId, typ: 'JWT', ...signer.header };
      const header = Buffer.from(JSON.stringify(fields)).toString('base64url');
      const signature = sign('sha256', Buffer.from(`${header}.${claims}`), { key: privateKey, dsaEncoding: 'ieee-p1363' });
      return { header, signature: signature.toString('base64url') };
    }),
    FetchKeys: method('FetchKeys', fetchKeysRequest, fetchKeysResponse, () => {
      signer.fetches += 1;
      return { keys, dataTimestamp: { seconds: 1, nanos: 0 }, refreshHintSeconds: 60 };
    }),
    Metadata: method('Metadata', metadataRequest, metadataResponse, () => ({
      maxTokenExpirationSeconds: signer.maxTokenExpirationSeconds,
    })),
  };
  const handlers = Object.fromEntries(
    Object.entries(methods).map(([name, { answer }]) => {
      // biome-ignore lint/suspicious/noExplicitAny: as @grpc/grpc-js has it
      const handle: handleUnaryCall<any, any> = ({ request }, callback) =>
        callback(null, (answer as (request: unknown) => unknown)(request));
      return [name, handle];
    }),
  );
  server.addService(methods, handlers);
  await new Promise<void>((resolve, reject) =>
    server.bindAsync(`unix:${socket}`, ServerCredentials.createInsecure(), (error) => (error ? reject(error) : resolve())),
  );
  return signer;
}
