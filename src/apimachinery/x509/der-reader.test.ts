import { Buffer } from 'node:buffer';
import { describe, expect, it } from 'vitest';
import { DerError, DerReader, rightAligned, tags } from './der-reader.ts';
import { bitString, element, integer, objectIdentifier, sequence, time, utf8String } from './der-writer.ts';
import { parseName } from './distinguished-name.ts';

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex');
const reader = (bytes: Buffer): DerReader => new DerReader(bytes);

describe('elements', () => {
  it.each([
    ['nothing', ''],
    ['a tag alone', '30'],
    ['a two-byte tag', '3f 01 00'],
    ['an indefinite length', '30 80 00 00'],
    ['a non-minimal length', '04 81 01 00'],
    ['a length with a leading zero', `04 82 00 80 ${'00'.repeat(128)}`],
    ['a length of five bytes', '04 85 00 00 00 00 01 00'],
    ['content shorter than the length', '04 02 00'],
    ['a length above 2^31', '04 84 ff ff ff ff 00'],
  ])('rejects %s', (_name, bytes) => {
    expect(() => reader(hex(bytes)).element('no element')).toThrow(DerError);
  });

  it('round-trips elements of any length', () => {
    for (const length of [0, 1, 127, 128, 255, 256, 65_535, 65_536]) {
      const content = Buffer.alloc(length, 7);
      const read = reader(element(tags.octetString, content)).element('no element', tags.octetString);
      expect(read.content.equals(content)).toBe(true);
    }
  });

  it.each([0, 1, 127, 128, 255, 256, 2 ** 40])('round-trips the number %d', (value) => {
    expect(reader(integer(value)).integer('no number')).toBe(BigInt(value));
  });

  it.each([
    ['an empty number', '02 00', undefined],
    ['a number with a leading zero', '02 02 00 7f', undefined],
    ['a non-minimal negative number', '02 02 ff 80', undefined],
    ['-1', '02 01 ff', -1n],
    ['-32767', '02 02 80 01', -32_767n],
  ])('reads %s', (_name, bytes, value) => {
    const read = (): bigint => reader(hex(bytes)).integer('no number');
    if (value === undefined) expect(read).toThrow(DerError);
    else expect(read()).toBe(value);
  });

  it.each(['1.2.840.113549.1.1.11', '2.5.29.17', '0.9.2342', '2.999.3'])('round-trips the identifier %s', (id) => {
    expect(reader(objectIdentifier(id)).objectIdentifier('no identifier')).toBe(id);
  });

  it.each(['06 00', '06 01 80', '06 02 2a 80', '06 06 2a ff ff ff ff 7f'])('rejects the identifier %s', (bytes) => {
    expect(() => reader(hex(bytes)).objectIdentifier('no identifier')).toThrow(DerError);
  });

  it('shifts unused bits out, and rejects those that are set', () => {
    expect(rightAligned(reader(bitString(Buffer.of(0x12, 0x30), 4)).bitString('no bits'))).toEqual(Buffer.of(0x01, 0x23));
    expect(() => reader(bitString(Buffer.of(1), 1)).bitString('no bits')).toThrow(DerError);
    expect(() => reader(hex('03 01 01')).bitString('no bits')).toThrow(DerError);
  });
});

describe('times', () => {
  const read = (tag: number, text: string): number => reader(element(tag, Buffer.from(text))).time('no time');
  it.each([
    [tags.utcTime, '260102030405Z', '2026-01-02T03:04:05Z'],
    [tags.utcTime, '2601020304Z', '2026-01-02T03:04:00Z'],
    [tags.utcTime, '500101000000Z', '1950-01-01T00:00:00Z'],
    [tags.utcTime, '491231235959Z', '2049-12-31T23:59:59Z'],
    [tags.utcTime, '260102030405+0130', '2026-01-02T01:34:05Z'],
    [tags.generalizedTime, '20500102030405Z', '2050-01-02T03:04:05Z'],
  ])('reads %d %s', (tag, text, want) => {
    expect(read(tag, text)).toBe(Date.parse(want));
  });

  it.each([
    [tags.utcTime, '261302030405Z'],
    [tags.utcTime, '260230030405Z'],
    [tags.utcTime, '260102240405Z'],
    [tags.utcTime, '260102030405+0000'],
    [tags.utcTime, '20260102030405Z'],
    [tags.generalizedTime, '20260102030405.5Z'],
    [tags.generalizedTime, '260102030405Z'],
    [tags.octetString, '260102030405Z'],
  ])('rejects %d %s', (tag, text) => {
    expect(() => read(tag, text)).toThrow(DerError);
  });

  it('round-trips', () => {
    for (const date of [new Date('2049-12-31T23:59:59Z'), new Date('2050-01-01T00:00:00Z')])
      expect(reader(time(date)).time('no time')).toBe(date.getTime());
  });
});

describe('names', () => {
  const nameOf = (value: Buffer): Buffer => sequence(element(tags.set, sequence(objectIdentifier('2.5.4.3'), value)));
  const read = (value: Buffer, options = {}): string => parseName(reader(nameOf(value)).element('no name'), options).commonName;

  it.each([
    ['malformed UTF-8', element(tags.utf8String, Buffer.of(0xc3, 0x28))],
    ['a BMPString with a surrogate', element(tags.bmpString, hex('d83e dd8a'))],
    ['a BMPString of three bytes', element(tags.bmpString, hex('00 6a 00'))],
    ['a PrintableString with an @', element(tags.printableString, Buffer.from('a@b'))],
    ['an IA5String beyond ASCII', element(tags.ia5String, Buffer.of(0xe4))],
    ['a number', integer(1)],
  ])('rejects %s', (_name, value) => {
    expect(() => read(value)).toThrow(DerError);
  });

  it('skips values of a request that are not strings, like Go', () => {
    expect(read(integer(1), { allowsOtherValues: true })).toBe('');
    expect(read(utf8String('jane'), { allowsOtherValues: true })).toBe('jane');
  });
});
