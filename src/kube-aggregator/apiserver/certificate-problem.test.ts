import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import * as x509 from '@peculiar/x509';
import { beforeAll, expect, it } from 'vitest';
import { type Certificate, parseCertificate } from '#apimachinery/x509/certificate';
import { pemOf } from '#apimachinery/x509/pem';
import { certificateProblem } from './certificate-problem.ts';

x509.cryptoProvider.set(webcrypto);

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
const now = new Date('2030-06-01T00:00:00Z');
const dates = { notBefore: new Date('2030-01-01T00:00:00Z'), notAfter: new Date('2031-01-01T00:00:00Z') };

interface Issued {
  readonly certificate: Certificate;
  readonly name: string;
  readonly keys: webcrypto.CryptoKeyPair;
}

interface Wish {
  readonly name: string;
  readonly by?: Issued;
  readonly names?: readonly x509.JsonGeneralName[];
  readonly notAfter?: Date;
  readonly isAuthority?: boolean;
}

async function issue({ name, by, names = [], notAfter = dates.notAfter, isAuthority = false }: Wish): Promise<Issued> {
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const certificate = await x509.X509CertificateGenerator.create({
    ...{ serialNumber: '42', subject: `CN=${name}`, issuer: `CN=${by?.name ?? name}`, ...dates, notAfter },
    ...{ publicKey: keys.publicKey, signingKey: (by?.keys ?? keys).privateKey, signingAlgorithm: algorithm },
    extensions: [
      new x509.BasicConstraintsExtension(isAuthority, undefined, true),
      ...(names.length > 0 ? [new x509.SubjectAlternativeNameExtension([...names])] : []),
    ],
  });
  return { certificate: parseCertificate(Buffer.from(certificate.rawData)), name, keys };
}

const dns = (value: string): x509.JsonGeneralName => ({ type: 'dns', value });
const good = 'ext.default.svc';
let authority: Issued;
let impostor: Issued;
let between: Issued;
beforeAll(async () => {
  authority = await issue({ name: 'ca', isAuthority: true });
  impostor = await issue({ name: 'ca', isAuthority: true });
  between = await issue({ name: 'between', by: authority, isAuthority: true });
});

const unknown = 'x509: certificate signed by unknown authority';
const expired = 'x509: certificate has expired or is not yet valid: current time 2030-06-01T00:00:00Z is';

it.each<{ name: string; leaf: () => Promise<Issued>; calls?: string; at?: Date; with?: () => Issued[]; want: string | undefined }>([
  { name: 'a valid certificate', leaf: () => issue({ name: 'a', by: authority, names: [dns(good)] }), want: undefined },
  {
    name: 'signed by an intermediate',
    leaf: () => issue({ name: 'a', by: between, names: [dns(good)] }),
    with: () => [between],
    want: undefined,
  },
  { name: 'intermediate not sent', leaf: () => issue({ name: 'a', by: between, names: [dns(good)] }), want: unknown },
  { name: 'self-signed', leaf: () => issue({ name: 'a', names: [dns(good)] }), want: unknown },
  {
    name: 'signed by another CA of the same name',
    leaf: () => issue({ name: 'a', by: impostor, names: [dns(good)] }),
    want: `${unknown} (possibly because of "x509: ECDSA verification failure" while trying to verify candidate authority certificate "ca")`,
  },
  {
    name: 'expired, and other errors',
    leaf: () => issue({ name: 'a', by: impostor, notAfter: new Date('2030-05-01T00:00:00Z') }),
    want: `${expired} after 2030-05-01T00:00:00Z`,
  },
  {
    name: 'not yet valid',
    leaf: () => issue({ name: 'a', by: authority, names: [dns(good)] }),
    at: new Date('2029-01-01T00:00:00.5Z'),
    want: 'x509: certificate has expired or is not yet valid: current time 2029-01-01T00:00:00Z is before 2030-01-01T00:00:00Z',
  },
  {
    name: 'other DNS names and an unknown CA',
    leaf: () => issue({ name: 'a', names: [dns('a.dev'), dns('*.b.dev'), { type: 'ip', value: '10.0.0.1' }] }),
    want: `x509: certificate is valid for a.dev, *.b.dev, not ${good}`,
  },
  {
    name: 'name only in the common name',
    leaf: () => issue({ name: good, by: authority }),
    want: 'x509: certificate relies on legacy Common Name field, use SANs instead',
  },
  {
    name: 'without DNS names',
    leaf: () => issue({ name: 'a', by: authority }),
    want: `x509: certificate is not valid for any names, but wanted to match ${good}`,
  },
  {
    name: 'without IP addresses',
    leaf: () => issue({ name: 'a', by: authority, names: [dns(good)] }),
    calls: '10.0.0.2',
    want: "x509: cannot validate certificate for 10.0.0.2 because it doesn't contain any IP SANs",
  },
  {
    name: 'another IP address',
    leaf: () => issue({ name: 'a', by: authority, names: [{ type: 'ip', value: '10.0.0.1' }] }),
    calls: '10.0.0.2',
    want: 'x509: certificate is valid for 10.0.0.1, not 10.0.0.2',
  },
])('$name: $want', async ({ leaf, calls = good, at = now, with: more = () => [], want }) => {
  const chain = [await leaf(), ...more()].map(({ certificate }) => certificate);
  expect(certificateProblem({ chain, name: calls, authorities: pemOf('CERTIFICATE', authority.certificate.der), now: at })).toBe(want);
});
