/** Frame sequences of the fuzzer: valid ones, which mutations then modify. */
import { Buffer } from 'node:buffer';
import { block, type Field, flag, frame, none, preface, pseudo, setting, settings, types, uint32 } from '../frames.ts';
import type { Step } from './outcome.ts';

/** Returns an integer from 0 to `below` - 1. */
export type Random = (below: number) => number;

export function pick<T>(random: Random, values: readonly T[]): T {
  return values[random(values.length)] as T;
}

export interface FrameSpec {
  type: number;
  flags: number;
  stream: number;
  payload: Buffer;
  /** Length in the frame header, if it differs from the payload's. */
  length?: number;
}

export interface RequestSpec {
  readonly stream: number;
  fields: Field[];
  /** Chunks of the body; undefined: the headers end the stream. */
  body: Buffer[] | undefined;
  trailers: Field[] | undefined;
  /** True if the stream is not ended. */
  isOpen: boolean;
  /** Frames between the headers and the rest. */
  extra: FrameSpec[];
  /** Encoded header block that replaces `fields`. */
  block?: Buffer;
  /** Properties of the header block: number of frames, bytes of padding (-1: none), and priority. */
  pieces: number;
  padding: number;
  hasPriority: boolean;
}

export interface Script {
  preface: Buffer;
  settings: (readonly [number, number])[];
  /** Connection frames before the requests. */
  before: FrameSpec[];
  requests: RequestSpec[];
  /** Frames after all requests, sent when the expected responses have arrived. */
  after: FrameSpec[];
  /** Modifies the bytes of the requests. */
  distort?: (bytes: Buffer) => Buffer;
  /** True if the frames of the requests are interleaved. */
  isInterleaved: boolean;
}

const bytesOf = ({ type, flags, stream, payload, length }: FrameSpec): Buffer => frame(type, flags, stream, payload, length);

export function spec(type: number, flags: number, stream: number, payload: Buffer = none, length?: number): FrameSpec {
  return { type, flags, stream, payload, ...(length !== undefined && { length }) };
}

/** Returns the frames of a header block. */
export function headerFrames(
  { stream, pieces, padding, hasPriority }: Pick<RequestSpec, 'stream' | 'pieces' | 'padding' | 'hasPriority'>,
  bytes: Buffer,
  endStream: boolean,
): FrameSpec[] {
  const size = Math.max(1, Math.ceil(bytes.length / pieces));
  const frames: FrameSpec[] = [];
  for (let at = 0; at === 0 || at < bytes.length; at += size) {
    const part = bytes.subarray(at, at + size);
    const isLast = at + size >= bytes.length;
    if (at > 0) frames.push(spec(types.continuation, isLast ? flag.endHeaders : 0, stream, part));
    else {
      const isPadded = padding >= 0;
      const payload = Buffer.concat([
        isPadded ? Buffer.from([padding]) : none,
        // No dependency, with the weight 16.
        hasPriority ? Buffer.concat([uint32(0), Buffer.from([15])]) : none,
        part,
        isPadded ? Buffer.alloc(padding) : none,
      ]);
      const flags =
        (isLast ? flag.endHeaders : 0) |
        (endStream ? flag.endStream : 0) |
        (isPadded ? flag.padded : 0) |
        (hasPriority ? flag.priority : 0);
      frames.push(spec(types.headers, flags, stream, payload));
    }
  }
  return frames;
}

/** Returns the frames of a request, in groups that must stay contiguous. */
export function requestFrames(request: RequestSpec): FrameSpec[][] {
  const { stream, fields, body, trailers, isOpen, extra } = request;
  const groups = [headerFrames(request, request.block ?? block(fields), body === undefined && !trailers && !isOpen)];
  groups.push(...extra.map((each) => [each]));
  for (const [i, part] of (body ?? []).entries()) {
    const ends = i === body!.length - 1 && !trailers && !isOpen;
    groups.push([spec(types.data, ends ? flag.endStream : 0, stream, part)]);
  }
  if (trailers) groups.push(headerFrames({ stream, pieces: 1, padding: -1, hasPriority: false }, block(trailers), !isOpen));
  return groups;
}

export function stepsOf(script: Script, random: Random): Step[] {
  const groups = script.requests.map(requestFrames);
  const frames: FrameSpec[] = [];
  if (script.isInterleaved) {
    // Headers are ordered by stream number; a lower number after a higher one is an error.
    for (const group of groups) frames.push(...(group.shift() ?? []));
    while (groups.some((group) => group.length > 0))
      frames.push(
        ...(pick(
          random,
          groups.filter((group) => group.length > 0),
        ).shift() ?? []),
      );
  } else frames.push(...groups.flat(2));
  const first = [script.preface, settings(...script.settings), ...script.before.map(bytesOf)];
  const requests = Buffer.concat(frames.map(bytesOf));
  // The server's limits apply after its settings are acknowledged.
  const steps: Step[] = [
    { bytes: Buffer.concat(first), answers: [] },
    { bytes: script.distort ? script.distort(requests) : requests, answers: answeredOf(script) },
  ];
  return script.after.length === 0 ? steps : [...steps, { bytes: Buffer.concat(script.after.map(bytesOf)), answers: [] }];
}

