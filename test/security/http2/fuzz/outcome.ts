/** Runs a sequence of frames against a server and determines the outcome. */
import { Buffer } from 'node:buffer';
import { connect, type Socket } from 'node:net';
import { HeaderDecoder } from '#apiserver/serving/http2/header-decoder';
import { flag, frame, FrameSplitter, types } from '../frames.ts';
import type { Target } from './targets.ts';

export interface Step {
  readonly bytes: Buffer;
  /** Streams whose responses must be complete before the next step. */
  readonly answers: readonly number[];
}

/**
 * Outcome of a stream: `answer 2xx` is complete, `partial 2xx` is not; `reset` came before the end; `none` without any data.
 * Outcome of the connection: `error` if it ended with an error code or without GOAWAY, `closed` if it ended with GOAWAY of
 * NO_ERROR, `waiting` if the server waits for the rest of a frame, `open` if it continues.
 */
export interface Outcome {
  readonly connection: 'open' | 'waiting' | 'closed' | 'error';
  /** Code of GOAWAY, or `end` without one. */
  readonly reason: string;
  readonly streams: Readonly<Record<number, string>>;
  /** Codes of resets, which are not compared. */
  readonly codes: Readonly<Record<number, number>>;
}

const codeNames =
  `NO_ERROR PROTOCOL_ERROR INTERNAL_ERROR FLOW_CONTROL_ERROR SETTINGS_TIMEOUT STREAM_CLOSED FRAME_SIZE_ERROR REFUSED_STREAM CANCEL
  COMPRESSION_ERROR CONNECT_ERROR ENHANCE_YOUR_CALM`.split(/\s+/);

class Player {
  readonly #socket: Socket;
  readonly #decoder = new HeaderDecoder(4096);
  readonly #splitter = new FrameSplitter();
  readonly #statuses = new Map<number, string>();
  readonly #ended = new Set<number>();
  readonly #resets = new Map<number, number>();
  #goAway: number | undefined;
  #acks = 0;
  #asked = 0;
  #isClosed = false;
  #lastAt = performance.now();
  #changed = (): void => undefined;

  constructor(port: number) {
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true });
    this.#socket.on('error', () => undefined);
    this.#socket.on('data', (chunk: Buffer) => {
      for (const each of this.#splitter.push(chunk)) this.#onFrame(each.type, each.flags, each.stream, each.payload);
      this.#lastAt = performance.now();
      this.#changed();
    });
    this.#socket.on('close', () => {
      this.#isClosed = true;
      this.#changed();
    });
  }

  #onFrame(type: number, flags: number, stream: number, payload: Buffer): void {
    if (type === types.settings && !(flags & flag.ack)) this.send(frame(types.settings, flag.ack, 0));
    else if (type === types.ping && flags & flag.ack && payload.equals(pingPayload)) this.#acks += 1;
    else if (type === types.goAway) this.#goAway ??= payload.readUInt32BE(4);
    else if (type === types.resetStream && !this.#ended.has(stream)) this.#resets.set(stream, payload.readUInt32BE());
    else if (type === types.headers) {
      this.#decoder.decode(payload, (name, value) => {
        if (name === ':status' && !value.startsWith('1')) this.#statuses.set(stream, value);
      });
    }
    if ((type === types.headers || type === types.data) && flags & flag.endStream && !this.#resets.has(stream)) this.#ended.add(stream);
  }

  get #isOver(): boolean {
    return this.#isClosed || (this.#goAway !== undefined && this.#goAway !== 0);
  }

  send(bytes: Buffer): void {
    if (!this.#isClosed && this.#socket.writable) this.#socket.write(bytes);
  }

  /** Sends a step and waits until the server has processed it: its PING is answered, and nothing has arrived for `quietMs`. */
  async play({ bytes, answers }: Step, quietMs: number, mostMs: number): Promise<void> {
    this.#asked += 1;
    const acks = this.#asked;
    this.send(bytes);
    this.send(pingFrame);
    const began = performance.now();
    const isDone = (stream: number): boolean => this.#ended.has(stream) || this.#resets.has(stream);
    for (;;) {
      const now = performance.now();
      if (this.#isOver || now - began > mostMs) return;
      const isRead = this.#acks >= acks && answers.every(isDone);
      const quiet = now - Math.max(this.#lastAt, began);
      if (isRead && quiet >= quietMs) return;
      // A server that answers neither will send nothing more.
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, isRead ? quietMs - quiet + 1 : mostMs);
        this.#changed = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  outcome(streams: readonly number[]): Outcome {
    const isError = this.#isOver && this.#goAway !== 0;
    return {
      connection: isError ? 'error' : this.#goAway === 0 ? 'closed' : this.#acks < this.#asked ? 'waiting' : 'open',
      reason: this.#goAway === undefined ? (this.#isClosed ? 'end' : '') : (codeNames[this.#goAway] ?? String(this.#goAway)),
      streams: isError ? {} : Object.fromEntries(streams.map((stream) => [stream, this.#classOf(stream)])),
      codes: Object.fromEntries(this.#resets),
    };
  }

  #classOf(stream: number): string {
    const status = this.#statuses.get(stream);
    if (this.#ended.has(stream)) return `answer ${status?.[0]}xx`;
    if (this.#resets.has(stream)) return 'reset';
    return status === undefined ? 'none' : `partial ${status[0]}xx`;
  }

  destroy(): void {
    this.#socket.destroy();
  }
}

const pingPayload = Buffer.alloc(8, 'p');
const pingFrame = frame(types.ping, 0, 0, pingPayload);

export interface Patience {
  /** Milliseconds after the last frame of the server. */
  readonly quietMs: number;
  /** Timeout of each step. */
  readonly mostMs: number;
}

/** `streams` lists the streams whose outcomes are returned. */
export async function play(
  target: Target,
  steps: readonly Step[],
  streams: readonly number[],
  { quietMs, mostMs }: Patience,
): Promise<Outcome> {
  const player = new Player(target.port);
  try {
    for (const step of steps) await player.play(step, quietMs, mostMs);
    return player.outcome(streams);
  } finally {
    player.destroy();
  }
}
