import type { Buffer } from 'node:buffer';
import { bitAt, contextTag, DerError, DerReader, tags } from './der-reader.ts';
import { type AlternativeNames, parseAlternativeNames } from './general-names.ts';
import { type NameConstraints, parseNameConstraints } from './name-constraints.ts';

/** An encoded extension. */
export interface Extension {
  /** Object identifier in dotted form. */
  readonly id: string;
  readonly isCritical: boolean;
  readonly value: Buffer;
}

/** Parsed extensions of a certificate; empty values for absent ones. */
export interface CertificateExtensions {
  readonly basicConstraints: BasicConstraints | undefined;
  /** undefined if the certificate has no key usage extension. */
  readonly maySignCertificates: boolean | undefined;
  /** Object identifiers in dotted form. */
  readonly extendedKeyUsages: readonly string[];
  readonly subjectKeyId: Buffer | undefined;
  readonly authorityKeyId: Buffer | undefined;
  readonly alternativeNames: AlternativeNames | undefined;
  /** The encoded value of `alternativeNames`. */
  readonly alternativeNamesValue: Buffer | undefined;
  readonly nameConstraints: NameConstraints | undefined;
  readonly policies: readonly string[];
  readonly policyMappings: readonly PolicyMapping[];
  readonly requireExplicitPolicy: number | undefined;
  readonly inhibitPolicyMapping: number | undefined;
  readonly inhibitAnyPolicy: number | undefined;
  /** True for an unknown critical extension: the certificate must not be used. */
  readonly hasUnhandledCritical: boolean;
}

export interface BasicConstraints {
  readonly isAuthority: boolean;
  /** Maximum number of subordinate authorities; undefined for no limit. */
  readonly maxPathLength: number | undefined;
}

/** A mapping of an issuer's policy to one of the subject. Encoded object identifiers in hex. */
export interface PolicyMapping {
  readonly issuer: string;
  readonly subject: string;
}

type Writable = { -readonly [K in keyof CertificateExtensions]: CertificateExtensions[K] };
/** Parses the value of an extension; returns false for unknown content. */
type Handler = (value: Buffer, into: Writable, isCritical: boolean) => unknown;

const keyCertSignBit = 5;
const keyUsageBits = 9;

/** Parsers of extensions by object identifier. Upstream: crypto/x509/parser.go (processExtensions). */
const handlers: ReadonlyMap<string, Handler> = new Map<string, Handler>([
  ['2.5.29.15', readKeyUsage],
  ['2.5.29.19', readBasicConstraints],
  ['2.5.29.17', readAlternativeNames],
  ['2.5.29.30', readNameConstraints],
  ['2.5.29.31', readDistributionPoints],
  ['2.5.29.35', readAuthorityKeyId],
  ['2.5.29.36', readPolicyConstraints],
  ['2.5.29.37', readExtendedKeyUsage],
  ['2.5.29.14', readSubjectKeyId],
  ['2.5.29.32', readPolicies],
  ['2.5.29.33', readPolicyMappings],
  ['2.5.29.54', readInhibitAnyPolicy],
  ['1.3.6.1.5.5.7.1.1', readAuthorityInfoAccess],
]);

/** Parses the extensions of a certificate; `reader` is undefined if there are none. */
export function parseExtensions(reader: DerReader | undefined): CertificateExtensions {
  const into: Writable = {
    basicConstraints: undefined,
    maySignCertificates: undefined,
    extendedKeyUsages: [],
    subjectKeyId: undefined,
    authorityKeyId: undefined,
    alternativeNames: undefined,
    alternativeNamesValue: undefined,
    nameConstraints: undefined,
    policies: [],
    policyMappings: [],
    requireExplicitPolicy: undefined,
    inhibitPolicyMapping: undefined,
    inhibitAnyPolicy: undefined,
    hasUnhandledCritical: false,
  };
  for (const { id, isCritical, value } of readExtensionList(reader)) {
    const handler = handlers.get(id);
    const isHandled = handler !== undefined && handler(value, into, isCritical) !== false;
    if (isCritical && !isHandled) into.hasUnhandledCritical = true;
  }
  return into;
}

/** Parses a list of extensions, in which each may occur once. */
export function readExtensionList(reader: DerReader | undefined): Extension[] {
  const extensions = new Map<string, Extension>();
  while (reader && !reader.isEmpty) {
    const fields = reader.inside(tags.sequence, 'x509: malformed extension');
    const id = fields.objectIdentifier('x509: malformed extension OID field');
    const isCritical = fields.nextTag === tags.boolean && fields.boolean('x509: malformed extension critical field');
    const value = fields.element('x509: malformed extension value field', tags.octetString).content;
    if (extensions.has(id)) throw new DerError(`x509: certificate contains duplicate extension with OID "${id}"`);
    extensions.set(id, { id, isCritical, value });
  }
  return [...extensions.values()];
}

function sequenceIn(value: Buffer, problem: string): DerReader {
  return new DerReader(value).inside(tags.sequence, problem);
}

