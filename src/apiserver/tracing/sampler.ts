import type { Buffer } from 'node:buffer';

const million = 1_000_000;

/**
 * Whether a trace without a parent is kept: a part of all of them, the same for each server that looks at the same trace.
 * Upstream: go.opentelemetry.io/otel/sdk/trace/sampling.go (TraceIDRatioBased).
 */
export function traceIdRatioSampler(ratePerMillion: number): (traceId: Buffer) => boolean {
  if (ratePerMillion <= 0) return () => false;
  if (ratePerMillion >= million) return () => true;
  const bound = ratePerMillion / million;
  return (traceId) => (traceId.readUInt32BE(8) * 2 ** 32 + traceId.readUInt32BE(12)) / 2 ** 64 < bound;
}
