import { once } from 'node:events';
import net, { type AddressInfo } from 'node:net';
import tls, { type ConnectionOptions } from 'node:tls';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Certificate } from '#apimachinery/x509/certificate';
import { parseCertificateBundle } from '#apimachinery/x509/certificate-pool';
import { Authority, type KeyPair } from '#cmd/certificates/issue';
import { clientCertificateOptions, readClientCertificates } from './client-certificate.ts';

const authority = await Authority.create('clients');
const otherAuthority = await Authority.create('servers');
let serving: KeyPair;
let client: KeyPair;
let server: tls.Server;
/** Certificates that the server read, and whether sessions were resumed. */
const seen: { readonly names: string[]; readonly isTrusted: boolean; readonly isResumed: boolean }[] = [];

beforeAll(async () => {
  [serving, client] = await Promise.all([
    otherAuthority.issue({ commonName: 'server', usages: ['server'] }),
    authority.issue({ commonName: 'jane', usages: ['client'] }),
  ]);
  const options = { cert: serving.cert, key: serving.key, ...clientCertificateOptions(authority.pair.cert) };
  server = tls.createServer({ ...options, requestCert: true, rejectUnauthorized: false }, (socket) => {
    const names = readClientCertificates(socket).map(({ subject }: Certificate) => subject.commonName);
    seen.push({ names, isTrusted: socket.authorized, isResumed: socket.isSessionReused() });
    socket.end('done');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(() => void server.close());

/** Connects to the server and resolves to the offered session. */
async function connect(port: number, options: ConnectionOptions = {}): Promise<Buffer | undefined> {
  const socket = tls.connect({ port, host: '127.0.0.1', rejectUnauthorized: false, cert: client.cert, key: client.key, ...options });
  let session: Buffer | undefined;
  socket.on('session', (offered) => (session = offered));
  socket.resume();
  await once(socket, 'close');
  return session;
}
const port = (): number => (server.address() as AddressInfo).port;

it('reads all certificates of a client, its own first', async () => {
  await connect(port());
  expect(seen.at(-1)).toEqual({ names: ['jane', 'clients'], isTrusted: false, isResumed: false });
});

it('reads no certificates of a client that sends none', async () => {
  await connect(port(), { cert: undefined, key: undefined });
  expect(seen.at(-1)?.names).toEqual([]);
});

it.each(['TLSv1.2', 'TLSv1.3'] as const)('does not resume sessions of %s, which contain only the first certificate', async (version) => {
  const session = await connect(port(), { maxVersion: version });
  await connect(port(), { maxVersion: version, ...(session && { session }) });
  expect(seen.at(-1)).toMatchObject({ names: ['jane', 'clients'], isResumed: false });
});

it('sends the names of the authorities to clients', async () => {
  const sent: Buffer[] = [];
  const proxy = net.createServer((socket) => {
    const upstream = net.connect(port(), '127.0.0.1');
    upstream.on('data', (bytes: Buffer) => sent.push(bytes));
    socket.pipe(upstream).pipe(socket);
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  // TLS 1.2 sends the certificate request unencrypted.
  await connect((proxy.address() as AddressInfo).port, { maxVersion: 'TLSv1.2' });
  proxy.close();
  const [certificate] = parseCertificateBundle(authority.pair.cert);
  expect(Buffer.concat(sent).includes(certificate!.subject.der)).toBe(true);
});
