/** Generated chains of client certificates, valid ones and those that must be rejected. */
import 'reflect-metadata';
import { Buffer } from 'node:buffer';
import { KeyObject, sign, webcrypto } from 'node:crypto';
import * as x509 from '@peculiar/x509';
import { contextTag, DerReader, tags } from '#apimachinery/x509/der-reader';
import * as der from '#apimachinery/x509/der-writer';
import { pemOf } from '#apimachinery/x509/pem';

x509.cryptoProvider.set(webcrypto as never);

/** The credentials of a client. */
export interface Chain {
  readonly name: string;
  /** PEM, the client's own certificate first. */
  readonly certificates: string;
  /** Private key as PEM. */
  readonly key: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Chains {
  /** PEM of the client trust anchors. */
  readonly clientCa: string;
  /** PEM of the front proxy trust anchors; only `front-proxy` is an allowed name. */
  readonly requestHeaderCa: string;
  readonly chains: readonly Chain[];
}

type Keys = webcrypto.CryptoKeyPair;
type Algorithm = EcKeyGenParams | RsaHashedKeyGenParams | { readonly name: 'Ed25519' };
type EcKeyGenParams = { readonly name: 'ECDSA'; readonly namedCurve: string };
type RsaHashedKeyGenParams = {
  readonly name: 'RSASSA-PKCS1-v1_5' | 'RSA-PSS';
  readonly hash: string;
  readonly publicExponent: Uint8Array;
  readonly modulusLength: number;
};

/** A certificate with its keys. */
interface Issued {
  readonly certificate: x509.X509Certificate;
  readonly keys: Keys;
}

interface Template {
  readonly subject: x509.JsonName | x509.Name;
  /** Issuer; undefined: self-signed. */
  readonly issuer?: Issued | undefined;
  readonly keys?: Keys;
  readonly extensions?: readonly x509.Extension[];
  /** Start of the validity in days from now. */
  readonly from?: number;
  readonly to?: number;
  readonly hash?: string;
  readonly issuerName?: x509.JsonName;
}

const dayMs = 86_400_000;
const { clientAuth, serverAuth } = x509.ExtendedKeyUsage;
const anyUsage = '2.5.29.37.0';
const p256: Algorithm = { name: 'ECDSA', namedCurve: 'P-256' };
const rsa = (modulusLength: number, hash = 'SHA-256', name: 'RSASSA-PKCS1-v1_5' | 'RSA-PSS' = 'RSASSA-PKCS1-v1_5'): Algorithm => ({
  ...{ name, hash, modulusLength },
  publicExponent: Uint8Array.of(1, 0, 1),
});

async function newKeys(algorithm: Algorithm = p256): Promise<Keys> {
  return (await webcrypto.subtle.generateKey(algorithm as never, true, ['sign', 'verify'])) as Keys;
}

async function issue({ subject, issuer, keys, extensions = [], from = -1, to = 30, hash, issuerName }: Template): Promise<Issued> {
  const own = keys ?? (await newKeys());
  const signer = issuer?.keys ?? own;
  const name = signer.privateKey.algorithm.name;
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: nextSerial(),
    subject,
    issuer: issuerName ?? issuer?.certificate.subjectName ?? subject,
    notBefore: new Date(Date.now() + from * dayMs),
    notAfter: new Date(Date.now() + to * dayMs),
    signingAlgorithm: (name === 'ECDSA' ? { name, hash: hash ?? 'SHA-256' } : { ...signer.privateKey.algorithm, saltLength: 32 }) as never,
    publicKey: own.publicKey,
    signingKey: signer.privateKey,
    extensions: [...extensions],
  });
  return { certificate, keys: own };
}

let serials = 1000;
const nextSerial = (): string => (++serials).toString(16).padStart(4, '0');

const cn = (...names: string[]): x509.JsonName => names.map((name) => ({ CN: [name] }));
const o = (...names: string[]): x509.JsonName => names.map((name) => ({ O: [name] }));
const usage = (...ids: string[]): x509.Extension => new x509.ExtendedKeyUsageExtension(ids as never);
const caOf = (maxPathLength?: number): x509.Extension => new x509.BasicConstraintsExtension(true, maxPathLength, true);
const notCa = new x509.BasicConstraintsExtension(false, undefined, true);
const certSign = new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true);
const keyUsage = (flags: number): x509.Extension => new x509.KeyUsagesExtension(flags, true);
const san = (names: readonly x509.JsonGeneralName[]): x509.Extension => new x509.SubjectAlternativeNameExtension([...names]);
const raw = (id: string, critical: boolean, value: Buffer): x509.Extension => new x509.Extension(id, critical, value);
const unknownCritical = raw('1.3.6.1.4.1.99999.1', true, der.utf8String('?'));

