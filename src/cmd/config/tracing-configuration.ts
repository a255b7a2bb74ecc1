import { type FieldError, invalid } from '#apimachinery/validation/field';
import type { TracingConfig } from '#cmd/server-config';
import { FieldReader, parseStructured } from './structured-file.ts';

const million = 1_000_000;
/** Default collector: OTLP over gRPC on this machine. */
const defaultEndpoint = 'localhost:4317';
const schemes = ['dns', 'unix', 'unix-abstract'];

/**
 * Parses the file of `--tracing-config-file`, of kind TracingConfiguration. Throws with all problems, one per line. Upstream:
 * component-base/tracing/api/v1/config.go.
 */
export function parseTracingConfiguration(text: string): TracingConfig {
  const errors: FieldError[] = [];
  const fields = parseStructured(text, 'apiserver.config.k8s.io', 'TracingConfiguration', ['v1', 'v1beta1', 'v1alpha1']);
  const root = new FieldReader(fields, undefined, errors);
  const samplingRatePerMillion = root.number('samplingRatePerMillion') ?? 0;
  const rate = root.at('samplingRatePerMillion');
  if (samplingRatePerMillion < 0) errors.push(invalid(rate, samplingRatePerMillion, 'sampling rate must be positive'));
  if (samplingRatePerMillion > million)
    errors.push(invalid(rate, samplingRatePerMillion, 'sampling rate per million must be less than or equal to one million'));
  const endpoint = root.text('endpoint') || defaultEndpoint;
  const [, scheme = 'dns'] = /^([a-z][a-z0-9+.-]*):\/\//i.exec(endpoint) ?? [];
  if (!schemes.includes(scheme.toLowerCase()))
    errors.push(
      invalid(
        root.at('endpoint'),
        endpoint,
        `unsupported scheme: ${scheme}.  Options are none, dns, unix, or unix-abstract.  See https://github.com/grpc/grpc/blob/master/doc/naming.md`,
      ),
    );
  root.done();
  if (errors.length > 0) throw new Error(errors.map(String).join('\n'));
  return { endpoint, samplingRatePerMillion };
}
