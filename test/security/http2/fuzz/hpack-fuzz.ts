/**
 * Differential fuzzing of HPACK (RFC 7541): the own decoder and encoder against those of nghttp2 and
 * golang.org/x/net/http2/hpack.
 */
import { Buffer } from 'node:buffer';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import http2 from 'node:http2';
import { createInterface } from 'node:readline';
import { duplexPair } from 'node:stream';
import { HeaderDecoder } from '#apiserver/serving/http2/header-decoder';
import { HeaderEncoder } from '#apiserver/serving/http2/header-encoder';
import { staticTable } from '#apiserver/serving/http2/static-table';
import { random } from '../../../fault/random.ts';
import { flag, frame, FrameSplitter, hpackInteger, preface, setting, settings, types, uint32 } from '../frames.ts';
import { pick, type Random } from './script.ts';
import { noGo, runGo } from './targets.ts';

type Field = readonly [name: string, value: string];

export interface HpackResult {
  readonly cases: number;
  readonly findings: readonly string[];
}

/** The decoded blocks of a connection, up to the first malformed one. */
interface Decoded {
  readonly blocks: readonly (readonly Field[])[];
  readonly isMalformed: boolean;
  /** Reason of the failure. */
  readonly reason?: string | undefined;
}

class GoDecoder {
  readonly #child: ChildProcess;
  readonly #waiting: ((line: string) => void)[] = [];

