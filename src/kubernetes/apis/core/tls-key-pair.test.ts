import { generateKeyPairSync } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { Authority, type KeyPair } from '#cmd/certificates/issue';
import { keyPairProblem } from './tls-key-pair.ts';

describe('keyPairProblem', () => {
  let a: KeyPair;
  let b: KeyPair;
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const ed25519 = base64(generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }) as string);
  beforeAll(async () => {
    const pairs = [(await Authority.create('a')).pair, (await Authority.create('b')).pair];
    [a, b] = pairs.map(({ cert, key }) => ({ cert: base64(cert), key: base64(key) })) as [KeyPair, KeyPair];
  });
  const garbage = (type: string): string => base64(`-----BEGIN ${type}-----\nQQ==\n-----END ${type}-----\n`);

  it('rejects a key that does not match the certificate', () => {
    expect(keyPairProblem(a.cert, a.key)).toBeUndefined();
  });

  it('names the missing or malformed part', () => {
    const cases: [string, string, string][] = [
      ['', '', 'tls: failed to find any PEM data in certificate input'],
      [
        a.key,
        a.key,
        'tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may have been switched',
      ],
      [
        garbage('X'),
        '',
        'tls: failed to find "CERTIFICATE" PEM block in certificate input after skipping PEM blocks of the following types: [X]',
      ],
      [a.cert, '', 'tls: failed to find any PEM data in key input'],
      [a.cert, a.cert, 'tls: found a certificate rather than a key in the PEM for the private key'],
      [
        a.cert,
        garbage('X'),
        'tls: failed to find PEM block with type ending in "PRIVATE KEY" in key input after skipping PEM blocks of the following types: [X]',
      ],
      [garbage('CERTIFICATE'), a.key, 'x509: malformed certificate'],
      [a.cert, garbage('PRIVATE KEY'), 'tls: failed to parse private key'],
      [a.cert, ed25519, 'tls: private key type does not match public key type'],
      [a.cert, b.key, 'tls: private key does not match public key'],
    ];
    for (const [certificate, key, problem] of cases) expect(keyPairProblem(certificate, key)).toBe(problem);
  });
});
