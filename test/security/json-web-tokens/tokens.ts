/** JSON web tokens of a service account, valid ones and those that must be rejected. */
import { Buffer } from 'node:buffer';
import { constants, createHash, createHmac, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const issuer = 'https://kubernetes.default.svc';
const keys = {
  rsa: generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey,
  ec: generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey,
  stranger: generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey,
};

/** Writes the keys to the folder. Returns the flags of a server that trusts them. */
export function flagsFor(folder: string): string[] {
  for (const name of ['rsa', 'ec'] as const)
    writeFileSync(join(folder, `${name}.pub`), createPublicKey(keys[name]).export({ type: 'spki', format: 'pem' }));
  return ['rsa', 'ec'].map((name) => `--service-account-key-file=${join(folder, `${name}.pub`)}`);
}

/** The account of the tokens. */
export interface Account {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

const kidOf = (key: KeyObject): string =>
  createHash('sha256')
    .update(createPublicKey(key).export({ type: 'spki', format: 'der' }))
    .digest('base64url');
const base64url = (text: string | Buffer): string => Buffer.from(text as string).toString('base64url');

type Text = string;
interface Parts {
  readonly header?: object | Text;
  readonly payload?: object | Text | Buffer;
  readonly key?: KeyObject;
  readonly signature?: (input: string) => Buffer;
  /** Modifies the encoded token. */
  readonly change?: (parts: readonly [header: string, payload: string, signature: string]) => string;
  /** Returns the signed input, if it differs from the sent one. */
  readonly signed?: (header: string, payload: string) => string;
}

const rs256 = (key: KeyObject) => (input: string) => sign('sha256', Buffer.from(input), key);

/** Returns all tokens by their peculiarity. */
export function tokensOf(account: Account, now = Math.floor(Date.now() / 1000)): Record<string, string> {
  const reference = { namespace: account.namespace, serviceaccount: { name: account.name, uid: account.uid } };
  const claims = {
    aud: [issuer],
    exp: now + 3600,
    iat: now,
    iss: issuer,
    'kubernetes.io': reference,
    nbf: now,
    sub: `system:serviceaccount:${account.namespace}:${account.name}`,
  };
  const head = { alg: 'RS256', kid: kidOf(keys.rsa) };
  const json = JSON.stringify(claims);
  const tokens: Record<string, string> = {};
  const add = (name: string, { header = head, payload = claims, key = keys.rsa, signature, change, signed }: Parts = {}): void => {
    const encode = (value: object | string): string =>
      base64url(typeof value === 'string' || Buffer.isBuffer(value) ? value : JSON.stringify(value));
    const [first, second] = [encode(header), encode(payload)];
    const input = signed ? signed(first, second) : `${first}.${second}`;
    const last = base64url((signature ?? rs256(key))(input));
    tokens[name] = change ? change([first, second, last]) : `${first}.${second}.${last}`;
  };
  const withHeader = (name: string, header: object | string, more: Parts = {}): void => add(`header: ${name}`, { ...more, header });
  const withClaims = (name: string, changed: object): void => add(`claims: ${name}`, { payload: { ...claims, ...changed } });
  /** Returns the payload with a claim in a form that JSON.stringify would not write. */
  const withText = (name: string, claim: string, text: string): void => {
    const { [claim as 'exp']: _, ...others } = claims;
    add(`claims: ${name}`, { payload: `${JSON.stringify(others).slice(0, -1)},"${claim}":${text}}` });
  };
  const without = (claim: string): void => {
    const { [claim as 'exp']: _, ...others } = claims;
    add(`claims: without ${claim}`, { payload: others });
  };

  add('good');
  add('of an EC key', {
    header: { alg: 'ES256', kid: kidOf(keys.ec) },
    signature: (input) => sign('sha256', Buffer.from(input), { key: keys.ec, dsaEncoding: 'ieee-p1363' }),
  });
  add('of an EC key, signature in DER', {
    header: { alg: 'ES256', kid: kidOf(keys.ec) },
    signature: (input) => sign('sha256', Buffer.from(input), keys.ec),
  });
  add('of an unknown key', { key: keys.stranger });
  add('a signature of zeros', { signature: () => Buffer.alloc(256) });
  add('an EC signature of zeros', { header: { alg: 'ES256', kid: kidOf(keys.ec) }, signature: () => Buffer.alloc(64) });
  add('an empty signature', { signature: () => Buffer.alloc(0) });
  add('a signature that is cut', { signature: (input) => rs256(keys.rsa)(input).subarray(1) });

  withHeader('without kid', { alg: 'RS256' });
  withHeader('an empty kid', { alg: 'RS256', kid: '' });
  withHeader('an unknown kid', { alg: 'RS256', kid: 'unknown' });
  withHeader('the kid of another key', { alg: 'RS256', kid: kidOf(keys.ec) });
  withHeader('kid a number', { alg: 'RS256', kid: 1 });
  withHeader('kid null', { alg: 'RS256', kid: null });
  withHeader('kid a list', { alg: 'RS256', kid: [kidOf(keys.rsa)] });
  withHeader('Kid', { alg: 'RS256', Kid: 'unknown' });
  withHeader('alg none', { alg: 'none' }, { signature: () => Buffer.alloc(0) });
  withHeader('alg None', { alg: 'None' }, { signature: () => Buffer.alloc(0) });
  withHeader('alg none with a signature', { ...head, alg: 'none' });
  withHeader('without alg', { kid: head.kid });
  withHeader('alg null', { ...head, alg: null });
  withHeader('alg a number', { ...head, alg: 256 });
  withHeader('alg in lower case', { ...head, alg: 'rs256' });
  withHeader('alg RS384 for RS256', { ...head, alg: 'RS384' });
  withHeader('alg ES256 for RS256', { ...head, alg: 'ES256' });
  withHeader('alg EdDSA for RS256', { ...head, alg: 'EdDSA' });
  const publicPem = createPublicKey(keys.rsa).export({ type: 'spki', format: 'pem' });
  for (const secret of [publicPem, createPublicKey(keys.rsa).export({ type: 'pkcs1', format: 'pem' })])
    withHeader(
      `alg HS256 with the public key, ${String(secret).slice(11, 17)}`,
      { ...head, alg: 'HS256' },
      { signature: (input) => createHmac('sha256', secret).update(input).digest() },
    );
  for (const bits of [384, 512])
    withHeader(`alg RS${bits}`, { ...head, alg: `RS${bits}` }, { signature: (input) => sign(`sha${bits}`, Buffer.from(input), keys.rsa) });
  for (const saltLength of [32, 20, 0])
    withHeader(
      `alg PS256, a salt of ${saltLength} bytes`,
      { ...head, alg: 'PS256' },
      { signature: (input) => sign('sha256', Buffer.from(input), { key: keys.rsa, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength }) },
    );
  withHeader(
    'alg ES384 of P-256',
    { alg: 'ES384', kid: kidOf(keys.ec) },
    { signature: (input) => sign('sha384', Buffer.from(input), { key: keys.ec, dsaEncoding: 'ieee-p1363' }) },
  );
  withHeader('crit exp', { ...head, crit: ['exp'], exp: 1 });
  withHeader('crit empty', { ...head, crit: [] });
  withHeader('crit a text', { ...head, crit: 'exp' });
  withHeader('crit null', { ...head, crit: null });
  withHeader('crit b64, true', { ...head, crit: ['b64'], b64: true });
  withHeader('crit b64, false', { ...head, crit: ['b64'], b64: false });
  withHeader('b64 false, not critical', { ...head, b64: false });
  withHeader('crit b64, false, signed so', { ...head, crit: ['b64'], b64: false }, { signed: (first) => `${first}.${json}` });
  withHeader('typ at+jwt', { ...head, typ: 'at+jwt' });
  withHeader('typ a number', { ...head, typ: 1 });
  withHeader('cty JWT', { ...head, cty: 'JWT' });
  withHeader('a key of its own', { alg: 'RS256', jwk: createPublicKey(keys.stranger).export({ format: 'jwk' }) }, { key: keys.stranger });
  withHeader('a private key', { ...head, jwk: keys.stranger.export({ format: 'jwk' }) });
  withHeader('a good key of its own, beside', { ...head, jwk: createPublicKey(keys.stranger).export({ format: 'jwk' }) });
  withHeader('jwk a text', { ...head, jwk: 'x' });
  withHeader('jwk null', { ...head, jwk: null });
  withHeader('x5c garbage', { ...head, x5c: ['AAAA'] });
  withHeader('x5c a text', { ...head, x5c: 'AAAA' });
  withHeader('x5c empty', { ...head, x5c: [] });
  withHeader('x5u and jku', { ...head, x5u: 'https://example.com', jku: 'https://example.com' });
  withHeader('nonce a number', { ...head, nonce: 1 });
  withHeader('alg twice', `{"alg":"none","kid":"${head.kid}","alg":"RS256"}`);
  withHeader('kid twice', `{"alg":"RS256","kid":"unknown","kid":"${head.kid}"}`);
  withHeader('an unknown member twice', `{"alg":"RS256","kid":"${head.kid}","a":1,"a":2}`);
  withHeader('a nested member twice', `{"alg":"RS256","kid":"${head.kid}","a":{"b":1,"b":2}}`);
  withHeader('a list', '["RS256"]');
  withHeader('null', 'null');
  withHeader('no JSON', 'alg=RS256');
  withHeader('empty', '');
  withHeader('more after it', `${JSON.stringify(head)} {}`);
  withHeader('space around', ` ${JSON.stringify(head)}\n`);
  withHeader('a byte order mark', `\ufeff${JSON.stringify(head)}`);

  for (const claim of ['exp', 'nbf', 'iat'] as const) {
    withClaims(`${claim} a text`, { [claim]: String(claims[claim]) });
    withClaims(`${claim} null`, { [claim]: null });
    withClaims(`${claim} true`, { [claim]: true });
    withClaims(`${claim} a list`, { [claim]: [claims[claim]] });
    withClaims(`${claim} an object`, { [claim]: {} });
    withClaims(`${claim} with a fraction`, { [claim]: claims[claim] + 0.5 });
    withText(`${claim} 1e300`, claim, '1e300');
    withText(`${claim} -1e300`, claim, '-1e300');
    withText(`${claim} 1e400`, claim, '1e400');
    withText(`${claim} 2^63 - 1`, claim, '9223372036854775807');
    withText(`${claim} 2^62`, claim, '4611686018427387904');
    withText(`${claim} in exponents`, claim, `${claims[claim]}e0`);
    withClaims(`${claim} 0`, { [claim]: 0 });
    withClaims(`${claim} negative`, { [claim]: -1 });
    without(claim);
  }
  withClaims('exp an hour ago', { exp: now - 3600 });
  withClaims('exp half a minute ago', { exp: now - 30 });
  withClaims('nbf in an hour', { nbf: now + 3600 });
  withClaims('nbf in half a minute', { nbf: now + 30 });
  withClaims('iat in an hour', { iat: now + 3600 });
  withClaims('iat in half a minute', { iat: now + 30 });

  without('aud');
  withClaims('aud a text', { aud: issuer });
  withClaims('aud another text', { aud: 'https://example.com' });
  withClaims('aud others', { aud: ['a', 'b'] });
  withClaims('aud with others', { aud: ['a', issuer] });
  withClaims('aud empty', { aud: [] });
  withClaims('aud null', { aud: null });
  withClaims('aud a number', { aud: 1 });
  withClaims('aud an object', { aud: { [issuer]: true } });
  withClaims('aud with a number', { aud: [issuer, 1] });
  withClaims('aud with null', { aud: [issuer, null] });
  withClaims('aud a nested list', { aud: [[issuer]] });
  withClaims('aud an empty text', { aud: '' });
  without('iss');
  withClaims('iss another', { iss: 'https://example.com' });
  withClaims('iss a list', { iss: [issuer] });
  withClaims('iss null', { iss: null });
  withClaims('iss of secrets', { iss: 'kubernetes/serviceaccount' });
  add('claims: ISS', { payload: json.replace('"iss"', '"ISS"') });
  add('claims: iss and ISS', { payload: json.replace('"iss"', '"ISS":"https://example.com","iss"') });
  without('sub');
  withClaims('sub another', { sub: 'system:serviceaccount:kube-system:admin' });
  withClaims('sub a number', { sub: 1 });
  withClaims('sub null', { sub: null });
  withClaims('jti', { jti: 'an-id' });
  withClaims('jti a number', { jti: 1 });
  without('kubernetes.io');
  const inside = (name: string, changed: object): void =>
    withClaims(`kubernetes.io: ${name}`, { 'kubernetes.io': { ...reference, ...changed } });
  withClaims('kubernetes.io null', { 'kubernetes.io': null });
  withClaims('kubernetes.io a text', { 'kubernetes.io': 'x' });
  withClaims('kubernetes.io a list', { 'kubernetes.io': [reference] });
  inside('another namespace', { namespace: 'kube-system' });
  inside('namespace a number', { namespace: 1 });
  inside('no account', { serviceaccount: undefined });
  inside('account null', { serviceaccount: null });
  inside('account a text', { serviceaccount: account.name });
  inside('another UID', { serviceaccount: { name: account.name, uid: 'x' } });
  inside('UID a number', { serviceaccount: { name: account.name, uid: 1 } });
  inside('without UID', { serviceaccount: { name: account.name } });
  inside('another name', { serviceaccount: { name: 'another', uid: account.uid } });
  for (const kind of ['pod', 'secret', 'node']) {
    inside(`${kind} that is not there`, { [kind]: { name: 'gone', uid: 'x' } });
    inside(`${kind} null`, { [kind]: null });
    inside(`${kind} a text`, { [kind]: 'gone' });
    inside(`${kind} empty`, { [kind]: {} });
  }
  inside('warnafter in the past', { warnafter: now - 10 });
  inside('warnafter a text', { warnafter: 'x' });
  inside('warnafter null', { warnafter: null });
  inside('an unknown member', { more: { a: 1 } });
  withClaims('an unknown member', { more: { a: [1] } });

  const twice = (name: string, from: string, to: string): void => add(`claims twice: ${name}`, { payload: json.replace(from, to) });
  twice('exp, the last good', '"exp"', '"exp":1,"exp"');
  twice('exp, the same', '"exp"', `"exp":${claims.exp},"exp"`);
  twice('aud', '"aud"', '"aud":["a"],"aud"');
  twice('iss', '"iss"', '"iss":"https://example.com","iss"');
  twice('sub', '"sub"', '"sub":"x","sub"');
  twice('kubernetes.io', '"kubernetes.io"', '"kubernetes.io":{},"kubernetes.io"');
  twice('an unknown one', '"aud"', '"a":1,"a":2,"aud"');
  twice('one that is written with an escape', '"exp"', '"\\u0065xp":1,"exp"');
  twice('namespace', '"namespace"', '"namespace":"x","namespace"');
  twice('an unknown one of kubernetes.io', '"namespace"', '"a":1,"a":2,"namespace"');
  twice('uid', '"uid"', '"uid":"x","uid"');
  twice('one inside of an unknown one', '"aud"', '"a":{"b":1,"b":2},"aud"');
  twice('another case', '"exp"', '"EXP":1,"exp"');

  add('payload: a list', { payload: `[${json}]` });
  add('payload: null', { payload: 'null' });
  add('payload: a text', { payload: '"x"' });
  add('payload: empty', { payload: '' });
  add('payload: more after it', { payload: `${json}{}` });
  add('payload: a comma at the end', { payload: json.replace(/\}$/, ',}') });
  add('payload: space around', { payload: ` \n${json}\t` });
  add('payload: a byte order mark', { payload: `\ufeff${json}` });
  add('payload: NaN', { payload: json.replace('"aud"', '"a":NaN,"aud"') });
  add('payload: characters that are none', {
    payload: Buffer.concat([Buffer.from(`${json.slice(0, -1)},"a":"`), Buffer.of(0xff, 0xc0), Buffer.from('"}')]),
  });
  add('payload: a name with characters that are none', {
    payload: Buffer.concat([Buffer.from(`${json.slice(0, -1)},"`), Buffer.of(0xff), Buffer.from('":1}')]),
  });
  add('payload: nested 1,000 deep', { payload: json.replace('"aud"', `"a":${'['.repeat(1000)}${']'.repeat(1000)},"aud"`) });
  add('payload: nested 20,000 deep', { payload: json.replace('"aud"', `"a":${'['.repeat(20_000)}${']'.repeat(20_000)},"aud"`) });
  add('payload: __proto__', { payload: json.replace('"aud"', '"__proto__":{"exp":1},"aud"') });

  const encoded = (name: string, change: NonNullable<Parts['change']>, more: Parts = {}): void =>
    add(`encoding: ${name}`, { ...more, change });
  encoded('two parts', ([first, second]) => `${first}.${second}`);
  encoded('a dot at the end', (parts) => `${parts.join('.')}.`);
  encoded('a fourth part', (parts) => `${parts.join('.')}.AAAA`);
  encoded('five parts', (parts) => `${parts.join('.')}.AAAA.AAAA`);
  encoded('a dot in front', (parts) => `.${parts.join('.')}`);
  encoded('padding after the signature', (parts) => `${parts.join('.')}==`);
  encoded('padding after the header', ([first, ...rest]) => [`${first}=`, ...rest].join('.'));
  encoded('characters of base64', ([first, second, last]) => [first, second, last.replaceAll('-', '+').replaceAll('_', '/')].join('.'));
  encoded('a character that is none', ([first, second, last]) => `${first}.${second}.${last}!`);
  encoded(
    'a character that is none, in the middle',
    ([first, second, last]) => `${first}.${second}.${last.slice(0, 10)}*${last.slice(10)}`,
  );
  encoded('a character too many', ([first, second, last]) => `${first}.${second}.${last}AAA`);
  const loose = (part: string): string => {
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    return part.slice(0, -1) + alphabet[alphabet.indexOf(part.at(-1) as string) ^ 1];
  };
  const padded = (value: object): string => {
    let text = JSON.stringify(value);
    while (text.length % 3 !== 1) text += ' ';
    return text;
  };
  encoded('bits that nobody reads in the signature', ([first, second, last]) => `${first}.${second}.${loose(last)}`);
  encoded('bits that nobody reads in the header', ([first, second, last]) => `${loose(first)}.${second}.${last}`, { header: padded(head) });
  encoded('bits that nobody reads in the header, signed so', ([first, second, last]) => `${loose(first)}.${second}.${last}`, {
    header: padded(head),
    signed: (first, second) => `${loose(first)}.${second}`,
  });
  encoded('bits that nobody reads in the payload', ([first, second, last]) => `${first}.${loose(second)}.${last}`, {
    payload: padded(claims),
  });
  encoded('bits that nobody reads in the payload, signed so', ([first, second, last]) => `${first}.${loose(second)}.${last}`, {
    payload: padded(claims),
    signed: (first, second) => `${first}.${loose(second)}`,
  });
  add('a token in a token', { header: { ...head, cty: 'JWT' }, payload: tokens['good'] as string });
  tokens['JSON serialization'] = JSON.stringify({
    protected: tokens['good']?.split('.')[0],
    payload: tokens['good']?.split('.')[1],
    signature: tokens['good']?.split('.')[2],
  });
  tokens['no token'] = 'a.b.c';
  return tokens;
}
