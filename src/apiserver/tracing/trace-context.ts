import { Buffer } from 'node:buffer';

/** A span context received with a request or sent with an outgoing one. */
export interface SpanContext {
  /** Trace id of 16 bytes. */
  readonly traceId: Buffer;
  /** Span id of 8 bytes. */
  readonly spanId: Buffer;
  readonly isSampled: boolean;
  /** Vendor-specific state, passed on unchanged. */
  readonly traceState: string;
}

const form = /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.*)?$/;
const noTrace = '0'.repeat(32);
const noSpan = '0'.repeat(16);
/** Maximum length of a tracestate; longer ones are dropped, as W3C allows. */
const maxStateLength = 512;

/** Parses a `traceparent` header; undefined if it is missing or invalid. W3C Trace Context, section 3.2. */
export function parseTraceParent(header: string | undefined, traceState = ''): SpanContext | undefined {
  const [, version = 'ff', traceId = noTrace, spanId = noSpan, flags = '00', rest] = form.exec(header ?? '') ?? [];
  if (version === 'ff' || traceId === noTrace || spanId === noSpan || (version === '00' && rest !== undefined)) return undefined;
  return {
    traceId: Buffer.from(traceId, 'hex'),
    spanId: Buffer.from(spanId, 'hex'),
    isSampled: (Number.parseInt(flags, 16) & 1) === 1,
    traceState: traceState.length > maxStateLength ? '' : traceState,
  };
}

export function formatTraceParent({ traceId, spanId, isSampled }: SpanContext): string {
  return `00-${traceId.toString('hex')}-${spanId.toString('hex')}-${isSampled ? '01' : '00'}`;
}
