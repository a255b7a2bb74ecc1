/** A text that is not YAML. `message` begins with `yaml: `; upstream puts `error converting YAML to JSON: ` before it where it decodes an apply patch. */
export class YamlError extends Error {
  override readonly name = 'YamlError';
}
