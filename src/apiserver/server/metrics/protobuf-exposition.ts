import { Buffer } from 'node:buffer';
import { Wire } from '#apimachinery/runtime/protobuf-wire';
import type { FamilySeries, FamilyType, MetricFamily } from './families.ts';

const types: Readonly<Record<FamilyType, number>> = { counter: 0, gauge: 1, summary: 2, histogram: 4 };
/** Where a metric's message has what is told of each type. */
const valueFields: Readonly<Record<FamilyType, number>> = { gauge: 2, counter: 3, summary: 4, histogram: 7 };

/**
 * Messages io.prometheus.client.MetricFamily, each with its length before it, as scrapers ask for them that take native forms.
 * Upstream: prometheus/client_model/metrics.proto, prometheus/common/expfmt/encode.go.
 */
export function protobufOf(families: readonly MetricFamily[]): Buffer {
  return Buffer.concat(families.flatMap((family) => withLength(familyMessage(family))));
}

function familyMessage({ name, help, type, series }: MetricFamily): Buffer[] {
  return [text(1, name), text(2, help), number(3, types[type]), ...series.map((one) => nested(4, metricMessage(one, type)))];
}

function metricMessage({ labels, value, count, parts }: FamilySeries, type: FamilyType): Buffer[] {
  const pairs = labels.map(([label, content]) => nested(1, [text(1, label), text(2, content)]));
  if (type === 'counter' || type === 'gauge') return [...pairs, nested(valueFields[type], [double(1, value)])];
  const inner = [number(1, count), double(2, value)];
  for (const [bound, part] of parts) {
    // The last bucket is the count, which Go's library leaves at that.
    if (type === 'summary') inner.push(nested(3, [double(1, bound), double(2, part)]));
    else if (Number.isFinite(bound)) inner.push(nested(3, [number(1, part), double(2, bound)]));
  }
  return [...pairs, nested(valueFields[type], inner)];
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) | 0x80);
  return Buffer.from([...bytes, rest]);
}

function tag(field: number, wire: Wire): Buffer {
  return Buffer.from([(field << 3) | wire]);
}

function number(field: number, value: number): Buffer {
  return Buffer.concat([tag(field, Wire.Varint), varint(value)]);
}

function double(field: number, value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value);
  return Buffer.concat([tag(field, Wire.Fixed64), bytes]);
}

function text(field: number, value: string): Buffer {
  return nested(field, [Buffer.from(value)]);
}

function nested(field: number, content: readonly Buffer[]): Buffer {
  return Buffer.concat([tag(field, Wire.Length), ...withLength(content)]);
}

function withLength(content: readonly Buffer[]): Buffer[] {
  return [varint(content.reduce((sum, { length }) => sum + length, 0)), ...content];
}