/** Encodes a permitted or excluded name subtree. */
const subtree = (tag: number, value: Uint8Array | string): Buffer => der.sequence(der.element(tag, Buffer.from(value)));
const constraints = (permitted: readonly Buffer[], excluded: readonly Buffer[] = [], critical = true): x509.Extension =>
  raw(
    '2.5.29.30',
    critical,
    der.sequence(
      ...(permitted.length > 0 ? [der.element(contextTag(0, 'constructed'), ...permitted)] : []),
      ...(excluded.length > 0 ? [der.element(contextTag(1, 'constructed'), ...excluded)] : []),
    ),
  );
const dns = (name: string): Buffer => subtree(contextTag(2), name);
const email = (name: string): Buffer => subtree(contextTag(1), name);
const uri = (name: string): Buffer => subtree(contextTag(6), name);
const range = (...bytes: number[]): Buffer => subtree(contextTag(7), Buffer.from(bytes));
const directory = (name: x509.JsonName): Buffer => subtree(contextTag(4, 'constructed'), Buffer.from(new x509.Name(name).toArrayBuffer()));
const policies = (...ids: string[]): x509.Extension =>
  raw('2.5.29.32', false, der.sequence(...ids.map((id) => der.sequence(der.objectIdentifier(id)))));
const requireExplicitPolicy = (skip: number): x509.Extension =>
  raw('2.5.29.36', true, der.sequence(der.element(contextTag(0), Buffer.of(skip))));

async function keyPem(keys: Keys): Promise<string> {
  return pemOf('PRIVATE KEY', Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey)));
}

/** Signs content that a generator would not produce: `change` maps the fields of the body to other ones. */
function rewritten({ certificate }: Issued, issuer: Issued, change: (fields: Buffer[]) => Buffer[]): string {
  const [body, algorithm] = elementsOf(Buffer.from(certificate.rawData));
  const changed = der.sequence(...change(elementsOf(body as Buffer)));
  const key = KeyObject.from(issuer.keys.privateKey);
  return pemOf('CERTIFICATE', der.sequence(changed, algorithm as Buffer, der.bitString(sign('sha256', changed, key))));
}

const attribute = (type: string, value: string | Buffer, tag: number = tags.utf8String): Buffer =>
  der.sequence(der.objectIdentifier(type), der.element(tag, Buffer.from(value as string)));
const cnText = (value: string | Buffer, tag?: number): Buffer => der.set(attribute('2.5.4.3', value, tag));
const oText = (value: string | Buffer): Buffer => der.set(attribute('2.5.4.10', value));

const elementsOf = (encoded: Buffer): Buffer[] => {
  const outer = new DerReader(encoded).element('no element');
  return new DerReader(outer.content).rest('no elements').map(({ whole }) => whole);
};

