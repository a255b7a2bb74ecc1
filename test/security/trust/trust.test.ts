/** Compares the trust in servers with Go's HTTP client: live if Go is installed, and recorded in the table. */
import 'reflect-metadata';
import { spawn } from 'node:child_process';
import { webcrypto } from 'node:crypto';
import { once } from 'node:events';
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { text } from 'node:stream/consumers';
import * as x509 from '@peculiar/x509';
import { afterAll, expect, it } from 'vitest';
import { pemOf } from '#apimachinery/x509/pem';
import { dialErrorText } from '#apiserver/endpoints/handlers/dial-error';
import { trustOptions } from '#apiserver/network/trust';
import { buildGoProgram, goObstacle } from '../../servers/go-programs.ts';

x509.cryptoProvider.set(webcrypto as never);

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
const dayMs = 86_400_000;
const goFolder = join(import.meta.dirname, 'go');
const { clientAuth, serverAuth } = x509.ExtendedKeyUsage;

interface Issued {
  readonly pem: string;
  readonly key: string;
  readonly certificate: x509.X509Certificate;
  readonly keys: webcrypto.CryptoKeyPair;
}

interface Wish {
  readonly name: string;
  readonly by?: Issued;
  readonly extensions?: readonly x509.Extension[];
  /** End of the validity in days from now. */
  readonly to?: number;
}

const san = (...names: x509.JsonGeneralName[]): x509.Extension => new x509.SubjectAlternativeNameExtension(names);
const local = san({ type: 'dns', value: 'server.test' }, { type: 'ip', value: '127.0.0.1' });
const ca = (length?: number): x509.Extension => new x509.BasicConstraintsExtension(true, length, true);
const usage = (...ids: string[]): x509.Extension => new x509.ExtendedKeyUsageExtension(ids);
let serial = 100;

async function issue({ name, by, extensions = [local], to = 10 }: Wish): Promise<Issued> {
  const keys = (await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])) as webcrypto.CryptoKeyPair;
  const certificate = await x509.X509CertificateGenerator.create({
    ...{ serialNumber: String(++serial), subject: `CN=${name}`, issuer: by?.certificate.subjectName ?? `CN=${name}` },
    ...{ notBefore: new Date(Date.now() - 20 * dayMs), notAfter: new Date(Date.now() + to * dayMs) },
    ...{ publicKey: keys.publicKey, signingKey: (by?.keys ?? keys).privateKey, signingAlgorithm: algorithm, extensions: [...extensions] },
  });
  const key = pemOf('PRIVATE KEY', Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey)));
  return { pem: `${certificate.toString('pem')}\n`, key, certificate, keys };
}

const root = await issue({ name: 'root', extensions: [ca()] });
const other = await issue({ name: 'other', extensions: [ca()] });
const intermediate = await issue({ name: 'intermediate', by: root, extensions: [ca()] });
const oldRoot = await issue({ name: 'old', extensions: [ca()], to: -1 });
const short = await issue({ name: 'short', extensions: [ca(0)] });
const belowShort = await issue({ name: 'below short', by: short, extensions: [ca()] });
const clientRoot = await issue({ name: 'clients', extensions: [ca(), usage(clientAuth)] });
const leaf = await issue({ name: 'leaf', by: root });
const belowIntermediate = await issue({ name: 'leaf', by: intermediate });
const selfSigned = await issue({ name: 'self' });
const stranger = await issue({ name: 'stranger', by: other });

interface Row {
  readonly name: string;
  /** The server's certificate first. */
  readonly shown: readonly Issued[];
  readonly bundle: readonly Issued[];
  /** Server name. Default: its address. */
  readonly called?: string;
  /** Reason of the rejection without time-dependent parts; undefined for a trusted server. */
  readonly refused?: string;
  /** Set if OpenSSL reports another reason first. */
  readonly refusedByOpenSsl?: string;
}

const untrusted = 'tls: failed to verify certificate: ';
const unknown = `${untrusted}x509: certificate signed by unknown authority`;
const wrongUsage = `${untrusted}x509: certificate specifies an incompatible key usage`;
const expired = `${untrusted}x509: certificate has expired or is not yet valid`;
const sign = async (name: string, extensions: readonly x509.Extension[], by: Issued = root, to?: number): Promise<Issued> =>
  issue({ name, by, extensions, ...(to !== undefined && { to }) });

