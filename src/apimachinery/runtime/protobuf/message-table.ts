import { Buffer } from 'node:buffer';
import {
  enterPart,
  hasMore,
  leavePart,
  readBytes,
  readFixed64,
  readInt64,
  readString,
  readVarint,
  skipValue,
  startReading,
  startWriting,
  takeWritten,
  Wire,
  writeFixed64,
  writeInteger,
  writeRaw,
  writeString,
  writeVarint,
  writtenBytes,
} from './protobuf-wire.ts';

const varint = Wire.Varint;
const lengthDelimited = Wire.Length;

/** One field of a message: absent values read as `zero`, and `zero` is not encoded. */
export interface Field<T> {
  readonly number: number;
  readonly wire: number;
  readonly zero: T;
  write(value: T): void;
  /** Reads a value; `before` is the value of previous occurrences. */
  read(before: T): T;
}
type Fields = Readonly<Record<string, Field<unknown>>>;
/** A decoded message, in which each field is present. */
export type Values<F> = { readonly [K in keyof F]: F[K] extends Field<infer T> ? T : never };

export const int64 = (number: number): Field<number> => ({
  number,
  wire: varint,
  zero: 0,
  write: writeInteger,
  read: () => Number(readInt64()),
});
/** An int64 that may be an unsafe integer, such as the id of a lease. */
export const exactInt64 = (number: number): Field<number | bigint> => ({
  number,
  wire: varint,
  zero: 0,
  write: writeInteger,
  read: readInt64,
});
/** An int64 in a oneof, where zero is encoded too. */
export const oneofInt64 = (number: number): Field<number | undefined> =>
  ({ ...int64(number), zero: undefined }) as Field<number | undefined>;
export const fixed64 = (number: number): Field<bigint> => ({
  number,
  wire: Wire.Fixed64,
  zero: 0n,
  write: writeFixed64,
  read: readFixed64,
});
export const bool = (number: number): Field<boolean> => ({
  number,
  wire: varint,
  zero: false,
  write: (value) => writeVarint(value ? 1 : 0),
  read: () => readVarint() !== 0,
});
export const string = (number: number): Field<string> => ({
  number,
  wire: lengthDelimited,
  zero: '',
  write: writeString,
  read: readString,
});
export const strings = (number: number): Field<readonly string[]> => ({
  number,
  wire: lengthDelimited,
  zero: [],
  write(values) {
    for (let i = values.length - 1; i >= 0; i--) {
      writeString(values[i]!);
      if (i > 0) writeVarint(number * 8 + lengthDelimited);
    }
  },
  read: (before) => [...before, readString()],
});
/** A bytes field; reading copies it, since it outlives the message. */
export const bytes = (number: number): Field<Buffer> => ({
  number,
  wire: lengthDelimited,
  zero: Buffer.alloc(0),
  write(value) {
    writeRaw(value);
    writeVarint(value.length);
  },
  read: () => Buffer.from(readBytes()),
});
export const nested = <F extends Fields>(number: number, message: Message<F>): Field<Partial<Values<F>> | undefined> => ({
  number,
  wire: lengthDelimited,
  zero: undefined,
  write: (value) => message.writePart(value as Partial<Values<F>>),
  read: () => message.readPart(),
});
export const repeated = <F extends Fields>(number: number, message: Message<F>): Field<readonly Values<F>[]> => ({
  number,
  wire: lengthDelimited,
  zero: [],
  write(values) {
    for (let i = values.length - 1; i >= 0; i--) {
      message.writePart(values[i] as Values<F>);
      if (i > 0) writeVarint(number * 8 + lengthDelimited);
    }
  },
  read(before) {
    const values = before.length === 0 ? [] : (before as Values<F>[]);
    values.push(message.readPart());
    return values;
  },
});

/** The binary form of a protobuf message, defined by a table of its fields. */
export class Message<F extends Fields> {
  readonly #zero: Values<F>;
  /** Fields from last to first, the order in which the wire is written. */
  readonly #written: readonly (readonly [name: string, field: Field<unknown>])[];
  readonly #byNumber: (readonly [name: string, field: Field<unknown>])[] = [];

  constructor(fields: F) {
    this.#written = Object.entries(fields).sort(([, a], [, b]) => b.number - a.number);
    for (const entry of this.#written) this.#byNumber[entry[1].number] = entry;
    this.#zero = Object.fromEntries(this.#written.map(([name, { zero }]) => [name, zero])) as Values<F>;
  }

  encode(values: Partial<Values<F>>): Buffer {
    startWriting();
    this.#write(values);
    return takeWritten();
  }

  /** Decodes a message. Throws DecodeError for malformed input. */
  decode(message: Buffer): Values<F> {
    startReading(message);
    return this.#read();
  }

  writePart(values: Partial<Values<F>>): void {
    const before = writtenBytes();
    this.#write(values);
    writeVarint(writtenBytes() - before);
  }

  readPart(): Values<F> {
    const outer = enterPart();
    const values = this.#read();
    leavePart(outer);
    return values;
  }

  #write(values: Partial<Values<F>>): void {
    for (const [name, { number, wire, zero, write }] of this.#written) {
      const value = values[name as keyof F];
      if (value === undefined || value === zero || (Array.isArray(value) && value.length === 0)) continue;
      write(value);
      writeVarint(number * 8 + wire);
    }
  }

  #read(): Values<F> {
    const values: Record<string, unknown> = { ...this.#zero };
    while (hasMore()) {
      const tag = readVarint();
      const known = this.#byNumber[Math.floor(tag / 8)];
      if (known?.[1].wire === (tag & 7)) values[known[0]] = known[1].read(values[known[0]]);
      else skipValue(tag & 7);
    }
    return values as Values<F>;
  }
}