  constructor(child: ChildProcess) {
    this.#child = child;
    createInterface(child.stdout!).on('line', (line) => this.#waiting.shift()?.(line));
  }

  async decode(table: number, blocks: readonly Buffer[]): Promise<Decoded> {
    const answer = new Promise<string>((resolve) => this.#waiting.push(resolve));
    this.#child.stdin!.write(`${JSON.stringify({ table, blocks: blocks.map((each) => each.toString('hex')) })}\n`);
    const reply = JSON.parse(await answer) as { readonly blocks: readonly (readonly string[])[]; readonly error?: string };
    const text = (hex: string): string => Buffer.from(hex, 'hex').toString('latin1');
    const fieldsOf = (list: readonly string[]): Field[] =>
      Array.from({ length: list.length / 2 }, (_, i) => [text(list[2 * i]!), text(list[2 * i + 1]!)] as const);
    return { blocks: reply.blocks.map(fieldsOf), isMalformed: reply.error !== undefined, reason: reply.error };
  }
}

function decodeHere(table: number, blocks: readonly Buffer[]): Decoded {
  const decoder = new HeaderDecoder(table);
  const decoded: Field[][] = [];
  try {
    for (const block of blocks) {
      const fields: Field[] = [];
      decoder.decode(block, (name, value) => fields.push([name, value]));
      decoded.push(fields);
    }
    return { blocks: decoded, isMalformed: false };
  } catch (error) {
    if ((error as { code?: number }).code === undefined) throw error;
    return { blocks: decoded, isMalformed: true, reason: (error as Error).message };
  }
}

const letters = 'abcdefghijklmnopqrstuvwxyz0123456789-';
const textOf = (next: Random, length: number, set: string): string => Array.from({ length }, () => set[next(set.length)]).join('');
const octets = Array.from({ length: 256 }, (_, i) => String.fromCharCode(i)).join('');
const printable = octets.slice(0x20, 0x7f);

function newField(next: Random): Field {
  const name = next(3) === 0 ? pick(next, staticTable)[0] : `x-${textOf(next, next(12), letters)}`;
  const length = pick(next, [0, 1, 5, 20, 100, 126, 127, 128, 300, 5_000]);
  return [name, textOf(next, length, pick(next, [printable, printable, octets]))];
}

/** Encodes a block that is usually valid; it may refer to missing entries. */
function encodeAtRandom(next: Random, fields: readonly Field[], known: number): Buffer {
  const text = (value: string): Buffer => Buffer.concat([hpackInteger(0, 0x7f, value.length), Buffer.from(value, 'latin1')]);
  const parts: Buffer[] = [];
  while (next(6) === 0 && parts.length < 3) parts.push(hpackInteger(0x20, 0x1f, pick(next, [0, 64, 1_000, 4_096, 4_097])));
  for (const [name, value] of fields) {
    if (next(3) === 0) parts.push(hpackInteger(0x80, 0x7f, 1 + next(61 + known)));
    const [form, mask] = pick(next, [
      [0x40, 0x3f],
      [0x00, 0x0f],
      [0x10, 0x0f],
    ] as const);
    const index = staticTable.findIndex(([each]) => each === name) + 1;
    const isIndexed = index > 0 && next(2) === 0;
    parts.push(hpackInteger(form, mask, isIndexed ? index : 0), isIndexed ? Buffer.alloc(0) : text(name), text(value));
  }
  return Buffer.concat(parts);
}

function mutate(next: Random, block: Buffer): Buffer {
  if (block.length === 0) return block;
  let out = Buffer.from(block);
  for (let i = next(3); i >= 0; i--) {
    const at = next(out.length);
    const kind = next(4);
    if (kind === 0) out[at] = next(256);
    else if (kind === 1) out[at] = out[at]! ^ (1 << next(8));
    else if (kind === 2) out = Buffer.concat([out.subarray(0, at), Buffer.from([next(256)]), out.subarray(at)]);
    else out = Buffer.from(out.subarray(0, Math.max(1, at)));
  }
  return out;
}

const sameFields = (a: readonly Field[], b: readonly Field[]): boolean => JSON.stringify(a) === JSON.stringify(b);

const described = ({ blocks, isMalformed, reason }: Decoded): string =>
  `${blocks.length} blocks${isMalformed ? `, then malformed (${reason})` : ''}`;

function differenceOf(ours: Decoded, theirs: Decoded): string | undefined {
  const at = ours.blocks.findIndex((fields, i) => !theirs.blocks[i] || !sameFields(fields, theirs.blocks[i]));
  if (ours.isMalformed !== theirs.isMalformed || ours.blocks.length !== theirs.blocks.length)
    return `own: ${described(ours)}; theirs: ${described(theirs)}`;
  return at < 0 ? undefined : `block ${at}: own: ${JSON.stringify(ours.blocks[at])}; theirs: ${JSON.stringify(theirs.blocks[at])}`;
}

/** Decodes response blocks with nghttp2 as a client with the given settings. */
async function decodeByNghttp2(headerTableSize: number, blocksOf: (table: number) => readonly Buffer[]): Promise<Decoded> {
  const [near, far] = duplexPair();
  const splitter = new FrameSplitter();
  const session = http2.connect('http://localhost', {
    createConnection: () => near,
    settings: { headerTableSize, enablePush: false },
    maxHeaderListPairs: 1_000,
  });
  const failed = new Promise<void>((resolve) => session.on('error', () => undefined).on('close', resolve));
  let table = 4_096;
  let isPrefaced = false;
  let asked = 0;
  let wake = (): void => undefined;
  const hasSettings = new Promise<void>((resolve) => {
    far.on('data', (chunk: Buffer) => {
      const bytes = isPrefaced ? chunk : chunk.subarray(preface.length);
      isPrefaced = true;
      for (const each of splitter.push(bytes)) {
        if (each.type === types.headers) {
          asked += 1;
          wake();
        }
        if (each.type !== types.settings || each.flags & flag.ack) continue;
        for (let at = 0; at < each.payload.length; at += 6)
          if (each.payload.readUInt16BE(at) === setting.headerTableSize) table = each.payload.readUInt32BE(at + 2);
        far.write(Buffer.concat([settings(), frame(types.settings, flag.ack, 0), frame(types.windowUpdate, 0, 0, uint32(1 << 20))]));
        resolve();
      }
    });
  });
  const decoded: Field[][] = [];
  await Promise.race([hasSettings, failed]);
  let isMalformed = false;
  void failed.then(() => {
    isMalformed = true;
  });
  for (const [i, block] of blocksOf(table).entries()) {
    const stream = session.request({ ':path': '/' });
    stream.on('error', () => undefined);
    const answered = new Promise<void>((resolve) => {
      stream.on('response', (_headers, _flags, raw) => {
        const list = raw as unknown as readonly string[];
        decoded.push(Array.from({ length: list.length / 2 }, (_, at) => [list[2 * at]!, list[2 * at + 1]!] as const));
        resolve();
      });
      stream.on('close', () => resolve());
    });
    // A response must not precede its request.
    const isAsked = new Promise<void>((resolve) => {
      wake = resolve;
      if (asked > i) resolve();
    });
    await Promise.race([isAsked, failed]);
    far.write(frame(types.headers, flag.endHeaders | flag.endStream, 2 * i + 1, block));
    await Promise.race([answered, failed]);
    if (isMalformed) break;
  }
  session.destroy();
  far.destroy();
  return { blocks: decoded, isMalformed };
}

/** Values that must not be sent: RFC 9113, 8.2.1. */
const unsent = /[^\t\x20-\x7e\x80-\xff]|^[ \t]|[ \t]$/;

/** Checks that peers decode the own encoder's blocks correctly. */
async function encoderCase(next: Random, go: GoDecoder | undefined): Promise<string | undefined> {
  const pool = Array.from({ length: 8 }, () => newField(next))
    .map(([name, value]) => [name.startsWith(':') || name === '' ? 'x-pseudo' : name, value] as const)
    // A complete response fits into one frame.
    .filter(([, value]) => value.length <= 1_000 && !unsent.test(value))
    .filter(([name]) => !/^(connection|transfer-encoding|upgrade|keep-alive|proxy-connection|te|content-length|host)$/.test(name));
  const answers = Array.from({ length: 1 + next(6) }, () => ({
    status: pick(next, [200, 201, 404, 418, 500]),
    fields: Array.from({ length: next(10) }, () => (pool.length > 0 ? pick(next, pool) : (['x-a', 'b'] as const))),
  }));
  const expected = answers.map(({ status, fields }): Field[] => [[':status', String(status)], ...fields]);
  const encode = (table: number): Buffer[] => {
    const encoder = new HeaderEncoder();
    if (table !== 4_096) encoder.resize(table);
    return answers.map(({ status, fields }) => Buffer.from(encoder.encode(status, fields.flat())));
  };
  const table = pick(next, [4_096, 4_096, 0, 100, 1_000, 65_536]);
  const byNghttp2 = await decodeByNghttp2(table, encode);
  const wanted = { blocks: expected, isMalformed: false };
  const difference = differenceOf(wanted, byNghttp2);
  if (difference) return `encoder, table of ${table}, read by nghttp2: ${difference}`;
  const byGo = await go?.decode(Math.max(table, 4_096), encode(table));
  const ofGo = byGo && differenceOf(wanted, byGo);
  return ofGo && `encoder, table of ${table}, read by Go: ${ofGo}`;
}

/** Checks that blocks of nghttp2, which uses Huffman coding and its dynamic table, are decoded correctly. */
async function nghttp2Case(next: Random): Promise<string | undefined> {
  const [near, far] = duplexPair();
  const session = http2.connect('http://localhost', { createConnection: () => near, settings: { enablePush: false } });
  session.on('error', () => undefined);
  const decoder = new HeaderDecoder(4_096);
  const splitter = new FrameSplitter();
  let isPrefaced = false;
  const read: Field[][] = [];
  const parts: Buffer[] = [];
  let wake = (): void => undefined;
  far.on('data', (chunk: Buffer) => {
    const bytes = isPrefaced ? chunk : chunk.subarray(preface.length);
    isPrefaced = true;
    for (const { type, flags, payload } of splitter.push(bytes)) {
      if (type === types.settings && !(flags & flag.ack)) far.write(Buffer.concat([settings(), frame(types.settings, flag.ack, 0)]));
      if (type !== types.headers && type !== types.continuation) continue;
      parts.push(flags & flag.priority && type === types.headers ? payload.subarray(5) : payload);
      if (!(flags & flag.endHeaders)) continue;
      const fields: Field[] = [];
      decoder.decode(Buffer.concat(parts.splice(0)), (name, value) => fields.push([name, value]));
      read.push(fields);
      wake();
    }
  });
  const requests = Array.from({ length: 1 + next(8) }, () =>
    Array.from({ length: next(8) }, () => newField(next)).filter(([name, value]) => name.startsWith('x-') && !unsent.test(value)),
  );
  for (const [i, fields] of requests.entries()) {
    const raw = [':method', 'GET', ':path', '/', ':scheme', 'http', ':authority', 'localhost', ...fields.flat()];
    const stream = session.request(raw as never);
    stream.on('error', () => undefined);
    const isRead = new Promise<void>((resolve) => {
      wake = resolve;
      if (read.length > i) resolve();
    });
    await Promise.race([isRead, once(stream, 'close')]);
    if (read.length <= i) break;
  }
  session.destroy();
  far.destroy();
  const wanted = requests.map((fields): Field[] => [
    [':method', 'GET'],
    [':path', '/'],
    [':scheme', 'http'],
    [':authority', 'localhost'],
    ...fields,
  ]);
  const difference = differenceOf({ blocks: read, isMalformed: false }, { blocks: wanted, isMalformed: false });
  return difference && `decoder, of what nghttp2 writes: ${difference}`;
}

/** Checks that the own decoder agrees with Go's on random and mutated blocks, or both reject them. */
async function decoderCase(next: Random, go: GoDecoder): Promise<string | undefined> {
  const blocks = Array.from({ length: 1 + next(5) }, (_, i) => {
    const block = encodeAtRandom(
      next,
      Array.from({ length: next(6) }, () => newField(next)),
      i * 2,
    );
    return next(3) === 0 ? mutate(next, block) : block;
  });
  const [ours, theirs] = [decodeHere(4_096, blocks), await go.decode(4_096, blocks)];
  // RFC 7541, 4.2: table updates are at the beginning of a block, two at most. Go refuses a second one, and takes those in the middle while
  // the table is empty.
  if ([ours, theirs].some(({ reason }) => reason && /size update within a block|table size update MUST/.test(reason))) return undefined;
  const difference = differenceOf(ours, theirs);
  return difference && `decoder: ${difference}; blocks ${blocks.map((each) => each.toString('hex')).join(' ')}`;
}

export async function fuzzHpack({
  seed,
  seconds,
  most = 20,
}: {
  readonly seed: number;
  readonly seconds: number;
  readonly most?: number;
}): Promise<HpackResult> {
  await using stack = new AsyncDisposableStack();
  const go = noGo() ? undefined : new GoDecoder(await runGo('hpack', stack));
  const ends = performance.now() + seconds * 1_000;
  const findings: string[] = [];
  let cases = 0;
  const work = async (): Promise<void> => {
    while (performance.now() < ends && findings.length < most) {
      const number = cases++;
      const next = random(seed * 1_000_003 + number);
      const kind = number % 8;
      const found = await (kind === 0 ? encoderCase(next, go) : kind === 1 ? nghttp2Case(next) : go && decoderCase(next, go));
      if (found) findings.push(`seed ${seed}, case ${number}: ${found}`);
    }
  };
  await Promise.all(Array.from({ length: 16 }, work));
  return { cases, findings };
}