function readKeyUsage(value: Buffer, into: Writable): void {
  const usages = new DerReader(value).bitString('x509: invalid key usage');
  const isRestricted = Array.from({ length: keyUsageBits }, (_, bit) => bitAt(usages, bit)).includes(true);
  if (isRestricted) into.maySignCertificates = bitAt(usages, keyCertSignBit);
}

function readBasicConstraints(value: Buffer, into: Writable): void {
  const problem = 'x509: invalid basic constraints';
  const fields = sequenceIn(value, problem);
  const isAuthority = fields.nextTag === tags.boolean && fields.boolean(problem);
  into.basicConstraints = { isAuthority, maxPathLength: fields.nextTag === tags.integer ? count(fields, problem) : undefined };
}

/** Reads a non-negative number of certificates. */
function count(fields: DerReader, problem: string, tag?: number): number {
  const value = fields.integer(problem, tag);
  if (value < 0n || value >= 2n ** 63n) throw new DerError(problem);
  return Number(value);
}

function readAlternativeNames(value: Buffer, into: Writable): boolean {
  const names = parseAlternativeNames(value);
  into.alternativeNames = names;
  into.alternativeNamesValue = value;
  return names.dns.length + names.emails.length + names.addresses.length + names.uris.length > 0;
}

function readNameConstraints(value: Buffer, into: Writable): boolean {
  into.nameConstraints = parseNameConstraints(value);
  return !into.nameConstraints.hasUnknownKind;
}

/** Checks only the encoding: revocation lists are not fetched. */
function readDistributionPoints(value: Buffer): void {
  const problem = 'x509: invalid CRL distribution point';
  for (const points = sequenceIn(value, 'x509: invalid CRL distribution points'); !points.isEmpty; ) {
    const point = points.inside(tags.sequence, problem);
    point.insideOptional(contextTag(0, 'constructed'), problem)?.inside(contextTag(0, 'constructed'), problem);
  }
}

function readAuthorityKeyId(value: Buffer, into: Writable, isCritical: boolean): void {
  const problem = 'x509: invalid authority key identifier';
  if (isCritical) throw new DerError('x509: authority key identifier incorrectly marked critical');
  const fields = sequenceIn(value, problem);
  if (fields.nextTag === contextTag(0)) into.authorityKeyId = fields.element(problem).content;
}

function readPolicyConstraints(value: Buffer, into: Writable): void {
  const problem = 'x509: invalid policy constraints extension';
  const fields = sequenceIn(value, problem);
  if (fields.nextTag === contextTag(0)) into.requireExplicitPolicy = count(fields, problem, contextTag(0));
  if (fields.nextTag === contextTag(1)) into.inhibitPolicyMapping = count(fields, problem, contextTag(1));
}

function readExtendedKeyUsage(value: Buffer, into: Writable): void {
  const problem = 'x509: invalid extended key usages';
  const usages: string[] = [];
  for (const reader = sequenceIn(value, problem); !reader.isEmpty; ) usages.push(reader.objectIdentifier(problem));
  into.extendedKeyUsages = usages;
}

function readSubjectKeyId(value: Buffer, into: Writable, isCritical: boolean): void {
  if (isCritical) throw new DerError('x509: subject key identifier incorrectly marked critical');
  into.subjectKeyId = new DerReader(value).element('x509: invalid subject key identifier', tags.octetString).content;
}

function readPolicies(value: Buffer, into: Writable): void {
  const problem = 'x509: invalid certificate policies';
  const policies = new Set<string>();
  for (const reader = sequenceIn(value, problem); !reader.isEmpty; ) {
    const policy = identifierBytes(reader.inside(tags.sequence, problem), problem);
    if (policies.has(policy)) throw new DerError(problem);
    policies.add(policy);
  }
  into.policies = [...policies];
}

function identifierBytes(reader: DerReader, problem: string): string {
  return reader.element(problem, tags.objectIdentifier).content.toString('hex');
}

function readPolicyMappings(value: Buffer, into: Writable): void {
  const problem = 'x509: invalid policy mappings extension';
  const mappings: PolicyMapping[] = [];
  for (const reader = sequenceIn(value, problem); !reader.isEmpty; ) {
    const mapping = reader.inside(tags.sequence, problem);
    mappings.push({ issuer: identifierBytes(mapping, problem), subject: identifierBytes(mapping, problem) });
  }
  into.policyMappings = mappings;
}

function readInhibitAnyPolicy(value: Buffer, into: Writable): void {
  into.inhibitAnyPolicy = count(new DerReader(value), 'x509: invalid inhibit any policy extension');
}

/** Checks only the encoding: nothing is fetched. */
function readAuthorityInfoAccess(value: Buffer, _into: Writable, isCritical: boolean): void {
  const problem = 'x509: invalid authority info access';
  if (isCritical) throw new DerError('x509: authority info access incorrectly marked critical');
  for (const reader = sequenceIn(value, problem); !reader.isEmpty; ) reader.inside(tags.sequence, problem).objectIdentifier(problem);
}