/** Generates all chains, depending only on the current time. */
export async function makeChains(): Promise<Chains> {
  const anchors: Issued[] = [];
  const chains: Chain[] = [];
  let count = 0;
  const anchor = async (template: Partial<Template> = {}): Promise<Issued> => {
    const issued = await issue({ subject: cn(`anchor ${++count}`), extensions: [caOf(), certSign], ...template });
    anchors.push(issued);
    return issued;
  };
  const root = await anchor();
  const rsaRoot = await anchor({ keys: await newKeys(rsa(2048)) });
  const intermediateOf = (issuer: Issued, template: Partial<Template> = {}): Promise<Issued> =>
    issue({ subject: cn(`intermediate ${++count}`), issuer, extensions: [caOf(), certSign], ...template });
  const leafOf = (issuer: Issued | undefined, template: Partial<Template> = {}): Promise<Issued> =>
    issue({ subject: [...o('devs'), ...cn('jane')], issuer, extensions: [usage(clientAuth)], ...template });
  const send = async (name: string, chain: readonly (Issued | string)[], keys: Keys, headers?: Chain['headers']): Promise<void> => {
    const certificates = chain.map((one) => (typeof one === 'string' ? one : one.certificate.toString('pem'))).join('\n');
    chains.push({ name, certificates, key: await keyPem(keys), ...(headers && { headers }) });
  };
  /** Issues a leaf and adds the certificates sent with it. */
  const leaf = async (name: string, template: Partial<Template> = {}, issuer = root, above: readonly Issued[] = []): Promise<void> => {
    const issued = await leafOf(issuer, template);
    await send(name, [issued, ...above], issued.keys);
  };
  const below = async (name: string, template: Partial<Template>, leafTemplate: Partial<Template> = {}): Promise<void> => {
    const intermediate = await intermediateOf(root, template);
    await leaf(name, leafTemplate, intermediate, [intermediate]);
  };

  await leaf('for clients');
  await leaf('without a usage', { extensions: [] });
  await leaf('for any usage', { extensions: [usage(anyUsage)] });
  await leaf('for servers', { extensions: [usage(serverAuth)] });
  await leaf('for servers and clients', { extensions: [usage(serverAuth, clientAuth)] });
  await leaf('for an unknown usage', { extensions: [usage('1.3.6.1.4.1.99999.2')] });
  await leaf('for an unknown usage and clients', { extensions: [usage('1.3.6.1.4.1.99999.2', clientAuth)] });
  await leaf('for clients, critical', { extensions: [new x509.ExtendedKeyUsageExtension([clientAuth], true)] });
  const { keyEncipherment, digitalSignature, dataEncipherment, keyCertSign } = x509.KeyUsageFlags;
  await leaf('key usage: digital signature', { extensions: [usage(clientAuth), keyUsage(digitalSignature)] });
  await leaf('key usage: key encipherment alone', { extensions: [usage(clientAuth), keyUsage(keyEncipherment)] });
  await leaf('key usage: key and data encipherment', {
    extensions: [usage(serverAuth, clientAuth), keyUsage(keyEncipherment | dataEncipherment)],
  });
  await leaf('key usage: signs certificates', { extensions: [usage(clientAuth), keyUsage(keyCertSign)] });
  await leaf('an authority as a client', { extensions: [usage(clientAuth), caOf()] });
  await leaf('is no authority', { extensions: [usage(clientAuth), notCa] });

  await below('below an intermediate', {});
  const unsent = await intermediateOf(root);
  await leaf('below an intermediate that is not sent', {}, unsent);
  await below('below an intermediate for servers', { extensions: [caOf(), certSign, usage(serverAuth)] });
  await below(
    'below an intermediate for servers, masters',
    { extensions: [caOf(), certSign, usage(serverAuth)] },
    { subject: [...o('system:masters'), ...cn('mallory')] },
  );
  await below('below an intermediate for clients', { extensions: [caOf(), certSign, usage(clientAuth)] });
  await below('below an intermediate for any usage', { extensions: [caOf(), certSign, usage(anyUsage)] });
  await below(
    'below an intermediate for clients, without a usage of its own',
    { extensions: [caOf(), certSign, usage(clientAuth)] },
    { extensions: [] },
  );
  await below('below an intermediate without basic constraints', { extensions: [certSign] });
  await below('below an intermediate without extensions', { extensions: [] });
  await below('below an intermediate that is not an authority', { extensions: [notCa] });
  await below('below an intermediate that may not sign', { extensions: [caOf(), keyUsage(digitalSignature)] });
  await below('below an intermediate without key usages', { extensions: [caOf()] });
  await below('below an intermediate with an unknown critical extension', { extensions: [caOf(), certSign, unknownCritical] });
  await below('below an intermediate that has run out', { from: -10, to: -1 });
  await below('below an intermediate of the future', { from: 1, to: 10 });
  const first = await intermediateOf(root);
  const second = await intermediateOf(first);
  const third = await intermediateOf(second);
  await leaf('below two intermediates', {}, second, [second, first]);
  await leaf('below two intermediates, the wrong way around', {}, second, [first, second]);
  await leaf('below three intermediates', {}, third, [third, second, first]);
  await leaf('below two intermediates, one of which is missing', {}, second, [second]);
  await leaf('with the root', {}, root, [root]);
  const stranger = await issue({ subject: cn('stranger'), extensions: [caOf(), certSign] });
  await leaf('with a certificate that has nothing to do with it', {}, root, [stranger]);
  await leaf('with a certificate twice', {}, first, [first, first]);

  const shortAnchor = await anchor({ extensions: [caOf(0), certSign] });
  await leaf('path length 0', {}, shortAnchor);
  const tooDeep = await intermediateOf(shortAnchor);
  await leaf('path length 0 with an intermediate', {}, tooDeep, [tooDeep]);
  const shortIntermediate = await intermediateOf(root, { extensions: [caOf(0), certSign] });
  await leaf('an intermediate of path length 0', {}, shortIntermediate, [shortIntermediate]);
  const belowShort = await intermediateOf(shortIntermediate);
  await leaf('an intermediate below one of path length 0', {}, belowShort, [belowShort, shortIntermediate]);
  await leaf('an intermediate below one of path length 0, masters', { subject: [...o('system:masters'), ...cn('mallory')] }, belowShort, [
    belowShort,
    shortIntermediate,
  ]);
  const oneIntermediate = await intermediateOf(root, { extensions: [caOf(1), certSign] });
  const belowOne = await intermediateOf(oneIntermediate);
  await leaf('an intermediate below one of path length 1', {}, belowOne, [belowOne, oneIntermediate]);

  await leaf('an unknown critical extension', { extensions: [usage(clientAuth), unknownCritical] });
  await leaf('an unknown extension', { extensions: [usage(clientAuth), raw('1.3.6.1.4.1.99999.1', false, der.utf8String('?'))] });
  await leaf('an anchor with an unknown critical extension', {}, await anchor({ extensions: [caOf(), certSign, unknownCritical] }));
  await leaf('a critical Netscape certificate type', {
    extensions: [usage(clientAuth), raw('2.16.840.1.113730.1.1', true, der.bitString(Buffer.of(0x80), 7))],
  });
  await leaf('a Netscape certificate type: server', {
    extensions: [usage(clientAuth), raw('2.16.840.1.113730.1.1', false, der.bitString(Buffer.of(0x40), 6))],
  });
  await leaf('a critical proxy certificate', {
    extensions: [
      usage(clientAuth),
      raw('1.3.6.1.5.5.7.1.14', true, der.sequence(der.sequence(der.objectIdentifier('1.3.6.1.5.5.7.21.1')))),
    ],
  });
  await leaf('a critical alternative name of an unknown kind', {
    extensions: [usage(clientAuth), raw('2.5.29.17', true, der.sequence(der.element(contextTag(8), Buffer.of(1))))],
  });
  await leaf('an empty subject with a critical alternative name', {
    subject: [],
    extensions: [usage(clientAuth), new x509.SubjectAlternativeNameExtension([{ type: 'dns', value: 'jane.example.com' }], true)],
  });

  const named = (...names: { readonly type: 'dns' | 'email' | 'ip' | 'url'; readonly value: string }[]): readonly x509.Extension[] => [
    usage(clientAuth),
    san(names),
  ];
  const constrained = async (name: string, constraint: x509.Extension, template: Partial<Template>): Promise<void> =>
    below(`name constraints: ${name}`, { extensions: [caOf(), certSign, constraint] }, template);
  await constrained('a permitted DNS name', constraints([dns('example.com')]), {
    extensions: named({ type: 'dns', value: 'a.example.com' }),
  });
  await constrained('another DNS name', constraints([dns('example.com')]), { extensions: named({ type: 'dns', value: 'a.example.org' }) });
  await constrained('a DNS name that only ends alike', constraints([dns('example.com')]), {
    extensions: named({ type: 'dns', value: 'badexample.com' }),
  });
  await constrained('one of two DNS names', constraints([dns('example.com')]), {
    extensions: named({ type: 'dns', value: 'a.example.com' }, { type: 'dns', value: 'b.example.org' }),
  });
  await constrained('an excluded DNS name', constraints([], [dns('example.com')]), {
    extensions: named({ type: 'dns', value: 'a.example.com' }),
  });
  await constrained('a wildcard that covers an excluded name', constraints([], [dns('a.example.com')]), {
    extensions: named({ type: 'dns', value: '*.example.com' }),
  });
  await constrained('not critical, another DNS name', constraints([dns('example.com')], [], false), {
    extensions: named({ type: 'dns', value: 'a.example.org' }),
  });
  await constrained('no alternative name, a common name like another host', constraints([dns('example.com')]), {
    subject: cn('jane.example.org'),
  });
  await constrained('no alternative name', constraints([dns('example.com')]), {});
  await constrained('a permitted address of mail', constraints([email('example.com')]), {
    extensions: named({ type: 'email', value: 'a@example.com' }),
  });
  await constrained('another address of mail', constraints([email('example.com')]), {
    extensions: named({ type: 'email', value: 'a@example.org' }),
  });
  await constrained('another mailbox', constraints([email('b@example.com')]), {
    extensions: named({ type: 'email', value: 'a@example.com' }),
  });
  await constrained('a permitted IP address', constraints([range(10, 0, 0, 0, 255, 0, 0, 0)]), {
    extensions: named({ type: 'ip', value: '10.1.2.3' }),
  });
  await constrained('another IP address', constraints([range(10, 0, 0, 0, 255, 0, 0, 0)]), {
    extensions: named({ type: 'ip', value: '11.1.2.3' }),
  });
  await constrained('a permitted URI', constraints([uri('example.com')]), {
    extensions: named({ type: 'url', value: 'spiffe://example.com/a' }),
  });
  await constrained('another URI', constraints([uri('example.com')]), {
    extensions: named({ type: 'url', value: 'spiffe://example.org/a' }),
  });
  await constrained('a URI without a host', constraints([uri('example.com')]), { extensions: named({ type: 'url', value: 'urn:a:b' }) });
  await constrained('a directory name, critical', constraints([directory(o('devs'))]), {});
  await constrained('a directory name, not critical', constraints([directory(o('devs'))], [], false), {});
  await constrained('another directory name, not critical', constraints([directory(o('ops'))], [], false), {});
  await leaf(
    'name constraints of an anchor: another DNS name',
    { extensions: named({ type: 'dns', value: 'a.example.org' }) },
    await anchor({ extensions: [caOf(), certSign, constraints([dns('example.com')])] }),
  );

  await leaf('signed by RSA with SHA-256', {}, rsaRoot);
  const sha1Root = await anchor({ keys: await newKeys(rsa(2048, 'SHA-1')) });
  await leaf('signed by RSA with SHA-1', {}, sha1Root);
  await leaf('signed by RSA with SHA-1, masters', { subject: [...o('system:masters'), ...cn('mallory')] }, sha1Root);
  await leaf('signed by ECDSA with SHA-1', { hash: 'SHA-1' });
  const sha1Intermediate = await issue({ subject: cn('SHA-1 intermediate'), issuer: sha1Root, extensions: [caOf(), certSign] });
  await leaf('an intermediate that was signed with SHA-1', {}, sha1Intermediate, [sha1Intermediate]);
  const pssRoot = await anchor({ keys: await newKeys(rsa(2048, 'SHA-256', 'RSA-PSS')) });
  await leaf('signed by RSASSA-PSS', {}, pssRoot);
  await leaf('signed by P-384', { hash: 'SHA-384' }, await anchor({ keys: await newKeys({ name: 'ECDSA', namedCurve: 'P-384' }) }));
  await leaf('signed by P-521', { hash: 'SHA-512' }, await anchor({ keys: await newKeys({ name: 'ECDSA', namedCurve: 'P-521' }) }));
  await leaf('signed by Ed25519', {}, await anchor({ keys: await newKeys({ name: 'Ed25519' }) }));
  await leaf('with an RSA key', { keys: await newKeys(rsa(2048)) });
  await leaf('with an RSA key of 1024 bits', { keys: await newKeys(rsa(1024)) });
  await leaf('with a key of P-384', { keys: await newKeys({ name: 'ECDSA', namedCurve: 'P-384' }) });
  await leaf('with a key of P-521', { keys: await newKeys({ name: 'ECDSA', namedCurve: 'P-521' }) });
  await leaf('with a key of Ed25519', { keys: await newKeys({ name: 'Ed25519' }) });

  await leaf('has run out', { from: -10, to: -1 });
  await leaf('of the future', { from: 1, to: 10 });
  await leaf('of an anchor that has run out', {}, await anchor({ from: -10, to: -1 }));
  const oldLeaf = await leafOf(undefined, { from: -10, to: -1 });
  anchors.push(oldLeaf);
  await send('itself an anchor, and has run out', [oldLeaf], oldLeaf.keys);

  const selfSigned = await leafOf(undefined);
  await send('signed by itself', [selfSigned], selfSigned.keys);
  const selfSignedAnchor = await leafOf(undefined, { subject: cn('trusted jane') });
  anchors.push(selfSignedAnchor);
  await send('signed by itself, and an anchor', [selfSignedAnchor], selfSignedAnchor.keys);
  const leafAnchor = await leafOf(stranger, { subject: cn('trusted joe') });
  anchors.push(leafAnchor);
  await send('signed by an unknown authority, and an anchor', [leafAnchor], leafAnchor.keys);
  const serverAnchor = await leafOf(stranger, { subject: cn('trusted server'), extensions: [usage(serverAuth)] });
  anchors.push(serverAnchor);
  await send('an anchor for servers', [serverAnchor], serverAnchor.keys);
  await leaf('signed by a leaf that is an anchor', {}, leafAnchor);
  await leaf('signed by a leaf that is an anchor, with it', {}, leafAnchor, [leafAnchor]);
  const intermediateAnchor = await intermediateOf(stranger);
  anchors.push(intermediateAnchor);
  await leaf('of an intermediate that is an anchor', {}, intermediateAnchor);
  const belowAnchor = await intermediateOf(intermediateAnchor);
  await leaf('below an intermediate of one that is an anchor', {}, belowAnchor, [belowAnchor]);
  await leaf('of an anchor for servers', {}, await anchor({ extensions: [caOf(), certSign, usage(serverAuth)] }));
  await leaf('of an anchor for clients', {}, await anchor({ extensions: [caOf(), certSign, usage(clientAuth)] }));
  await leaf('of an anchor without basic constraints', {}, await anchor({ extensions: [] }));
  await leaf('of an anchor that may not sign', {}, await anchor({ extensions: [caOf(), keyUsage(digitalSignature)] }));
  await leaf('of an unknown authority', {}, stranger);
  await leaf('of an unknown authority, with it', {}, stranger, [stranger]);

  const impostor = await issue({ subject: root.certificate.subjectName, extensions: [caOf(), certSign] });
  await leaf("of an authority that took an anchor's name", {}, impostor);
  await leaf("of an authority that took an anchor's name, with it", {}, impostor, [impostor]);
  await leaf('names another issuer', { issuerName: cn('somebody else') });
  const good = await leafOf(root);
  await send('a changed signature', [changedSignature(good)], good.keys);
  await leaf('another authority key identifier', {
    extensions: [usage(clientAuth), new x509.AuthorityKeyIdentifierExtension('00112233445566778899')],
  });
  const identified = await anchor({ extensions: [caOf(), certSign, new x509.SubjectKeyIdentifierExtension('aabbccddeeff')] });
  await leaf(
    'the right authority key identifier',
    { extensions: [usage(clientAuth), new x509.AuthorityKeyIdentifierExtension('aabbccddeeff')] },
    identified,
  );
  await leaf(
    'an authority key identifier that is not the anchor’s',
    { extensions: [usage(clientAuth), new x509.AuthorityKeyIdentifierExtension('00112233')] },
    identified,
  );
  const crossKeys = await newKeys();
  const wrongCross = await intermediateOf(root, {
    subject: cn('crossed'),
    keys: crossKeys,
    extensions: [caOf(), certSign, usage(serverAuth)],
  });
  const rightCross = await intermediateOf(rsaRoot, { subject: cn('crossed'), keys: crossKeys });
  await leaf('two intermediates of one name, the first for servers', {}, rightCross, [wrongCross, rightCross]);
  await leaf('two intermediates of one name, the last for servers', {}, rightCross, [rightCross, wrongCross]);
  const loopKeys = await Promise.all([newKeys(), newKeys()]);
  const loopA = await issue({ subject: cn('loop a'), keys: loopKeys[0], extensions: [caOf(), certSign] });
  const loopB = await intermediateOf(loopA, { subject: cn('loop b'), keys: loopKeys[1] });
  const loopAgain = await intermediateOf(loopB, { subject: cn('loop a'), keys: loopKeys[0] });
  await leaf('intermediates that certify each other', {}, loopAgain, [loopAgain, loopB]);

  await leaf('explicit policy, without one', {}, await anchor(), []);
  const explicit = await intermediateOf(root, {
    extensions: [caOf(), certSign, policies('1.3.6.1.4.1.99999.3'), requireExplicitPolicy(0)],
  });
  await leaf('an explicit policy is asked for, and none is there', {}, explicit, [explicit]);
  await leaf('an explicit policy is asked for, and there', { extensions: [usage(clientAuth), policies('1.3.6.1.4.1.99999.3')] }, explicit, [
    explicit,
  ]);
  await leaf(
    'an explicit policy is asked for, and another one is there',
    { extensions: [usage(clientAuth), policies('1.3.6.1.4.1.99999.4')] },
    explicit,
    [explicit],
  );

  const form = await leafOf(root);
  const changed = async (name: string, change: (fields: Buffer[]) => Buffer[], template: Partial<Template> = {}): Promise<void> => {
    const issued = Object.keys(template).length > 0 ? await leafOf(root, template) : form;
    await send(name, [rewritten(issued, root, change)], issued.keys);
  };

  /** Issues a leaf with the subject as sets of attributes. */
  const text = async (name: string, ...subject: readonly Buffer[]): Promise<void> =>
    changed(`subject: ${name}`, (fields) => [...fields.slice(0, 5), der.sequence(...subject), ...fields.slice(6)]);
  await text('no common name', oText('devs'));
  await text('an empty common name', oText('devs'), cnText(''));
  await text('two common names', cnText('first'), cnText('last'));
  await text('two common names, the last empty', cnText('first'), cnText(''));
  await text('common name before organizations', cnText('jane'), oText('a'), oText('b'));
  await text('one organization twice', oText('a'), oText('a'), cnText('jane'));
  await text('an empty organization', oText(''), cnText('jane'));
  await text('several attributes in one set', der.set(attribute('2.5.4.3', 'jane'), attribute('2.5.4.10', 'a')));
  await text('a common name like an attribute', cnText('jane\nO=system:masters'));
  await text('a common name with separators', cnText('jane, O=system:masters/O=system:masters+O=system:masters'));
  await text('a common name with a zero', cnText('system:admin\0.example.com'));
  await text('characters outside of ASCII', cnText('Jürgen 🦊'));
  await text('PrintableString', cnText('jane', tags.printableString));
  await text('PrintableString with a character that it cannot have', cnText('jane@x', tags.printableString));
  await text('NumericString', cnText('12 3', tags.numericString));
  await text('BMPString', cnText(Buffer.from([0, 0x6a, 0, 0xe4]), tags.bmpString));
  await text('TeletexString', cnText(Buffer.from([0x6a, 0xe4]), tags.t61String));
  await text('IA5String', cnText('jane@x', tags.ia5String));
  await text('a UniversalString', cnText(Buffer.from([0, 0, 0, 0x6a]), 0x1c));
  const uid = (value: string): Buffer => der.set(attribute('1.3.6.1.4.1.57683.2', value));
  await text('a UID', cnText('jane'), uid('u-1'));
  await text('two UIDs', cnText('jane'), uid('u-1'), uid('u-2'));
  await text('an empty UID', cnText('jane'), uid(''));
  await text('system:masters', oText('system:masters'), cnText('admin'));

  await changed('form: written again', (fields) => fields);
  await changed('form: the issuer in another type of text', (fields) => [
    ...fields.slice(0, 3),
    der.sequence(cnText('anchor 1', tags.t61String)),
    ...fields.slice(4),
  ]);
  await changed('form: a negative serial number', ([version, , ...rest]) => [
    version!,
    der.element(tags.integer, Buffer.of(0x81, 1)),
    ...rest,
  ]);
  await changed('form: a serial number of zero', ([version, , ...rest]) => [version!, der.integer(0), ...rest]);
  await changed('form: version 1 with extensions', ([, ...rest]) => rest);
  await changed('form: version 1', ([, ...rest]) => rest.slice(0, -1));
  await changed('form: version 4', ([, ...rest]) => [der.element(contextTag(0, 'constructed'), der.integer(3)), ...rest]);
  await changed('form: an extension twice', (fields) => {
    const own = elementsOf(elementsOf(fields.at(-1)!)[0]!);
    return [...fields.slice(0, -1), der.element(contextTag(3, 'constructed'), der.sequence(...own, ...own))];
  });
  await changed('form: another algorithm inside', (fields) => [
    ...fields.slice(0, 2),
    der.sequence(der.objectIdentifier('1.2.840.10045.4.3.3')),
    ...fields.slice(3),
  ]);
  const times = (from: Buffer, to: Buffer) => (fields: Buffer[]) => [...fields.slice(0, 4), der.sequence(from, to), ...fields.slice(5)];
  const ascii = (value: string): Buffer => Buffer.from(value);
  const year = new Date().getUTCFullYear();
  const utc = (value: string): Buffer => der.element(tags.utcTime, ascii(value));
  await changed('form: times with a zone', times(utc('200101000000+0100'), utc('490101000000+0100')));
  await changed(
    'form: a GeneralizedTime before 2050',
    times(utc('200101000000Z'), der.element(tags.generalizedTime, ascii(`${year + 1}0101000000Z`))),
  );
  await changed(
    'form: a GeneralizedTime with fractions',
    times(utc('200101000000Z'), der.element(tags.generalizedTime, ascii(`${year + 1}0101000000.5Z`))),
  );
  await changed('form: a critical authority key identifier', (fields) => fields, {
    extensions: [usage(clientAuth), new x509.AuthorityKeyIdentifierExtension('0011', true)],
  });
  await changed('form: a critical subject key identifier', (fields) => fields, {
    extensions: [usage(clientAuth), new x509.SubjectKeyIdentifierExtension('0011', true)],
  });
  await changed('form: an address of three bytes', (fields) => fields, {
    extensions: [usage(clientAuth), raw('2.5.29.17', false, der.sequence(der.element(contextTag(7), Buffer.of(1, 2, 3))))],
  });
  await changed('form: an alternative name that is not a URI', (fields) => fields, {
    extensions: [usage(clientAuth), raw('2.5.29.17', false, der.sequence(der.element(contextTag(6), ascii('http://a b/'))))],
  });

  const proxyRoot = await issue({ subject: cn('front proxies'), extensions: [caOf(), certSign] });
  const speaks = { 'X-Remote-User': 'told', 'X-Remote-Group': 'told-group', 'X-Remote-Extra-Key': 'value' };
  const proxy = async (name: string, template: Partial<Template>, issuer = proxyRoot, above: readonly Issued[] = []): Promise<void> => {
    const issued = await leafOf(issuer, { subject: cn('front-proxy'), ...template });
    await send(`front proxy: ${name}`, [issued, ...above], issued.keys, speaks);
  };
  await proxy('speaks for somebody', {});
  await proxy('of another name', { subject: cn('another') });
  await proxy('of two names, the last of which is allowed', { subject: cn('another', 'front-proxy') });
  await proxy('of two names, the first of which is allowed', { subject: cn('front-proxy', 'another') });
  await proxy('a name in another attribute', { subject: [...cn('another'), ...o('x\nCN=front-proxy')] });
  await proxy('without a usage', { extensions: [] });
  await proxy('for servers', { extensions: [usage(serverAuth)] });
  await proxy('has run out', { from: -10, to: -1 });
  await proxy('of the authority of clients', {}, root);
  const proxyIntermediate = await intermediateOf(proxyRoot);
  await proxy('below an intermediate', {}, proxyIntermediate, [proxyIntermediate]);
  const silent = await leafOf(proxyRoot, { subject: cn('front-proxy') });
  await send('front proxy: speaks for nobody', [silent], silent.keys);
  const client = await leafOf(root);
  await send('a client that says that it is somebody else', [client], client.keys, speaks);

  const pem = (issued: Issued): string => issued.certificate.toString('pem');
  return { clientCa: anchors.map(pem).join('\n'), requestHeaderCa: pem(proxyRoot), chains };
}

/** Returns the certificate with another signature of the same form. */
function changedSignature({ certificate }: Issued): string {
  const bytes = Buffer.from(certificate.rawData);
  bytes[bytes.length - 1] = (bytes.at(-1) as number) ^ 1;
  return pemOf('CERTIFICATE', bytes);
}
