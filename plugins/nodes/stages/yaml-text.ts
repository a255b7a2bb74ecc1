/** Text of a value in YAML's flow style, which is its JSON. Ends with a line feed, as in Go. */
export function stringifyYaml(value: unknown): string {
  return `${JSON.stringify(value)}\n`;
}
