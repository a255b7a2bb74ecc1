import type { Buffer } from 'node:buffer';

const million = 1_000_000;

/**
 * Returns a sampler for traces without a parent, which decides equally on all servers for the same trace id. Upstream:
 * go.opentelemetry.io/otel/sdk/trace/sampling.go (TraceIDRatioBased).
 */
export function traceIdRatioSampler(ratePerMillion: number): (traceId: Buffer) => boolean {
  if (ratePerMillion <= 0) return () => false;
  if (ratePerMillion >= million) return () => true;
  const bound = ratePerMillion / million;
  return (traceId) => (traceId.readUInt32BE(8) * 2 ** 32 + traceId.readUInt32BE(12)) / 2 ** 64 < bound;
}
