import type { Buffer } from 'node:buffer';
import { contextTag, DerError, DerReader, tags } from './der-reader.ts';
import { ascii } from './distinguished-name.ts';

/** A URI in a certificate. */
export interface CertificateUri {
  readonly text: string;
  /** Host and port; empty if the URI has none. */
  readonly host: string;
}

/** The supported subject alternative names; others are left out. */
export interface AlternativeNames {
  readonly dns: readonly string[];
  readonly emails: readonly string[];
  /** Addresses of four or sixteen bytes. */
  readonly addresses: readonly Buffer[];
  readonly uris: readonly CertificateUri[];
}

/** Tags of the supported general names: RFC 5280, section 4.2.1.6. */
export const generalNameTags = { email: contextTag(1), dns: contextTag(2), uri: contextTag(6), address: contextTag(7) } as const;

/** Parses the value of the extension. Upstream: crypto/x509/parser.go (parseSANExtension). */
export function parseAlternativeNames(value: Buffer): AlternativeNames {
  const names = { dns: [] as string[], emails: [] as string[], addresses: [] as Buffer[], uris: [] as CertificateUri[] };
  for (const reader = new DerReader(value).inside(tags.sequence, 'x509: invalid subject alternative names'); !reader.isEmpty; ) {
    const { tag, content } = reader.element('x509: invalid subject alternative name');
    if (tag === generalNameTags.email) names.emails.push(ia5(content, 'x509: SAN rfc822Name is malformed'));
    else if (tag === generalNameTags.dns) names.dns.push(ia5(content, 'x509: SAN dNSName is malformed'));
    else if (tag === generalNameTags.uri) names.uris.push(parseUri(ia5(content, 'x509: SAN uniformResourceIdentifier is malformed')));
    else if (tag === generalNameTags.address) names.addresses.push(parseAddress(content));
  }
  return names;
}

function ia5(content: Buffer, problem: string): string {
  const text = ascii(content);
  if (text === undefined) throw new DerError(problem);
  return text;
}

function parseAddress(content: Buffer): Buffer {
  if (content.length !== 4 && content.length !== 16) throw new DerError(`x509: cannot parse IP address of length ${content.length}`);
  return content;
}

function parseUri(text: string): CertificateUri {
  const problem = `x509: cannot parse URI ${JSON.stringify(text)}`;
  const host = hostOf(text);
  if (host === undefined) throw new DerError(problem);
  if (host !== '' && !isValidDomain(host)) throw new DerError(`${problem}: invalid domain`);
  return { text, host };
}

/** Returns host and port of a URI; empty if it has none, undefined if it is malformed. Upstream: net/url (Parse). */
function hostOf(uri: string): string | undefined {
  if (/[\x00-\x1f\x7f]|%(?![0-9a-fA-F]{2})/.test(uri)) return undefined;
  const [, scheme, rest = ''] = /^(?:([a-zA-Z][a-zA-Z0-9+.-]*):)?(.*)$/.exec(uri) ?? [];
  if (!rest.startsWith('/')) return scheme === undefined && /^[^/?#]*:/.test(rest) ? undefined : '';
  if (!rest.startsWith('//') || (scheme === undefined && rest.startsWith('///'))) return '';
  const authority = /^[^/?#]*/.exec(rest.slice(2))?.[0] ?? '';
  const at = authority.lastIndexOf('@');
  if (!/^[a-zA-Z0-9\-._:~!$&'()*+,;=%@]*$/.test(authority.slice(0, Math.max(at, 0)))) return undefined;
  const host = authority.slice(at + 1);
  return /^(?:\[[^\][]*\]|[^:\][ "<>\\^`{|}]*)(?::\d*)?$/.test(host) ? host : undefined;
}

/** True for a valid domain. `mayBeginWithDot` is for constraints. Upstream: crypto/x509/parser.go (domainNameValid). */
export function isValidDomain(domain: string, mayBeginWithDot = false): boolean {
  if (domain === '') return true;
  return areLabels(mayBeginWithDot && domain.startsWith('.') ? domain.slice(1) : domain);
}

function areLabels(domain: string): boolean {
  return domain.split('.').every((label) => /^[\x21-\x7e]+$/.test(label));
}

/** A mail address. */
export interface Mailbox {
  readonly local: string;
  readonly domain: string;
}

const atom = /^(?:[0-9a-zA-Z!#$%&'*+\-/=?^_`{|}~.]|\\.)+/s;
const quoted = /^"((?:\\[\x01-\x09\x0b\x0c\x0e-\x7f]|[\x01-\x08\x0b\x20\x21\x23-\x5b\x5d-\x7f])*)"/;

/** Parses a mail address; undefined if it is malformed. Upstream: crypto/x509/verify.go (parseRFC2821Mailbox). */
export function parseMailbox(text: string): Mailbox | undefined {
  const match = text.startsWith('"') ? quoted.exec(text) : atom.exec(text);
  if (!match) return undefined;
  const local = (match[1] ?? match[0]).replaceAll(/\\(.)/gs, '$1');
  if (match[1] === undefined && /^\.|\.$|\.\./.test(local)) return undefined;
  const rest = text.slice(match[0].length);
  const domain = rest.slice(1);
  if (!rest.startsWith('@') || !(domain === '' || areLabels(domain))) return undefined;
  return { local, domain };
}
