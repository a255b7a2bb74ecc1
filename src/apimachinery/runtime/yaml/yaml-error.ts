/**
 * Error for malformed YAML. `message` starts with `yaml: `; upstream adds the prefix `error converting YAML to JSON: ` when it decodes an
 * apply patch.
 */
export class YamlError extends Error {
  override readonly name = 'YamlError';
}
