import type { Buffer } from 'node:buffer';
import { DerError, type DerElement, DerReader, tags } from './der-reader.ts';

/** An attribute of a name: its type in dotted form, and its value. */
export interface NameAttribute {
  readonly type: string;
  readonly value: string;
}

const attributeTypes = { commonName: '2.5.4.3', organization: '2.5.4.10' } as const;

/** A distinguished name. Names are compared by their encoding. */
export class DistinguishedName {
  readonly der: Buffer;
  /** All attributes in encoding order. */
  readonly attributes: readonly NameAttribute[];

  constructor(der: Buffer, attributes: readonly NameAttribute[]) {
    this.der = der;
    this.attributes = attributes;
  }

  /** The last common name; empty if there is none. Upstream: crypto/x509/pkix (FillFromRDNSequence). */
  get commonName(): string {
    return this.values(attributeTypes.commonName).at(-1) ?? '';
  }

  get organizations(): readonly string[] {
    return this.values(attributeTypes.organization);
  }

  /** Returns the values of a type of attribute. */
  values(type: string): string[] {
    return this.attributes.filter((attribute) => attribute.type === type).map(({ value }) => value);
  }
}

/**
 * Parses a name. Values in certificates must be strings; other values in requests are left out. Upstream: crypto/x509/parser.go
 * (parseName), encoding/asn1 (parseField).
 */
export function parseName({ whole, content }: DerElement, { allowsOtherValues = false } = {}): DistinguishedName {
  const problem = 'x509: invalid RDNSequence';
  const attributes: NameAttribute[] = [];
  for (const sets = new DerReader(content); !sets.isEmpty; ) {
    for (const set = sets.inside(tags.set, problem); !set.isEmpty; ) {
      const attribute = set.inside(tags.sequence, `${problem}: invalid attribute`);
      const type = attribute.objectIdentifier(`${problem}: invalid attribute type`);
      const value = attribute.element(`${problem}: invalid attribute value`);
      if (allowsOtherValues && !textTags.has(value.tag)) continue;
      attributes.push({ type, value: text(value, `${problem}: invalid attribute value`) });
    }
  }
  return new DistinguishedName(whole, attributes);
}

const printable = /^[a-zA-Z0-9'()+,\-./ :=?*&]*$/;
const readers: ReadonlyMap<number, (content: Buffer) => string | undefined> = new Map([
  [tags.t61String, (content) => content.toString('latin1')],
  [tags.printableString, (content) => matching(content, printable)],
  [tags.numericString, (content) => matching(content, /^[0-9 ]*$/)],
  [tags.ia5String, ascii],
  [tags.utf8String, utf8],
  [tags.bmpString, bmp],
]);
const textTags: ReadonlySet<number> = new Set(readers.keys());

function text({ tag, content }: DerElement, problem: string): string {
  const value = readers.get(tag)?.(content);
  if (value === undefined) throw new DerError(problem);
  return value;
}

function matching(content: Buffer, pattern: RegExp): string | undefined {
  const value = content.toString('latin1');
  return pattern.test(value) && !value.endsWith('\n') ? value : undefined;
}

/** Decodes an IA5String; undefined for bytes above 127. */
export function ascii(content: Buffer): string | undefined {
  return content.every((byte) => byte < 0x80) ? content.toString('latin1') : undefined;
}

const utf8Decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function utf8(content: Buffer): string | undefined {
  try {
    return utf8Decoder.decode(content);
  } catch {
    return undefined;
  }
}

/** Decodes a BMPString: characters of two bytes, an optional trailing zero, without surrogates and noncharacters. */
function bmp(content: Buffer): string | undefined {
  if (content.length % 2 !== 0) return undefined;
  const units = Array.from({ length: content.length / 2 }, (_, at) => content.readUInt16BE(2 * at));
  if (units.at(-1) === 0) units.pop();
  const isReserved = (unit: number): boolean => unit >= 0xfffe || (unit >= 0xfdd0 && unit <= 0xfdef) || (unit >= 0xd800 && unit <= 0xdfff);
  return units.some(isReserved) ? undefined : String.fromCharCode(...units);
}
