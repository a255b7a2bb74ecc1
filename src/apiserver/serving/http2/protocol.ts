/** Types of frames: RFC 9113, 6. */
export const frameTypes = {
  data: 0,
  headers: 1,
  priority: 2,
  resetStream: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goAway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;

export const flags = { ack: 0x1, endStream: 0x1, endHeaders: 0x4, padded: 0x8, priority: 0x20 } as const;

/** Parameters of SETTINGS: RFC 9113, 6.5.2. */
export const settings = {
  headerTableSize: 1,
  enablePush: 2,
  maxConcurrentStreams: 3,
  initialWindowSize: 4,
  maxFrameSize: 5,
  maxHeaderListSize: 6,
} as const;

/** Error codes: RFC 9113, 7. */
export const errorCodes = {
  noError: 0x0,
  protocolError: 0x1,
  internalError: 0x2,
  flowControlError: 0x3,
  streamClosed: 0x5,
  frameSizeError: 0x6,
  refusedStream: 0x7,
  cancel: 0x8,
  compressionError: 0x9,
  enhanceYourCalm: 0xb,
} as const;

export type ErrorCode = (typeof errorCodes)[keyof typeof errorCodes];

/** Initial values of both sides: RFC 9113, 6.5.2 and 6.9.2. */
export const initial = { headerTableBytes: 4096, window: 65_535, frameBytes: 16_384 } as const;

/** Connection-specific fields, which only HTTP/1.1 has: RFC 9113, 8.2.2. */
export const ofConnection: ReadonlySet<string> = new Set(['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade']);

export const maxWindow = 2 ** 31 - 1;
export const frameHeadBytes = 9;
export const preface = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';

/** A connection error, which closes the connection with a GOAWAY of this code: RFC 9113, 5.4.1. */
export class Http2Error extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** Writes a frame header (RFC 9113, 4.1) and returns the offset of its payload. */
export function writeFrameHead(out: Uint8Array, at: number, length: number, type: number, flag: number, stream: number): number {
  out[at] = length >>> 16;
  out[at + 1] = length >>> 8;
  out[at + 2] = length;
  out[at + 3] = type;
  out[at + 4] = flag;
  out[at + 5] = stream >>> 24;
  out[at + 6] = stream >>> 16;
  out[at + 7] = stream >>> 8;
  out[at + 8] = stream;
  return at + frameHeadBytes;
}
