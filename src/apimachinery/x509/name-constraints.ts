import { quote } from '#apimachinery/runtime/quote';
import type { Buffer } from 'node:buffer';
import { contextTag, DerError, DerReader, tags } from './der-reader.ts';
import { ascii } from './distinguished-name.ts';
import { type AlternativeNames, type CertificateUri, generalNameTags, isValidDomain, type Mailbox, parseMailbox } from './general-names.ts';

/** A range of addresses: four or sixteen bytes of address and of mask. */
interface AddressRange {
  readonly address: Buffer;
  readonly mask: Buffer;
}

/** Subtrees of names. */
interface Subtrees {
  readonly dns: readonly string[];
  readonly emails: readonly string[];
  readonly uris: readonly string[];
  readonly addresses: readonly AddressRange[];
}

/** The names that certificates below an authority must and must not have: RFC 5280, section 4.2.1.10. */
export interface NameConstraints {
  readonly permitted: Subtrees;
  readonly excluded: Subtrees;
  /** True if there is a subtree of an unsupported kind, such as a directory name. */
  readonly hasUnknownKind: boolean;
}

const problem = 'x509: invalid NameConstraints extension';

/** Parses the value of the extension. Upstream: crypto/x509/parser.go (parseNameConstraintsExtension). */
export function parseNameConstraints(value: Buffer): NameConstraints {
  const outer = new DerReader(value);
  const fields = outer.inside(tags.sequence, problem);
  outer.end(problem);
  const permitted = fields.insideOptional(contextTag(0, 'constructed'), problem);
  const excluded = fields.insideOptional(contextTag(1, 'constructed'), problem);
  fields.end(problem);
  if ((permitted?.isEmpty ?? true) && (excluded?.isEmpty ?? true)) throw new DerError('x509: empty name constraints extension');
  const unknown = { found: false };
  return { permitted: parseSubtrees(permitted, unknown), excluded: parseSubtrees(excluded, unknown), hasUnknownKind: unknown.found };
}

function parseSubtrees(reader: DerReader | undefined, unknown: { found: boolean }): Subtrees {
  const dns: string[] = [];
  const emails: string[] = [];
  const uris: string[] = [];
  const addresses: AddressRange[] = [];
  while (reader && !reader.isEmpty) {
    const { tag, content } = reader.inside(tags.sequence, problem).element(problem);
    if (tag === generalNameTags.dns) dns.push(domainConstraint(content));
    else if (tag === generalNameTags.email) emails.push(emailConstraint(content));
    else if (tag === generalNameTags.uri) uris.push(uriConstraint(content));
    else if (tag === generalNameTags.address) addresses.push(addressRange(content));
    else unknown.found = true;
  }
  return { dns, emails, uris, addresses };
}

function textOf(content: Buffer): string {
  const text = ascii(content);
  if (text === undefined) throw new DerError('x509: invalid constraint value');
  return text;
}

function domainConstraint(content: Buffer): string {
  const domain = textOf(content);
  if (!isValidDomain(domain, true)) throw new DerError(`x509: failed to parse constraint ${quote(domain)}`);
  return domain;
}

function emailConstraint(content: Buffer): string {
  const text = textOf(content);
  if (!text.includes('@')) return domainConstraint(content);
  if (!parseMailbox(text)) throw new DerError(`x509: failed to parse rfc822Name constraint ${quote(text)}`);
  return text;
}

function uriConstraint(content: Buffer): string {
  if (isAddress(textOf(content))) throw new DerError('x509: failed to parse URI constraint: cannot be IP address');
  return domainConstraint(content);
}

/** True for an IP address; hostnames have no colon. */
function isAddress(text: string): boolean {
  return text.includes(':') || /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/.test(text);
}

function addressRange(content: Buffer): AddressRange {
  if (content.length !== 8 && content.length !== 32) throw new DerError(`x509: IP constraint contained value of length ${content.length}`);
  const half = content.length / 2;
  const mask = content.subarray(half);
  const bits = [...mask].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  if (!/^1*0*$/.test(bits)) throw new DerError(`x509: IP constraint contained invalid mask ${mask.toString('hex')}`);
  return { address: content.subarray(0, half), mask };
}

