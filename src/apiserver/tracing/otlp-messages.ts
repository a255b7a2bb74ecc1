/** Messages of the OTLP trace protocol. Upstream: opentelemetry-proto (trace/v1, collector/trace/v1). */
import { bytes, fixed64, Message, nested, oneofInt64, repeated, string } from '#apimachinery/runtime/protobuf/message-table';

const anyValue = new Message({ stringValue: string(1), intValue: oneofInt64(3) });
const keyValue = new Message({ key: string(1), value: nested(2, anyValue) });
export type KeyValue = Parameters<typeof keyValue.encode>[0];

const resource = new Message({ attributes: repeated(1, keyValue) });
const scope = new Message({ name: string(1) });
const event = new Message({ timeUnixNano: fixed64(1), name: string(2), attributes: repeated(3, keyValue) });
const link = new Message({ traceId: bytes(1), spanId: bytes(2), traceState: string(3) });
const status = new Message({ message: string(2), code: oneofInt64(3) });
const span = new Message({
  traceId: bytes(1),
  spanId: bytes(2),
  traceState: string(3),
  parentSpanId: bytes(4),
  name: string(5),
  kind: oneofInt64(6),
  startTimeUnixNano: fixed64(7),
  endTimeUnixNano: fixed64(8),
  attributes: repeated(9, keyValue),
  events: repeated(11, event),
  links: repeated(13, link),
  status: nested(15, status),
});
export type SpanMessage = ReturnType<typeof span.decode>;

const scopeSpans = new Message({ scope: nested(1, scope), spans: repeated(2, span) });
const resourceSpans = new Message({ resource: nested(1, resource), scopeSpans: repeated(2, scopeSpans) });
export const exportTraceServiceRequest = new Message({ resourceSpans: repeated(1, resourceSpans) });
export const exportTraceServiceResponse = new Message({});