const rows: readonly Row[] = [
  { name: 'the root', shown: [leaf], bundle: [root] },
  { name: 'another root', shown: [leaf], bundle: [other], refused: unknown },
  { name: 'nothing', shown: [leaf], bundle: [], refused: unknown },
  { name: 'the root, with an intermediate', shown: [belowIntermediate, intermediate], bundle: [root] },
  { name: 'the root, with an intermediate that is not sent', shown: [belowIntermediate], bundle: [root], refused: unknown },
  { name: 'the intermediate', shown: [belowIntermediate], bundle: [intermediate] },
  { name: 'the intermediate, which is sent', shown: [belowIntermediate, intermediate], bundle: [intermediate] },
  { name: 'both', shown: [belowIntermediate], bundle: [root, intermediate] },
  { name: 'the leaf', shown: [leaf], bundle: [leaf] },
  { name: 'the leaf, among others', shown: [leaf], bundle: [other, leaf] },
  { name: 'the leaf, accessed by its name', shown: [leaf], bundle: [leaf], called: 'server.test' },
  { name: 'the leaf of an unknown CA', shown: [stranger], bundle: [stranger] },
  { name: 'a self-signed leaf', shown: [selfSigned], bundle: [selfSigned] },
  { name: 'another leaf', shown: [leaf], bundle: [selfSigned], refused: unknown },
  {
    name: 'a leaf as an authority',
    shown: [await sign('x', [local], leaf), leaf],
    bundle: [leaf],
    refused: unknown,
    refusedByOpenSsl: wrongUsage,
  },
  {
    name: 'the leaf, accessed by another name',
    shown: [leaf],
    bundle: [leaf],
    called: 'other.test',
    refused: `${untrusted}x509: certificate is valid for server.test, not other.test`,
  },
  {
    name: 'the expired leaf',
    ...(await (async () => {
      const old = await sign('o', [local], root, -1);
      return { shown: [old], bundle: [old] };
    })()),
    refused: expired,
  },
  { name: 'the root, an expired leaf', shown: [await sign('o', [local], root, -1)], bundle: [root], refused: expired },
  { name: 'an expired root', shown: [await sign('o', [local], oldRoot)], bundle: [oldRoot], refused: expired },
  { name: 'the root, accessed by a name', shown: [leaf], bundle: [root], called: 'server.test' },
  {
    name: 'the root, accessed by another name',
    shown: [leaf],
    bundle: [root],
    called: 'other.test',
    refused: `${untrusted}x509: certificate is valid for server.test, not other.test`,
  },
  {
    name: 'the root, a common name alone',
    shown: [await sign('server.test', [])],
    bundle: [root],
    called: 'server.test',
    refused: `${untrusted}x509: certificate relies on legacy Common Name field, use SANs instead`,
  },
  {
    name: 'the root, a common name beside another name',
    shown: [await sign('server.test', [san({ type: 'dns', value: 'a.test' })])],
    bundle: [root],
    called: 'server.test',
    refused: `${untrusted}x509: certificate is valid for a.test, not server.test`,
  },
  {
    name: 'the root, no name',
    shown: [await sign('x', [])],
    bundle: [root],
    called: 'server.test',
    refused: `${untrusted}x509: certificate is not valid for any names, but wanted to match server.test`,
  },
  {
    name: 'the root, no address',
    shown: [await sign('x', [san({ type: 'dns', value: 'server.test' })])],
    bundle: [root],
    refused: `${untrusted}x509: cannot validate certificate for 127.0.0.1 because it doesn't contain any IP SANs`,
  },
  {
    name: 'the root, another address',
    shown: [await sign('x', [san({ type: 'ip', value: '127.0.0.2' })])],
    bundle: [root],
    refused: `${untrusted}x509: certificate is valid for 127.0.0.2, not 127.0.0.1`,
  },
  {
    name: 'the root, an address as a name',
    shown: [await sign('x', [san({ type: 'dns', value: '127.0.0.1' })])],
    bundle: [root],
    refused: `${untrusted}x509: cannot validate certificate for 127.0.0.1 because it doesn't contain any IP SANs`,
  },
  {
    name: 'the root, a wildcard',
    shown: [await sign('x', [san({ type: 'dns', value: '*.test' })])],
    bundle: [root],
    called: 'server.test',
  },
  {
    name: 'the root, a wildcard of two labels',
    shown: [await sign('x', [san({ type: 'dns', value: '*.test' })])],
    bundle: [root],
    called: 'a.server.test',
    refused: `${untrusted}x509: certificate is valid for *.test, not a.server.test`,
  },
  {
    name: 'the root, a wildcard in a label',
    shown: [await sign('x', [san({ type: 'dns', value: 'ser*.test' })])],
    bundle: [root],
    called: 'server.test',
    refused: `${untrusted}x509: certificate is valid for ser*.test, not server.test`,
  },
  {
    name: 'the root, a name in upper case',
    shown: [await sign('x', [san({ type: 'dns', value: 'SERVER.test' })])],
    bundle: [root],
    called: 'server.TEST',
  },
  { name: 'the root, a server certificate', shown: [await sign('x', [local, usage(serverAuth)])], bundle: [root] },
  { name: 'the root, a client certificate', shown: [await sign('x', [local, usage(clientAuth)])], bundle: [root], refused: wrongUsage },
  { name: 'a root restricted to clients', shown: [await sign('x', [local], clientRoot)], bundle: [clientRoot], refused: wrongUsage },
  {
    name: 'a root of path length 0, with an intermediate',
    shown: [await sign('x', [local], belowShort), belowShort],
    bundle: [short],
    refused: `${untrusted}x509: too many intermediates for path length constraint`,
  },
  {
    name: 'a leaf that is a CA',
    ...(await (async () => {
      const own = await issue({ name: 'own', extensions: [local, ca()] });
      return { shown: [own], bundle: [own] };
    })()),
  },
  {
    name: 'the root, an unknown critical extension',
    shown: [await sign('x', [local, new x509.Extension('1.2.3.4', true, Buffer.from([5, 0]))])],
    bundle: [root],
    refused: `${untrusted}x509: unhandled critical extension`,
  },
];

