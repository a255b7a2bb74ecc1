import { Buffer } from 'node:buffer';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { integer, nested, text } from '#apimachinery/runtime/protobuf/protobuf-parts';

/** A function at a source location, as in V8's profiles; line numbers start at 0. */
export interface Frame {
  readonly functionName: string;
  readonly url: string;
  readonly lineNumber: number;
}

export interface ValueType {
  readonly type: string;
  readonly unit: string;
}

/** Attributes of a whole profile. Times are milliseconds and nanoseconds. */
export interface ProfileHeader {
  readonly startedAt: number;
  readonly durationNanoseconds: number;
  readonly periodType: ValueType;
  readonly period: number;
}

const compress = promisify(gzip);

/** Builds the profile message that `go tool pprof` reads. Upstream: google/pprof/proto/profile.proto. */
export class PprofBuilder {
  readonly #strings = new Map<string, number>([['', 0]]);
  readonly #parts: Buffer[];

  /** `valueTypes` are the types of each sample's values, in order. */
  constructor(valueTypes: readonly ValueType[]) {
    this.#parts = valueTypes.map((one) => this.#valueType(1, one));
  }

  /** Adds a location with a function of its own. `id` is above 0. */
  addFrame(id: number, { functionName, url, lineNumber }: Frame): void {
    const name = this.#index(functionName || '(anonymous)');
    const line = Math.max(0, lineNumber + 1);
    this.#parts.push(nested(4, [integer(1, id), nested(4, [integer(1, id), integer(2, line)])]));
    this.#parts.push(nested(5, [integer(1, id), integer(2, name), integer(3, name), integer(4, this.#index(url)), integer(5, line)]));
  }

  /** Adds a sample. `stack` contains the ids of locations, the innermost first. */
  addSample(stack: readonly number[], values: readonly number[]): void {
    this.#parts.push(nested(2, [...stack.map((id) => integer(1, id)), ...values.map((value) => integer(2, value))]));
  }

  /** Resolves to the gzipped message. */
  finish({ startedAt, durationNanoseconds, periodType, period }: ProfileHeader): Promise<Buffer> {
    const times = [integer(9, startedAt * 1_000_000), integer(10, Math.max(0, durationNanoseconds))];
    const parts = [...this.#parts, ...times, this.#valueType(11, periodType), integer(12, period)];
    for (const value of this.#strings.keys()) parts.push(text(6, value));
    return compress(Buffer.concat(parts));
  }

  #valueType(field: number, { type, unit }: ValueType): Buffer {
    return nested(field, [integer(1, this.#index(type)), integer(2, this.#index(unit))]);
  }

  #index(value: string): number {
    let at = this.#strings.get(value);
    if (at === undefined) this.#strings.set(value, (at = this.#strings.size));
    return at;
  }
}