/**
 * Returns the error of the first name that violates the constraints; undefined if none does. Without permitted subtrees of its kind, a name
 * may have any value that is not excluded. Upstream: crypto/x509/constraints.go.
 */
export function constraintProblem(constraints: NameConstraints, names: AlternativeNames): string | undefined {
  return (
    firstProblem('IP address', names.addresses, constraints, 'addresses', isInRange, (address) => [...address].join('.')) ??
    dnsProblem(constraints, names.dns) ??
    uriProblem(constraints, names.uris) ??
    emailProblem(constraints, names.emails)
  );
}

/** Returns the error of the first value that no permitted subtree of its kind matches, or that an excluded one matches. */
function firstProblem<V, K extends keyof Subtrees>(
  type: string,
  values: readonly V[],
  { permitted, excluded }: NameConstraints,
  kind: K,
  matches: (value: V, constraint: Subtrees[K][number], isExcluded: boolean) => boolean,
  shown: (value: V) => string,
): string | undefined {
  for (const value of values) {
    if (permitted[kind].length > 0 && !permitted[kind].some((constraint) => matches(value, constraint, false)))
      return `${type} ${JSON.stringify(shown(value))} is not permitted by any constraint`;
    if (excluded[kind].some((constraint) => matches(value, constraint, true)))
      return `${type} ${JSON.stringify(shown(value))} is excluded by a constraint`;
  }
  return undefined;
}

function isInRange(address: Buffer, { address: base, mask }: AddressRange): boolean {
  return address.length === base.length && address.every((byte, at) => ((byte ^ (base[at] ?? 0)) & (mask[at] ?? 0)) === 0);
}

function dnsProblem(constraints: NameConstraints, names: readonly string[]): string | undefined {
  const malformed = names.find((name) => !isValidDomain(name));
  if (malformed !== undefined) return `x509: cannot parse dnsName ${JSON.stringify(malformed)}`;
  return firstProblem('DNS name', names, constraints, 'dns', isBelow, (name) => name);
}

function uriProblem(constraints: NameConstraints, uris: readonly CertificateUri[]): string | undefined {
  const hosts: string[] = [];
  for (const { text, host } of uris) {
    const name = host.endsWith(']') ? host : host.replace(/:\d*$/, '');
    if (name === '') return `URI with empty host (${quote(text)}) cannot be matched against constraints`;
    if (isAddress(name) || name.startsWith('[')) return `URI with IP (${quote(text)}) cannot be matched against constraints`;
    hosts.push(name);
  }
  return firstProblem('URI', hosts, constraints, 'uris', isBelow, (host) => host);
}

function emailProblem(constraints: NameConstraints, emails: readonly string[]): string | undefined {
  const mailboxes: Mailbox[] = [];
  for (const email of emails) {
    const mailbox = parseMailbox(email);
    if (!mailbox) return `cannot parse rfc822Name ${JSON.stringify(email)}`;
    mailboxes.push(mailbox);
  }
  return firstProblem('email address', mailboxes, constraints, 'emails', isMailboxBelow, ({ local, domain }) => `${local}@${domain}`);
}

function isMailboxBelow({ local, domain }: Mailbox, constraint: string, isExcluded: boolean): boolean {
  const exact = constraint.includes('@') ? parseMailbox(constraint) : undefined;
  if (exact) return exact.local === local && exact.domain.toLowerCase() === domain.toLowerCase();
  return isBelow(domain, constraint, isExcluded);
}

/**
 * True if the domain equals the constraint or is below it; `.example.com` matches only domains below. An excluded constraint also matches a
 * wildcard that covers it: `*.example.com` for `a.example.com`.
 */
function isBelow(domain: string, constraint: string, isExcluded: boolean): boolean {
  const name = domain.toLowerCase();
  const suffix = constraint.toLowerCase();
  if (suffix === '' || name === suffix || name.endsWith(suffix.startsWith('.') ? suffix : `.${suffix}`)) return true;
  const parent = suffix.indexOf('.');
  return isExcluded && name.startsWith('*') && parent >= 0 && parent < suffix.length - 1 && name.slice(1) === suffix.slice(parent);
}