const folder = mkdtempSync(join(tmpdir(), 'trust-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function serving<T>({ shown }: Row, use: (port: number) => Promise<T>): Promise<T> {
  const server = https.createServer(
    { cert: shown.map(({ pem }) => pem).join(''), key: shown[0]?.key },
    (_, response) => void response.end(),
  );
  server.on('tlsClientError', () => {});
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    return await use((server.address() as AddressInfo).port);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const bundleOf = ({ bundle }: Row): string => bundle.map(({ pem }) => pem).join('');
/** Removes time-dependent parts and hints. */
const cut = (said: string): string => said.replace(/: current time .*| \(possibly because of .*/s, '');

it.each(rows)('trusts $name: $refused', async (row) => {
  const said = await serving(
    row,
    (port) =>
      new Promise<string>((resolve) => {
        const { called } = row;
        const place = { host: '127.0.0.1', port, agent: false, ...(called !== undefined && { servername: called }) };
        const request = https.get({ ...place, ...trustOptions({ ca: bundleOf(row) }) }, (response) => {
          response.resume();
          resolve('');
        });
        request.on('error', (error) => resolve(dialErrorText(error)));
      }),
  );
  expect(cut(said)).toBe(row.refusedByOpenSsl ?? row.refused ?? '');
});

it.runIf(goObstacle(goFolder) === undefined)(
  'agrees with Go on each server',
  async () => {
    const program = join(folder, 'trust');
    await buildGoProgram(goFolder, '.', program);
    const child = spawn(program, { stdio: ['pipe', 'pipe', 'inherit'] });
    const said = text(child.stdout);
    const servers = rows.map((row) => {
      const asked = Promise.withResolvers<void>();
      const served = serving(row, async (port) => {
        child.stdin.write(`${JSON.stringify({ url: `https://127.0.0.1:${port}`, bundle: bundleOf(row), serverName: row.called ?? '' })}\n`);
        await asked.promise;
      });
      return { asked, served };
    });
    await new Promise((resolve) => setTimeout(resolve, 500));
    child.stdin.end();
    const lines = (await said).trim().split('\n');
    for (const { asked } of servers) asked.resolve();
    await Promise.all(servers.map(({ served }) => served));
    expect(lines.map((line) => cut(JSON.parse(line) as string)).toSorted()).toEqual(rows.map(({ refused }) => refused ?? '').toSorted());
  },
  120_000,
);

it('is implemented in one place', () => {
  const top = join(import.meta.dirname, '../../..');
  const files = globSync(['src/**/*.ts', 'plugins/**/*.ts'], {
    cwd: top,
    exclude: (name) => name.includes('node_modules') || name.endsWith('.test.ts'),
  });
  const deciding = files.filter((file) =>
    /rejectUnauthorized|allowPartialTrustChain|credentials\.createSsl/.test(readFileSync(join(top, file), 'utf8')),
  );
  // The server's own port requests certificates, which authenticators verify; simulated kubelets answer 401 to those that the TLS library
  // has not verified.
  expect(deciding.map((file) => relative(top, join(top, file))).toSorted()).toEqual([
    'plugins/nodes/kubelet/kubelet-server.ts',
    'src/apiserver/network/trust.ts',
    'src/apiserver/serving/secure-server.ts',
  ]);
});
