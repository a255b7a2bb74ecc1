import { Buffer } from 'node:buffer';
import { double, integer, nested, text, withLength } from '#apimachinery/runtime/protobuf/protobuf-parts';
import type { FamilySeries, FamilyType, MetricFamily } from './families.ts';

const types: Readonly<Record<FamilyType, number>> = { counter: 0, gauge: 1, summary: 2, histogram: 4 };
/** Field number of the value by metric type. */
const valueFields: Readonly<Record<FamilyType, number>> = { gauge: 2, counter: 3, summary: 4, histogram: 7 };

/**
 * Encodes io.prometheus.client.MetricFamily messages, each with a length prefix, for scrapers that request protobuf. Upstream:
 * prometheus/client_model/metrics.proto, prometheus/common/expfmt/encode.go.
 */
export function protobufOf(families: readonly MetricFamily[]): Buffer {
  return Buffer.concat(families.flatMap((family) => withLength(familyMessage(family))));
}

function familyMessage({ name, help, type, series }: MetricFamily): Buffer[] {
  return [text(1, name), text(2, help), integer(3, types[type]), ...series.map((one) => nested(4, metricMessage(one, type)))];
}

function metricMessage({ labels, value, count, parts }: FamilySeries, type: FamilyType): Buffer[] {
  const pairs = labels.map(([label, content]) => nested(1, [text(1, label), text(2, content)]));
  if (type === 'counter' || type === 'gauge') return [...pairs, nested(valueFields[type], [double(1, value)])];
  const inner = [integer(1, count), double(2, value)];
  for (const [bound, part] of parts) {
    // The +Inf bucket is omitted, as in Go's library: it equals the count.
    if (type === 'summary') inner.push(nested(3, [double(1, bound), double(2, part)]));
    else if (Number.isFinite(bound)) inner.push(nested(3, [integer(1, part), double(2, bound)]));
  }
  return [...pairs, nested(valueFields[type], inner)];
}