/** Returns the streams whose responses are certain. */
function answeredOf({ settings: values, requests }: Script): number[] {
  const window = values.find(([name]) => name === setting.initialWindowSize)?.[1] ?? 65_535;
  if (window < smallAnswer) return [];
  const isAnswered = ({ fields, isOpen }: RequestSpec): boolean =>
    !isOpen && fields.some(([name, value]) => name === ':path' && value === '/echo');
  return requests.filter(isAnswered).map(({ stream }) => stream);
}

const smallAnswer = 100;

/** Returns a valid request. The `path` `/hang` is never answered. */
export function newRequest(
  random: Random,
  stream: number,
  path = pick(random, ['/echo', '/echo', '/echo', '/hang', '/early', '/large']),
): RequestSpec {
  const method = path === '/early' ? 'POST' : pick(random, ['GET', 'POST', 'PUT', 'DELETE', 'PATCH']);
  const sizes = Array.from({ length: 1 + random(4) }, () => pick(random, [0, 1, 2, 100, 1_000, 10_000]));
  const hasBody = method !== 'GET' && (path === '/early' || random(4) > 0);
  const body = hasBody ? sizes.map((size) => Buffer.alloc(size, 'b')) : undefined;
  const length = sizes.reduce((sum, size) => sum + size, 0);
  const fields: Field[] = [...pseudo(method, path)];
  const optional: Field[] = [
    ['user-agent', 'fuzz'],
    ['accept', '*/*'],
    ['te', 'trailers'],
    ['cookie', 'a=b'],
    ['cookie', 'c=d'],
    ['x-empty', ''],
    ['x-latin', 'caf\xe9'],
    ['x-tab', 'a\tb'],
    ['x-long', 'v'.repeat(random(2_000))],
  ];
  fields.push(...optional.filter(() => random(4) === 0));
  if (hasBody && random(2) === 0) fields.push(['content-length', String(length)]);
  // Go closes a connection with trailers after an early response.
  const trailers: Field[] | undefined = hasBody && path !== '/early' && random(4) === 0 ? [['x-trailer', 't']] : undefined;
  return {
    ...{ stream, fields, body, trailers, isOpen: false, extra: [] },
    pieces: pick(random, [1, 1, 1, 2, 3, 7]),
    padding: pick(random, [-1, -1, -1, 0, 1, 255]),
    hasPriority: random(4) === 0,
  };
}

/** Returns a frame that is valid and has no effect at any time. */
export function newIdleFrame(random: Random): FrameSpec {
  const values = [
    spec(types.ping, 0, 0, Buffer.alloc(8, 'i')),
    spec(types.windowUpdate, 0, 0, uint32(1 + random(1 << 20))),
    spec(types.priority, 0, 1 + 2 * random(50), Buffer.concat([uint32(0), Buffer.from([random(256)])])),
    spec(0x40 + random(100), random(256), random(3), Buffer.alloc(random(40))),
    spec(types.settings, 0, 0, settings([setting.initialWindowSize, 65_535 + random(10_000)]).subarray(9)),
    spec(types.settings, 0, 0, settings([0x100 + random(1_000), random(1 << 30)]).subarray(9)),
  ];
  return pick(random, values);
}

/** Returns a valid sequence with up to three requests. */
export function newScript(random: Random): Script {
  const window = pick(random, [65_535, 65_535, 1_000_000, 0, 1, 10_000]);
  const stride = pick(random, [2, 2, 2, 4]);
  const requests = Array.from({ length: 1 + random(3) }, (_, i) => newRequest(random, 1 + stride * i));
  const possible = [
    [setting.headerTableSize, pick(random, [0, 100, 4096, 65_536])],
    [setting.enablePush, random(2)],
    [setting.maxConcurrentStreams, random(1_000)],
    [setting.maxFrameSize, pick(random, [16_384, 50_000, 16_777_215])],
    [setting.maxHeaderListSize, 100_000],
  ] as const;
  return {
    preface,
    settings: [[setting.initialWindowSize, window], ...possible.filter(() => random(3) === 0)],
    before: [spec(types.windowUpdate, 0, 0, uint32(1 << 20)), ...Array.from({ length: random(3) }, () => newIdleFrame(random))],
    requests,
    after: Array.from({ length: random(2) }, () => newIdleFrame(random)),
    isInterleaved: random(2) === 0,
  };
}
